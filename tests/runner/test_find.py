"""Search order, kinds, launchers that belong, and requests that name nothing; on fakes and on what is here."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.factories import refusing

from hockney.errors import EnvironmentLack, RequestError
from hockney.runner import find as module
from hockney.runner.find import canonical, find, find_all, search_order, with_launcher
from hockney.runner.mpi import Broken, Mpi

OPENMPI_MACROS = "hockney_standard 3 1 hockney_end\nhockney_kind openmpi 5 0 7 hockney_end"
MPICH_MACROS = 'hockney_standard 4 1 hockney_end\nhockney_kind mpich "4.3.1" hockney_end'
OPENMPI_BANNER = "mpirun (Open MPI) 5.0.7"
HYDRA_BANNER = "HYDRA build details:"
Make = Callable[..., Path]


@pytest.mark.usefixtures("empty")
def test_nothing_there() -> None:
    assert find_all() == []
    with refusing("no MPI found", "pip install", kind=EnvironmentLack):
        find()


def test_search_order(empty: Path, monkeypatch: pytest.MonkeyPatch, install: Make) -> None:
    environment = install(empty / "venv")
    module_prefix = install(empty / "module", MPICH_MACROS, HYDRA_BANNER)
    path = install(empty / "tools")
    other = install(empty / "known", MPICH_MACROS, HYDRA_BANNER)
    path.rename(empty / "tools" / "mpicc")
    monkeypatch.setenv("MPI_HOME", str(empty / "module"))
    monkeypatch.setattr(module, "WELL_KNOWN", (str(empty / "kno*"),))
    steps = search_order()
    assert [step.wrappers for step in steps] == [
        (module_prefix,),
        (environment,),
        (empty / "tools" / "mpicc",),
        (other,),
    ]
    assert "MPI_HOME" in steps[0].where
    assert find().wrapper == module_prefix
    assert find("mpich").wrapper == module_prefix
    assert find("mpich").where == "variables"


@pytest.mark.parametrize(
    ("variables", "where"),
    [
        ({}, "Python environment"),
        ({"LOADEDMODULES": "gcc/12:fftw/3"}, "Python environment"),
        ({"LOADEDMODULES": "gcc/12:OpenMPI/4.1.5"}, "PATH of a job or module"),
        ({"SLURM_JOB_ID": "7"}, "PATH of a job or module"),
        ({"SLURM_JOB_ID": "7", "MPICC": "site/bin/mpicc"}, "variables"),
    ],
)
def test_what_a_person_or_a_job_chose_comes_before_the_wheel(
    empty: Path, monkeypatch: pytest.MonkeyPatch, install: Make, variables: dict[str, str], where: str
) -> None:
    """The environment is active: its folder is the first of the PATH."""
    for name in ("venv", "site"):
        install(empty / name, MPICH_MACROS, HYDRA_BANNER)
    monkeypatch.setenv("PATH", f"{empty}/venv/bin:{empty}/site/bin:{empty}/tools")
    monkeypatch.chdir(empty)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    mpi = find("auto")
    assert mpi.where == where
    assert mpi.wrapper.parent == empty / ("venv" if where == "Python environment" else "site") / "bin"


def test_auto_passes_over_what_is_broken(
    empty: Path, monkeypatch: pytest.MonkeyPatch, install: Make, script: Make
) -> None:
    script(empty / "module" / "bin" / "mpicc", "mpicc: error: no licence", code=1, to=2)
    good = install(empty / "venv")
    monkeypatch.setenv("MPI_ROOT", str(empty / "module"))
    mpi = find()
    assert mpi.wrapper == good
    assert "no licence" in mpi.passed_over[0].message
    broken = find_all()[0]
    assert isinstance(broken, Broken)
    assert broken.wrapper == empty / "module" / "bin" / "mpicc"


@pytest.mark.parametrize(
    ("macros", "banner", "kind", "version", "standard", "launcher"),
    [
        (OPENMPI_MACROS, OPENMPI_BANNER, "openmpi", "5.0.7", "3.1", "openmpi"),
        (MPICH_MACROS, HYDRA_BANNER, "mpich", "4.3.1", "4.1", "hydra"),
        (
            'hockney_standard 4 1 hockney_end\nhockney_kind intel "2021.18" hockney_end',
            "Intel(R) MPI Library for Linux* OS, Version 2021.18",
            "intel",
            "2021.18",
            "4.1",
            "hydra",
        ),
        # SimGrid's wrapper forces an include, and a line marker falls into the line.
        (
            '# 1 "p.c"\nhockney_standard \n# 4 "p.c" 3 4\n    3 1\n# 4 "p.c"\n hockney_end\n'
            "hockney_kind openmpi 4 1 4 hockney_end",
            OPENMPI_BANNER,
            "openmpi",
            "4.1.4",
            "3.1",
            "openmpi",
        ),
    ],
)
def test_kind_version_and_standard(
    empty: Path, macros: str, banner: str, kind: str, version: str, standard: str, launcher: str, install: Make
) -> None:
    mpi = find(str(install(empty / "opt", macros, banner)))
    assert (mpi.kind, mpi.version, mpi.standard, mpi.launcher_kind) == (kind, version, standard, launcher)


@pytest.mark.parametrize(
    ("name", "text", "code", "said", "hint"),
    [
        (
            "mpicc",
            "mpi.c:3:10: fatal error: mpi.h: No such file\n 3 | #include <mpi.h>\ncompilation terminated.",
            1,
            r"mpicc fails.*fatal error: mpi\.h",
            "try ",
        ),
        (
            "mpicc",
            "-----\nThe wrapper compiler was unable to find the specified compiler\ngcc in your PATH.\n-----",
            1,
            r"compiler gcc in your PATH\.$",
            "g++",
        ),
        ("cc", "int x;", 0, "declares no version", "mpicc"),
    ],
)
def test_a_wrapper_that_is_of_no_use_gives_the_line_that_says_why(
    empty: Path, script: Make, name: str, text: str, code: int, said: str, hint: str
) -> None:
    wrapper = script(empty / name, text, code=code, to=2 if code else 1)
    with refusing(said, hint, kind=EnvironmentLack):
        find(str(wrapper))


def test_a_wrapper_that_is_no_program(empty: Path) -> None:
    wrapper = empty / "mpicc"
    wrapper.write_bytes(b"\x7fELF nonsense")
    wrapper.chmod(0o755)
    with pytest.raises(EnvironmentLack, match="cannot be run"):
        find(str(wrapper))


def test_launcher_of_another_library(empty: Path, install: Make) -> None:
    """Two wheels in one environment: the wrapper of one, the launchers of the other."""
    wrapper = install(empty / "venv", MPICH_MACROS, OPENMPI_BANNER)
    with refusing(r"no launcher of MPICH .*openmpi", "overwrite", kind=EnvironmentLack):
        find(str(wrapper))


def test_a_launcher_that_is_killed_is_not_passed_over(empty: Path, install: Make, script: Make) -> None:
    """Another program beside it may belong to another installation, and nobody would know."""
    prefix = install(empty / "opt")
    killed = prefix.with_name("mpirun")
    killed.write_text("#!/bin/sh\nkill -KILL $$\n", encoding="utf-8")
    script(prefix.with_name("mpiexec"), OPENMPI_BANNER)
    with refusing(r"bin/mpirun was killed \(SIGKILL\)", "try again", kind=EnvironmentLack):
        find(str(prefix))


def test_launcher_missing(empty: Path, script: Make) -> None:
    wrapper = script(empty / "opt" / "bin" / "mpicc", OPENMPI_MACROS)
    with pytest.raises(EnvironmentLack, match=r"none of .*mpirun, mpiexec"):
        find(str(wrapper))


def test_prefix_with_two_mpis_lists_their_wrappers(empty: Path, install: Make) -> None:
    install(empty / "usr", OPENMPI_MACROS, OPENMPI_BANNER, ".openmpi")
    install(empty / "usr", MPICH_MACROS, HYDRA_BANNER, ".mpich")
    with refusing("2 MPIs", "mpicc.openmpi", "mpicc.mpich"):
        find(str(empty / "usr"))
    mpi = find(str(empty / "usr" / "bin" / "mpicc.mpich"))
    assert mpi.launcher == empty / "usr" / "bin" / "mpirun.mpich"


def test_alternatives_are_one_mpi(empty: Path, monkeypatch: pytest.MonkeyPatch, install: Make) -> None:
    """Debian: mpicc → alternatives/mpi → mpicc.openmpi → opal_wrapper, which acts by the name it is called by."""
    bin_ = empty / "usr" / "bin"
    install(empty / "usr", suffix=".openmpi")
    (bin_ / "mpicc.openmpi").rename(bin_ / "opal_wrapper")
    (bin_ / "mpicc.openmpi").symlink_to("opal_wrapper")
    (empty / "alternatives").mkdir()
    (empty / "alternatives" / "mpi").symlink_to(bin_ / "mpicc.openmpi")
    (bin_ / "mpicc").symlink_to(empty / "alternatives" / "mpi")
    assert canonical(bin_ / "mpicc") == bin_ / "mpicc.openmpi"
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")
    assert [m.wrapper for m in find_all()] == [bin_ / "mpicc.openmpi"]
    assert find(str(empty / "usr")).launcher == bin_ / "mpirun.openmpi"


def test_intel_wheel_gets_its_environment(
    empty: Path, monkeypatch: pytest.MonkeyPatch, install: Make, script: Make
) -> None:
    macros = 'hockney_standard 4 1 hockney_end\nhockney_kind intel "2021.18" hockney_end'
    wrapper = install(empty / "opt", macros, "Intel(R) MPI Library")
    script(empty / "opt" / "bin" / "mpigcc", "")
    for name in ("lib/libmpi.so.12", "lib/libfabric/libfabric.so.1", "lib/libfabric/prov/libtcp-fi.so"):
        (empty / "opt" / name).parent.mkdir(parents=True, exist_ok=True)
        (empty / "opt" / name).touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", "/site/lib")
    lib = empty / "opt" / "lib"
    assert find(str(wrapper)).environment == {
        "I_MPI_ROOT": str(empty / "opt"),
        "LD_LIBRARY_PATH": f"{lib}:{lib}/libfabric:/site/lib",
        "FI_PROVIDER_PATH": f"{lib}/libfabric/prov",
    }


@pytest.mark.parametrize(
    ("job", "program", "banner"),
    [
        ("SLURM_JOB_ID", "srun", "slurm 24.05.3"),
        ("FLUX_URI", "flux", "commands: 0.50.0\nlibflux-core: 0.50.0"),
    ],
)
def test_inside_a_job_the_launcher_of_the_batch_system_is_taken(
    empty: Path,
    monkeypatch: pytest.MonkeyPatch,
    install: Make,
    script: Make,
    job: str,
    program: str,
    banner: str,
) -> None:
    wrapper = install(empty / "opt")
    there = script(empty / "tools" / program, banner)
    assert find(str(wrapper)).launcher_kind == "openmpi"
    (empty / "opt" / "bin" / "mpirun").rename(empty / "mpirun")
    # Outside of a job it starts nothing, whatever else there is.
    with pytest.raises(EnvironmentLack, match="no launcher"):
        find(str(wrapper))
    (empty / "mpirun").rename(empty / "opt" / "bin" / "mpirun")
    monkeypatch.setenv(job, "17")
    mpi = find(str(wrapper))
    assert (mpi.launcher_kind, mpi.launcher) == (program, there)
    assert find(str(wrapper), "openmpi").launcher == empty / "opt" / "bin" / "mpirun"


def test_launcher_by_name(empty: Path, install: Make) -> None:
    mpi = find(str(install(empty / "opt")))
    assert with_launcher(mpi, "openmpi") is mpi
    with pytest.raises(RequestError, match="does not start Open MPI"):
        with_launcher(mpi, "hydra")
    with pytest.raises(EnvironmentLack, match="not installed"):
        with_launcher(mpi, "srun")
    with pytest.raises(RequestError, match="unknown launcher 'srum'"):
        with_launcher(mpi, "srum")


@pytest.mark.parametrize("request_", ["nope", "/no/such/folder", "open-mpi"])
def test_request_that_names_nothing(request_: str) -> None:
    with pytest.raises(RequestError, match="is no MPI here"):
        find(request_)


def test_folder_without_a_wrapper(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no MPI compiler wrapper"):
        find(str(tmp_path))


def test_kind_that_is_absent_names_those_there(
    empty: Path, monkeypatch: pytest.MonkeyPatch, install: Make
) -> None:
    install(empty / "opt")
    monkeypatch.setenv("MPI_HOME", str(empty / "opt"))
    with pytest.raises(EnvironmentLack, match=r"no Intel MPI found; there is Open MPI 5\.0\.7"):
        find("intel")


def test_each_mpi_of_this_machine_is_found_again_by_its_wrapper(mpi: Mpi) -> None:
    again = find(str(mpi.wrapper))
    assert (again.kind, again.version, again.launcher) == (mpi.kind, mpi.version, mpi.launcher)
    assert mpi.version[0].isdigit()
    assert float(mpi.standard) >= 3.0
