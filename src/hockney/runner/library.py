"""What an MPI library needs at launch so that its own algorithms can be measured.

The runner finds and selects the algorithms of Open MPI and MPICH by itself (cpp/runner/library, through MPI_T).
This is what is left: a switch that Open MPI 4 takes at launch only, and Intel MPI, whose presets are environment
variables that it reads when it starts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hockney.errors import EnvironmentLack, RequestError
from hockney.runner.mpi import Mpi
from hockney.runner.probe import capture

INFO_LIMIT_S = 20.0

INTEL_PRESETS: Mapping[str, int] = {
    "allgather": 5,
    "allreduce": 12,
    "alltoall": 4,
    "barrier": 6,
    "bcast": 14,
    "gather": 4,
    "reduce": 6,
    "reduce_scatter": 5,
    "scatter": 3,
}
"""How many presets, 1, 2, …, Intel MPI has of an operation, as far as it documents them (I_MPI_ADJUST family)."""


class LaunchVariant(NamedTuple):
    """An algorithm that needs a launch of its own: `adjust:3` of `bcast` and the variables that select it."""

    algorithm: str
    operation: str
    environment: Mapping[str, str]


def launch_environment(mpi: Mpi) -> dict[str, str]:
    """Variables without which the algorithms of this MPI cannot be selected at run time; none for most.

    Open MPI's `tuned` up to 4.1 heeds the choice of an algorithm only when launched so. Decisions of its own stay
    as they are.
    """
    if mpi.kind == "openmpi" and int(mpi.version.partition(".")[0]) < 5:
        return {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
    return {}


_RULES = "coll_tuned_dynamic_rules_filename"
RULES = f"OMPI_MCA_{_RULES}"
SELECTION = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
"""The variable that names MPICH's selection of algorithms."""
WITHOUT_RULES = {RULES: ""}
"""For a launch that heeds no file of rules."""


_FILES_OF_RULES: dict[str, tuple[tuple[str, ...], str]] = {
    "openmpi": ((RULES,), "Open MPI leaves rules that it cannot read out without a word"),
    "mpich": (
        (
            SELECTION,
            "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE",
            "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE",
        ),
        "MPICH ends with a segmentation fault where it cannot read them",
    ),
}
"""Of each library the variables that name files of rules, and what it does where none is there (4.1.4; 4.0.2)."""


def said_of(name: str, words: Sequence[str]) -> Iterator[str]:
    """The values that words of a launch give a variable or Open MPI's parameter, "" where one only names it.

    Launchers take settings in many forms: `--mca NAME VALUE`, `-genv NAME VALUE`, `-x NAME=VALUE`,
    `--export=ALL,NAME=VALUE`, `--env=NAME=VALUE`. Files of parameters (`--tune`, `--am`) are not looked at.
    """
    spelled = (name, name.removeprefix("OMPI_MCA_"))
    mention = re.compile(rf"(?:^|[=,;])(?:{'|'.join(map(re.escape, spelled))})(?:=(.*)|[,;].*)?$", re.DOTALL)
    for word, after in zip(words, (*words[1:], ""), strict=False):
        if word in spelled:
            # Behind `-x NAME` and the like an option follows.
            yield "" if after.startswith("-") else after
        elif match := mention.search(word):
            yield match[1] or ""


def files_of_rules(mpi: Mpi, argv: Sequence[str], environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The files of rules that a launch names, by a variable or words: the variable's name, and the file.

    RequestError where one is not there.
    """
    names, otherwise = _FILES_OF_RULES.get(mpi.kind, ((), ""))
    found = []
    for name in names:
        said = (environment.get(name, ""), *said_of(name, argv))
        # More settings may follow in the same word.
        for file in filter(None, (path if _is_readable(path) else re.split("[,;]", path)[0] for path in said)):
            if not _is_readable(file):
                raise RequestError(
                    f"{file}, which {name.removeprefix('OMPI_MCA_')} names, cannot be read here: {otherwise}",
                    "name a file that is there, or leave the setting out",
                )
            found.append((name, file))
    return tuple(found)


def _is_readable(file: str) -> bool:
    return os.access(file, os.R_OK) and not Path(file).is_dir()


def rules_first(mpi: str, settings: Mapping[str, str]) -> str:
    """The file of rules by which `tuned` goes before it heeds the algorithm that is asked for; "" without one.

    `mpi` as tables name it, `settings` as a launch states them. Open MPI 5 heeds what is asked for first
    (ompi/mca/coll/tuned/coll_tuned_decision_dynamic.c of 4.1 and 5.0).
    """
    return settings.get(_RULES, "") if mpi.startswith("Open MPI 4.") else ""


class Counting(NamedTuple):
    """How the messages inside collectives are counted: in launches with these variables.

    `by_kernel`: by what TCP connections take, headers included; else by the library itself, to the byte.
    `is_flat`: each rank then counts as a node of its own. `on_one_host`: variables more where all ranks are on
    this host.
    """

    environment: Mapping[str, str]
    by_kernel: bool = False
    is_flat: bool = False
    on_one_host: Mapping[str, str] = {}


COUNTING: dict[str, tuple[Counting, ...]] = {
    "openmpi": (
        Counting({"OMPI_MCA_pml_monitoring_enable": "1"}),
        # Some builds leave the component out that counts.
        Counting(
            {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self"},
            by_kernel=True,
            on_one_host={"OMPI_MCA_btl_tcp_if_include": "lo"},
        ),
    ),
    # It has no count of its own: usual builds leave its performance variables out.
    "mpich": (
        Counting(
            {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ucx", "UCX_TLS": "tcp,self"},
            by_kernel=True,
            is_flat=True,
        ),
    ),
}
"""Of each library, the most exact first."""


def counting(mpi: Mpi) -> tuple[Counting, ...]:
    """How collectives of this MPI are watched; EnvironmentLack where nothing is known that counts messages."""
    if mpi.kind not in COUNTING:
        raise EnvironmentLack(
            f"{mpi.describe()} cannot be watched: nothing is known that counts the messages of its collectives",
            "identify it from times: `hockney identify CAMPAIGN --evidence times`",
        )
    return COUNTING[mpi.kind]


def launch_variants(mpi: Mpi, operations: Sequence[str]) -> list[LaunchVariant]:
    """The algorithms of these operations that need one launch each: Intel MPI's presets; none for others.

    RequestError for an operation that is no collective.
    """
    if unknown := [name for name in operations if name not in INTEL_PRESETS]:
        raise RequestError(f"{unknown[0]!r} is not a collective", f"known: {', '.join(INTEL_PRESETS)}")
    if mpi.kind != "intel":
        return []
    return [
        LaunchVariant(f"adjust:{preset}", operation, {f"I_MPI_ADJUST_{operation.upper()}": str(preset)})
        for operation in operations
        for preset in range(1, _presets(mpi, operation) + 1)
    ]


def _presets(mpi: Mpi, operation: str) -> int:
    """How many presets this version reports; it silently takes a larger number for the default.

    Without its `impi_info`: as many as are documented.
    """
    program = mpi.launcher.parent / "impi_info"
    try:
        done = capture(
            [str(program), "-v", f"I_MPI_ADJUST_{operation.upper()}"], mpi.full_environment(), INFO_LIMIT_S
        )
    except EnvironmentLack:
        return INTEL_PRESETS[operation]
    match = re.search(r"range:\s*0-(\d+)", done.stdout)
    return int(match[1]) if match else INTEL_PRESETS[operation]
