"""Compile the C++ runner with an MPI's own wrapper, once for each wrapper, version, compiler and source.

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
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hockney.errors import EnvironmentLack
from hockney.runner.cache import cache_root
from hockney.runner.mpi import Mpi
from hockney.runner.probe import COMPILER_HINT, OPENMP_FLAG, capture, has_mpi_t, has_openmp, last_complaint

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
COMPILE_LIMIT_S = 300.0
VERSION_LIMIT_S = 20.0
_SIBLINGS = {
    "mpiicc": ("mpiicpc",),
    "mpiicx": ("mpiicpx",),
    "mpigcc": ("mpigxx",),
    "mpicc": ("mpicxx", "mpic++", "mpiCC"),
    "cc": ("CC",),
}
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
        before, found, after = wrapper.name.partition(stem)
        candidates = [wrapper.parent / f"{before}{name}{after}" for name in names if found]
        for sibling in candidates:
            if os.access(sibling, os.X_OK):
                return sibling
    raise EnvironmentLack(
        f"{wrapper} has no C++ wrapper beside it", "install the library's C++ compiler wrapper (mpicxx)"
    )


def compiler_version(mpi: Mpi) -> str:
    """First line of the C++ compiler's `--version`, asked through the wrapper; EnvironmentLack without one."""
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


def _files(folder: Path, *suffixes: str) -> list[Path]:
    return sorted(p for part in PARTS for p in (folder / part).rglob("*") if p.suffix in suffixes)


def _key(mpi: Mpi, compiler: str, folder: Path) -> str:
    facts = [str(mpi.wrapper), mpi.kind, mpi.version, compiler, *FLAGS, platform.machine()]
    files = _files(folder, ".cpp", ".hpp")
    contents = [part for p in files for part in (str(p.relative_to(folder)).encode(), p.read_bytes())]
    return _digest([fact.encode() for fact in facts] + contents)


def runner_binary(mpi: Mpi) -> Path:
    """The runner for this MPI, compiled now if it has not been; EnvironmentLack where that fails."""
    folder, compiler = sources(), compiler_version(mpi)
    root = cache_root() / "runner"
    target = root / _key(mpi, compiler, folder)
    if (target / BINARY).is_file():
        return target / BINARY
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=root) as name:
            made = Path(name, "made")
            made.mkdir()
            _compile(mpi, compiler, folder, made, root / f"{target.name}.log")
            _settle(made, target)
    except OSError as error:
        raise EnvironmentLack(
            f"cannot keep the compiled runner in {root}: {error.strerror}",
            "set HOCKNEY_CACHE to a writable folder",
        ) from error
    return target / BINARY


def _settle(made: Path, target: Path) -> None:
    """Move a finished build into place as a whole; where another process was first, its build stays."""
    if target.exists() and not (target / BINARY).is_file():
        shutil.rmtree(target)
    try:
        made.rename(target)
    except OSError:
        if not (target / BINARY).is_file():
            raise


def _compile(mpi: Mpi, compiler: str, folder: Path, made: Path, log: Path) -> None:
    wrapper, environment = str(cxx_wrapper(mpi.wrapper)), mpi.full_environment()
    files = _files(folder, ".cpp")
    objects = [made / ("-".join(p.relative_to(folder).with_suffix(".o").parts)) for p in files]
    # What the library lacks is found out here; the runner then says so, and the rest works.
    found = [] if has_mpi_t(mpi.wrapper, environment) else ["-DHOCKNEY_NO_MPI_T"]
    # All ranks of a simulation are one process: threads of theirs would belong to none.
    if mpi.kind != "smpi" and has_openmp(Path(wrapper), environment):
        found.append(OPENMP_FLAG)
    commands = [
        [wrapper, *FLAGS, *found, f"-I{folder / 'runner'}", "-c", str(p), "-o", str(o)]
        for p, o in zip(files, objects, strict=True)
    ]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        outputs = list(pool.map(lambda c: capture(c, environment, COMPILE_LIMIT_S), commands))
    if all(done.returncode == 0 for done in outputs):
        commands.append([wrapper, *found, *map(str, objects), "-o", str(made / BINARY)])
        outputs.append(capture(commands[-1], environment, COMPILE_LIMIT_S))
    text = "".join(
        f"$ {shlex.join(c)}\n{done.stdout}{done.stderr}" for c, done in zip(commands, outputs, strict=False)
    )
    if any(done.returncode != 0 for done in outputs):
        log.write_text(text, encoding="utf-8")
        failed = next(done for done in outputs if done.returncode != 0)
        raise EnvironmentLack(f"{wrapper} cannot compile the runner: {_first_error(failed.stderr)}", f"see {log}")
    for part in objects:
        part.unlink()
    (made / "build.log").write_text(text, encoding="utf-8")
    facts = {
        "wrapper": str(mpi.wrapper),
        "mpi": mpi.describe(),
        "compiler": compiler,
        "flags": [*FLAGS, *found],
        "commands": [shlex.join(c) for c in commands],
    }
    (made / "build.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def _first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    return next(
        (x for x in lines if re.search(r"\berror\b|undefined reference|not found", x)), last_complaint(text)
    )
