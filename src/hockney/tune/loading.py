"""How a launch loads rules: by the variables that the target names, or by the layer of `hockney apply`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hockney import reading
from hockney.campaign.launch import Launch
from hockney.campaign.plan import Plan
from hockney.errors import EnvironmentLack, HockneyError, RequestError
from hockney.predict.identify.forced import forced, in_doubt
from hockney.records.defaults import Defaults
from hockney.records.preload_table import PreloadTable
from hockney.runner.applied import variables
from hockney.runner.find import find
from hockney.runner.launchers.base import launchers
from hockney.runner.library import RULES, SELECTION, said_of
from hockney.runner.mpi import Mpi
from hockney.runner.preload_build import preload_library
from hockney.runner.variants import Variant
from hockney.tune.rules import Rule
from hockney.tune.targets._openmpi_numbers import FIRST_LINE
from hockney.tune.targets.base import Reader, RuleForm, targets
from hockney.units import version_in


class Added(NamedTuple):
    """What a launch with rules has beyond one without: launcher arguments and environment."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


Loader = Callable[[Path, str, Sequence[Rule]], Added]
"""What loads a file (its path, its text, the rules in it)."""


def loader(target: RuleForm, plan: Plan, base: Variant) -> Loader:
    """The loader of a target in launches as `plan` and `base` have them.

    EnvironmentLack where their MPI can preload nothing.
    """
    if not target.is_preloaded:
        return lambda path, _, rules: Added((), target.settings(path, rules))
    mpi = find(plan.mpi, plan.launcher or None)
    preload = launchers.get(mpi.launcher_kind).preload
    if preload is None:
        raise EnvironmentLack(f"{mpi.describe()} can preload nothing: no launch can try the table")
    theirs = base.environment.get("LD_PRELOAD", os.environ.get("LD_PRELOAD"))
    preloaded = ":".join(filter(None, (str(preload_library(mpi)), theirs)))
    arguments = tuple(preload({"LD_PRELOAD": preloaded}, ()))
    return lambda _, text, __: Added(arguments, variables(PreloadTable.model_validate_json(text)))


def traps(mpi: Mpi, rules: Iterable[tuple[str, str]]) -> list[str]:
    """What a library does not take as it stands of files of rules, each after its variable: a line for each.

    Also of one that could not be checked.
    """
    library = Reader(mpi.describe(), version_in(mpi.version), mpi.wrapper)
    forms = [one.trap for _, one in targets if one.trap is not None and one.reads(library)]
    found = []
    for name, file in rules:
        if name not in (RULES, SELECTION):
            continue
        try:
            text = reading.text(Path(file))
            faults = [trap(text, library) for trap in forms]
        except HockneyError as error:
            # It decides nothing: the library may take them.
            found.append(f"the rules of {file} could not be checked: {error.message}")
            continue
        if faults and all(faults):
            # Of two versions of a form the other one's first line is no fault.
            fault = next((fault for fault in faults if not fault.startswith(FIRST_LINE)), faults[0])
            found.append(f"{library.name} does not take the rules of {file} as they stand: {fault}")
    return found


def traps_of(plan: Plan, launches: Iterable[Launch]) -> list[str]:
    """The same of all files that the launches of a plan name."""
    rules = list(dict.fromkeys(rule for launch in launches for rule in launch.rules))
    return traps(find(plan.mpi, plan.launcher or None), rules) if rules else []


def expect_unset(names: Iterable[str], base: Variant) -> None:
    """RequestError where the user sets one of these variables: launches by default would have it as well."""
    for name in sorted(names):
        if name in base.environment or any(True for _ in said_of(name, base.arguments)):
            where = f"the variant {base.name!r} of the campaign"
        elif name in os.environ:
            where = "the environment"
        else:
            continue
        raise RequestError(
            f"{where} sets {name}, which would hold for launches without the rules, too",
            "leave it out: rules are compared with the library's default",
        )


def expect_own_choice(operations: Iterable[str], known: Defaults, mpi: str, variant: str) -> None:
    """RequestError where launches of a campaign had a setting that chooses algorithms of one of the operations.

    Wherever it came from: of files of parameters neither the environment nor the words of a variant tell.
    """
    settings, differing = known.settings.get((mpi, variant), {}), known.differing.get((mpi, variant), ())
    for operation in operations:
        force = forced(operation, settings, mpi=mpi, ranks=1, nodes=1)
        if setting := force.setting if force else in_doubt(operation, settings, differing):
            raise RequestError(
                f"launches of the campaign had the setting {setting}: the default of {operation} is not "
                "the library's own choice",
                "leave it out, of files of parameters, too (mca-params.conf, --am, --tune), and measure anew",
            )
