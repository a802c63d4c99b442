"""Compile the library that `apply` and `profile` preload (cpp/preload), kept in the cache like the runner."""

from __future__ import annotations

from pathlib import Path

from hockney import writing
from hockney.runner.build import (
    FLAGS,
    LOG,
    PARTS,
    Family,
    compile_units,
    compiler_version,
    cxx_wrapper,
    files_of,
    key_of,
    library_marks,
    run_all,
    shared_objects,
    sources,
)
from hockney.runner.cache import cache_root, kept
from hockney.runner.mpi import Mpi

LIBRARY = "libhockney-preload.so"
FOLDER = "preload"
"""Folder of the sources, beside those of the runner, from which it has the schedules and their executor."""
EXPORTED = "exported.map"
"""The names that programs see: MPI's, and no others of ours."""
UNITS = (Family("layer", (FOLDER,)), Family("executor", (f"{FOLDER}/executor.cpp",)))
"""The runner's executor, by other names of MPI's functions, is compiled by itself."""
COMPILING = ("-fPIC", "-fvisibility=hidden", "-ftls-model=initial-exec")
LINKING = ("-shared", "-static-libstdc++", "-static-libgcc", "-ldl")
"""A program may bring a C++ library of its own, older than this compiler's."""


def preload_library(mpi: Mpi) -> Path:
    """The library for programs of this MPI, compiled now if it has not been; EnvironmentLack where that fails."""
    folder, parts = sources(), (*PARTS, FOLDER)
    facts = [str(mpi.wrapper), mpi.kind, mpi.version, compiler_version(mpi), *library_marks(mpi)]
    files = [*files_of(folder, ".cpp", parts), folder / FOLDER / EXPORTED]
    target = cache_root() / FOLDER / key_of([*facts, *COMPILING, *LINKING], folder, files, parts)

    def make(scratch: Path) -> None:
        _compile(mpi, folder, scratch, target)

    return kept(target, [LIBRARY], make, f"the layer for {mpi.describe()}", "some seconds") / LIBRARY


def _compile(mpi: Mpi, folder: Path, scratch: Path, target: Path) -> None:
    own = files_of(folder, ".cpp", [FOLDER])
    layer, executor = UNITS
    alone = [folder / path for path in executor.paths]
    units = {layer: [path for path in own if path not in alone], executor: alone}
    text, _ = compile_units(mpi, units, COMPILING, folder, scratch, target)
    objects = [scratch / f"{family.name}.o" for family in units]
    schedule = [path for path in shared_objects(mpi) if path.stem == "schedule"]
    exported = f"-Wl,--version-script={folder / FOLDER / EXPORTED}"
    link = [str(cxx_wrapper(mpi.wrapper)), *FLAGS, *map(str, (*objects, *schedule)), *LINKING, exported]
    text += run_all([[*link, "-o", str(scratch / LIBRARY)]], mpi, mpi.full_environment(), scratch, target)
    for part in objects:
        part.unlink()
    writing.replace(scratch / LOG, text)
