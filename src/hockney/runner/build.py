"""Compile the C++ runner with an MPI's own wrapper, once for each wrapper, library, compiler and source.

It is compiled by the C++ wrapper beside the C one (`mpicc.openmpi` → `mpicxx.openmpi`, Cray's `cc` → `CC`):
that calls the C++ compiler the site chose and is there for every library. Replacing the compiler of the C
wrapper (`OMPI_CC`, `MPICH_CC`, `I_MPI_CC`) needs a variable for each library, and Cray's and SimGrid's have
none. Only the C interface of MPI is used; two macros keep the old C++ bindings out of the header.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hockney import reading, writing
from hockney.errors import EnvironmentLack
from hockney.runner.cache import cache_root, kept
from hockney.runner.mpi import Mpi
from hockney.runner.probe import (
    COMPILER_HINT,
    OPENMP_FLAG,
    capture,
    end_captured,
    has_mpi_t,
    has_openmp,
    last_complaint,
)
from hockney.runner.supervisor import POLL_S

BINARY = "hockney-runner"
FLAGS = (
    "-std=c++17",
    "-O3",
    "-ffp-contract=off",
    "-pthread",
    "-Wall",
    "-Wextra",
    "-DOMPI_SKIP_MPICXX",
    "-DMPICH_SKIP_MPICXX",
)
PARTS = ("runner", "schedule")
"""Folders of the sources that make up the runner."""


@dataclass(frozen=True)
class Family:
    """Sources that are compiled as one translation unit, because their headers cost more than their code."""

    name: str
    paths: tuple[str, ...]
    """Files and folders below the sources. A file belongs to the family that names it most closely."""
    flags: tuple[str, ...] = ()
    """Flags after those of all families."""
    is_shared: bool = False
    """Whether they know nothing of MPI, so that one object serves every MPI of the same compiler."""


FAMILIES = (
    Family("sweeps_avx512", ("runner/apps/cg/sweeps_avx512.cpp",), is_shared=True),
    Family("schedule", ("schedule",), is_shared=True),
    Family("sweeps_avx2", ("runner/apps/cg/sweeps_avx2.cpp",), is_shared=True),
    Family("sweeps_plain", ("runner/apps/cg/sweeps_plain.cpp",), is_shared=True),
    Family(
        "mathematics",
        (
            "runner/apps/cg/sweeps.cpp",
            "runner/apps/halo/field.cpp",
            "runner/apps/jacobi/rows.cpp",
            "runner/collective/contents.cpp",
            "runner/json.cpp",
            "runner/request.cpp",
            "runner/statistics.cpp",
        ),
        is_shared=True,
    ),
    Family("apps", ("runner/apps",)),
    # Nothing here is timed, and a third of the time to compile it would go into optimising it.
    Family("core", ("runner",), flags=("-O1",)),
    Family(
        "collectives",
        ("runner/collective", "runner/library/call.cpp", "runner/buffers.cpp", "runner/clock.cpp", "runner/sync"),
    ),
    Family("pairs", ("runner/kernels", "runner/effects", "runner/pair.cpp")),
)
"""The order of compilation: the slowest first, which keeps all cores busy to the end."""
LOG = "build.log"
COMPILE_LIMIT_S = 300.0
VERSION_LIMIT_S = 20.0
_SIBLINGS = {
    "mpiicc": ("mpiicpc",),
    "mpiicx": ("mpiicpx",),
    "mpigcc": ("mpigxx",),
    "mpicc": ("mpicxx", "mpic++", "mpiCC"),
    "cc": ("CC",),
}
_COMPILER_VARIABLES = {"openmpi": "OMPI_CXX", "mpich": "MPICH_CXX", "intel": "I_MPI_CXX"}
_OPTION = re.compile(r"-(?:f|m|O|std=|-coverage)[^/]*$")
"""Options of a compiler, except those that name a folder."""
_IS_CXX = re.compile(r"mpicxx|mpic\+\+|mpiCC|mpiicpc|mpiicpx|mpigxx|^CC$")


def sources() -> Path:
    """The folder of the C++ sources: inside the installed package, or of the checkout."""
    here = Path(__file__).resolve()
    for folder in (here.parents[1] / "_cpp", here.parents[3] / "cpp"):
        if all((folder / part).is_dir() for part in PARTS):
            return folder
    raise EnvironmentLack("the C++ sources of the runner are missing", "reinstall hockney")


def cxx_wrapper(wrapper: Path) -> Path:
    """The C++ wrapper that belongs to a C wrapper; EnvironmentLack where there is none."""
    if _IS_CXX.search(wrapper.name):
        return wrapper
    for stem, names in _SIBLINGS.items():
        before, matched, after = wrapper.name.partition(stem)
        candidates = [wrapper.parent / f"{before}{name}{after}" for name in names if matched]
        for sibling in candidates:
            if os.access(sibling, os.X_OK):
                return sibling
    raise EnvironmentLack(
        f"{wrapper} has no C++ wrapper beside it", "install the library's C++ compiler wrapper (mpicxx)"
    )


def compiler_version(mpi: Mpi) -> str:
    """First line that the wrapper's C++ compiler prints for `--version`; EnvironmentLack without a compiler."""
    wrapper = cxx_wrapper(mpi.wrapper)
    done = capture([str(wrapper), "--version"], mpi.full_environment(), VERSION_LIMIT_S)
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        complaint = last_complaint(done.stderr) or f"exit code {done.returncode}"
        raise EnvironmentLack(f"{wrapper} has no C++ compiler to call: {complaint}", COMPILER_HINT)
    return lines[0].strip()


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:20]


def files_of(folder: Path, suffix: str, parts: Sequence[str] = PARTS) -> list[Path]:
    """The files of these folders of the sources whose names end so, sorted."""
    return sorted(path for part in parts for path in (folder / part).rglob(f"*{suffix}"))


def families(folder: Path, is_shared: bool) -> dict[Family, list[Path]]:
    """The sources of each family that has some: those that every MPI of a compiler shares, or the others."""
    members: dict[Family, list[Path]] = {family: [] for family in FAMILIES}
    for file in files_of(folder, ".cpp"):
        above = [file, *file.parents]
        named = [(len(path), f) for f in FAMILIES for path in f.paths if folder / path in above]
        members[max(named, key=lambda match: match[0])[1]].append(file)
    return {f: files for f, files in members.items() if files and f.is_shared == is_shared}


def key_of(facts: Iterable[str], folder: Path, sources: Iterable[Path], parts: Sequence[str] = PARTS) -> str:
    """A digest of these sources, all headers of `parts` and what else makes one build differ from another."""
    files = [*sources, *files_of(folder, ".hpp", parts)]
    contents = [part for p in files for part in (str(p.relative_to(folder)).encode(), reading.content(p))]
    return _digest([fact.encode() for fact in (*facts, *FLAGS, platform.machine())] + contents)


def _target(mpi: Mpi, folder: Path, compiler: str) -> Path:
    facts = [str(mpi.wrapper), mpi.kind, mpi.version, compiler, *library_marks(mpi)]
    return cache_root() / "runner" / key_of(facts, folder, files_of(folder, ".cpp"))


def is_built(mpi: Mpi) -> bool:
    """Whether the runner for this MPI is there already; EnvironmentLack without a compiler."""
    return (_target(mpi, sources(), compiler_version(mpi)) / BINARY).is_file()


def runner_binary(mpi: Mpi) -> Path:
    """The runner for this MPI, compiled now if it has not been; EnvironmentLack where that fails."""
    folder, compiler = sources(), compiler_version(mpi)
    target = _target(mpi, folder, compiler)

    def make(scratch: Path) -> None:
        _compile(mpi, compiler, folder, scratch, target)

    return kept(target, [BINARY], make, f"the runner for {mpi.describe()}", "a minute or more") / BINARY


def library_marks(mpi: Mpi) -> list[str]:
    """Marks of a library's build, beyond its version: the wrapper's command, header and libraries."""
    environment = mpi.full_environment()
    shown = capture([str(cxx_wrapper(mpi.wrapper)), "-show"], environment, VERSION_LIMIT_S)
    if shown.returncode == 0:
        words = shown.stdout.split()
    else:  # Cray's wrapper does not show what it calls
        prefix = environment.get("CRAY_MPICH_DIR", mpi.wrapper.parents[1])
        words = [f"-I{prefix}/include", f"-L{prefix}/lib", "-lmpi", "-lmpich"]
    includes, folders, names = ([w[2:] for w in words if w.startswith(o)] for o in ("-I", "-L", "-l"))
    headers = [path for folder in includes if (path := Path(folder, "mpi.h")).is_file()]
    libraries = [path for f in folders for n in names if (path := Path(f, f"lib{n}.so").resolve()).is_file()]
    return [
        *words,
        *(_digest([reading.content(path)]) for path in headers),
        *(f"{path} {(status := path.stat()).st_size} {status.st_mtime_ns}" for path in libraries),
    ]


def shared_objects(mpi: Mpi) -> list[Path]:
    """The objects that know nothing of MPI, compiled now if they have not been; EnvironmentLack where that fails.

    They serve each MPI whose wrapper compiles alike.
    """
    folder = sources()
    units = families(folder, is_shared=True)
    key = key_of(_compiles_for(mpi), folder, [file for files in units.values() for file in files])
    target = cache_root() / "shared" / key

    def make(scratch: Path) -> None:
        # A simulated process is a shared library.
        text, _ = compile_units(mpi, units, ["-fPIC"], folder, scratch, target)
        writing.replace(scratch / LOG, text)

    names = [f"{family.name}.o" for family in units]
    return [kept(target, names, make) / name for name in names]


def _compiles_for(mpi: Mpi) -> tuple[str, ...]:
    """What the wrapper's compiler is, and what it compiles for: its own macros, and the options it ends up with.

    Both hold what comes of the wrapper (Cray's choose the processor), of its configuration and of variables of
    the environment (`OMPI_CXXFLAGS`); options that no macro shows (`-fsanitize=undefined`, `-fshort-enums`) are
    in what GCC and Clang would run. A compiler that cannot be asked shares its objects with nobody.
    """
    wrapper, environment = str(cxx_wrapper(mpi.wrapper)), mpi.full_environment()
    words = [wrapper, *FLAGS, "-x", "c++"]
    macros = capture([*words, "-E", "-dM", os.devnull], environment, VERSION_LIMIT_S)
    steps = capture([*words, "-###", "-c", os.devnull, "-o", os.devnull], environment, VERSION_LIMIT_S)
    options = sorted({word for word in re.findall(r'[^\s"]+', steps.stderr) if _OPTION.match(word)})
    defined = sorted(line for line in macros.stdout.splitlines() if line.startswith("#define "))
    if macros.returncode or steps.returncode or not defined:
        return wrapper, mpi.kind, mpi.version, compiler_version(mpi)
    return *defined, *options


def _compile(mpi: Mpi, compiler: str, folder: Path, scratch: Path, target: Path) -> None:
    wrapper, environment = str(cxx_wrapper(mpi.wrapper)), mpi.full_environment()
    # What the library lacks is found out here; the runner then says so, and the rest works.
    options = [] if has_mpi_t(mpi.wrapper, environment) else ["-DHOCKNEY_NO_MPI_T"]
    # All ranks of a simulation are one process: threads of theirs would belong to none.
    if mpi.kind != "smpi" and has_openmp(Path(wrapper), environment):
        options.append(OPENMP_FLAG)
    shared = shared_objects(mpi)
    units = families(folder, is_shared=False)
    text, commands = compile_units(mpi, units, options, folder, scratch, target)
    objects = [scratch / f"{family.name}.o" for family in units]
    link = [wrapper, *FLAGS, *options, *map(str, (*objects, *shared)), "-o", str(scratch / BINARY)]
    text += run_all([link], mpi, environment, scratch, target)
    for part in objects:
        part.unlink()
    writing.replace(scratch / LOG, text)
    facts = {
        "wrapper": str(mpi.wrapper),
        "mpi": mpi.describe(),
        "compiler": compiler,
        "library": library_marks(mpi),
        "flags": [*FLAGS, *options],
        "units": {f.name: [str(path.relative_to(folder)) for path in files] for f, files in units.items()},
        "commands": [shlex.join(c) for c in (*commands, link)],
    }
    writing.replace(scratch / "build.json", json.dumps(facts, indent=2) + "\n")


def compile_units(
    mpi: Mpi,
    units: Mapping[Family, Sequence[Path]],
    flags: Sequence[str],
    folder: Path,
    scratch: Path,
    target: Path,
) -> tuple[str, list[list[str]]]:
    """Compile each unit to an object in `scratch`; returns what the compiler printed, and the commands."""
    for family, files in units.items():
        text = "".join(f'#include "{file}"\n' for file in files)
        writing.replace(scratch / f"{family.name}.cpp", text)
    words = [str(cxx_wrapper(mpi.wrapper)), *FLAGS, *flags, f"-I{folder / 'runner'}"]
    # No name of a temporary folder: ccache would take it for another source.
    commands = [[*words, *f.flags, "-c", f"{f.name}.cpp", "-o", f"{f.name}.o"] for f in units]
    text = run_all(commands, mpi, {**mpi.full_environment(), **_ccache(mpi)}, scratch, target)
    for family in units:
        (scratch / f"{family.name}.cpp").unlink()
    return text, commands


def run_all(
    commands: Sequence[list[str]], mpi: Mpi, environment: Mapping[str, str], scratch: Path, target: Path
) -> str:
    """What the commands print in `scratch`; EnvironmentLack, with a log beside `target`, where one fails."""
    threads = threading.active_count()
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        try:
            outputs = list(pool.map(lambda c: capture(c, environment, COMPILE_LIMIT_S, scratch), commands))
        except KeyboardInterrupt:
            # The threads would wait for their compilers.
            pool.shutdown(wait=False, cancel_futures=True)
            while threading.active_count() > threads:
                end_captured()
                time.sleep(POLL_S)
            raise
    text = "".join(
        f"$ {shlex.join(c)}\n{done.stdout}{done.stderr}" for c, done in zip(commands, outputs, strict=True)
    )
    failed = next((done for done in outputs if done.returncode != 0), None)
    if failed is not None:
        log = target.with_name(f"{target.name}.log")
        writing.replace(log, text)
        wrapper = cxx_wrapper(mpi.wrapper)
        raise EnvironmentLack(f"{wrapper} cannot compile the runner: {_first_error(failed.stderr)}", f"see {log}")
    return text


def _ccache(mpi: Mpi) -> dict[str, str]:
    """The variable that has a wrapper call its compiler through ccache; none where that does not work.

    Cray's and SimGrid's wrappers have no such variable. A ccache that cannot write to its folder fails.
    """
    variable, ccache = _COMPILER_VARIABLES.get(mpi.kind), shutil.which("ccache")
    if variable is None or ccache is None:
        return {}
    wrapper, environment = str(cxx_wrapper(mpi.wrapper)), mpi.full_environment()
    shown = capture([wrapper, "-show"], environment, VERSION_LIMIT_S)
    compiler = next(iter(shown.stdout.split()), "")
    if shown.returncode != 0 or not compiler or Path(compiler).name == "ccache":
        return {}
    cached = {variable: f"{ccache} {compiler}"}
    with tempfile.TemporaryDirectory(prefix="hockney-ccache-") as folder:
        writing.replace(Path(folder) / "empty.cpp", "")
        words = [wrapper, "-c", "empty.cpp", "-o", "empty.o"]
        done = capture(words, {**environment, **cached}, VERSION_LIMIT_S, Path(folder))
    return cached if done.returncode == 0 else {}


def _first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    return next(
        (x for x in lines if re.search(r"\berror\b|undefined reference|not found", x)), last_complaint(text)
    )
