"""Whole launch lines as they are run with the layer: of machines with several launchers, of several programs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.conftest import Script
from tests.factories import not_none
from tests.runner.preload.programs import apply_words, compiled, every_schedule, hockney, launch_line, mpi_program

from hockney.errors import EnvironmentLack, RequestError
from hockney.runner import preload
from hockney.runner.launch_line import understand
from hockney.runner.mpi import Mpi

Make = Callable[..., Path]
MPICH = 'hockney_standard 4 1 hockney_end\nhockney_kind mpich "4.3.1" hockney_end'
HYDRA = "HYDRA build details:\n    Version:                                 4.3.1"
LAYER = "/l.so"
X = f"-x LD_PRELOAD={LAYER} -x HOCKNEY_PRELOAD"
GENV = f"-genv LD_PRELOAD {LAYER}"
EXPORT = f"--export=ALL,LD_PRELOAD={LAYER}"


@pytest.fixture
def bin_folder(empty: Path, monkeypatch: pytest.MonkeyPatch, script: Script) -> Path:
    """The folder of programs of a machine without an MPI, with some that a line may name; the layer is there."""
    monkeypatch.setattr(preload, "preload_library", lambda _: Path(LAYER))
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    for name in ("app", "other", "node"):
        script(empty / "tools" / name, name)
    return empty / "tools"


def debian(bin_folder: Path, install: Make, *, wrapper: str, launcher: str) -> None:
    """Both libraries in one folder, and what the two alternatives, each by itself, choose."""
    install(bin_folder.parent / "o", suffix=".openmpi")
    install(bin_folder.parent / "m", MPICH, HYDRA, suffix=".mpich")
    for made in [*bin_folder.parent.glob("[om]/bin/*")]:
        made.rename(bin_folder / made.name)
    (bin_folder / "mpicc").symlink_to(bin_folder / f"mpicc.{wrapper}")
    (bin_folder / "mpirun").symlink_to(bin_folder / f"mpirun.{launcher}")


def line(words: str) -> tuple[str, str]:
    """The line as it is run, and the MPI of its layer or what is said."""
    launch = understand(words.split())
    try:
        argv, _ = preload.with_layer(launch, {"HOCKNEY_PRELOAD": "apply"})
    except EnvironmentLack as lack:
        return words, lack.message
    return " ".join(argv), launch.mpi.describe() if launch.mpi else ""


@pytest.mark.parametrize("in_a_job", [False, True])
@pytest.mark.parametrize(
    ("words", "run", "layer_of"),
    [
        ("mpirun.openmpi -n 4 app", f"mpirun.openmpi {X} -n 4 app", "Open MPI 5.0.7"),
        ("mpirun.mpich -n 4 app", f"mpirun.mpich {GENV} -n 4 app", "MPICH 4.3.1"),
        ("mpirun -n 4 app", f"mpirun {GENV} -n 4 app", "MPICH 4.3.1"),
        ("srun -n 4 app", f"srun {EXPORT} -n 4 app", "Open MPI 5.0.7"),
        ("mpirun -n 1 app : -n 2 other", f"mpirun {GENV} -n 1 app : {GENV} -n 2 other", "MPICH 4.3.1"),
        ("srun -n 1 app : -n 2 other", f"srun {EXPORT} -n 1 app : {EXPORT} -n 2 other", "Open MPI 5.0.7"),
    ],
)
def test_options_are_of_the_launcher_that_the_line_begins_with(
    bin_folder: Path,
    install: Make,
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    in_a_job: bool,
    words: str,
    run: str,
    layer_of: str,
) -> None:
    """Debian's `mpicc` may be one library's while its `mpirun` is the other's; in a job there is `srun` too."""
    debian(bin_folder, install, wrapper="openmpi", launcher="mpich")
    script(bin_folder / "srun", "slurm 23.11")
    if in_a_job:
        monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert line(words) == (run, layer_of)


def test_srun_needs_no_launcher_of_the_library(bin_folder: Path, install: Make, script: Script) -> None:
    """As on a Cray, whose wrapper has no mpirun beside it."""
    install(bin_folder.parent, MPICH).rename(bin_folder / "mpicc")
    script(bin_folder / "srun", "slurm 23.11")
    assert line("srun -n 4 app") == (f"srun {EXPORT} -n 4 app", "MPICH 4.3.1")


def test_options_of_flux_run_follow_both_words(bin_folder: Path, install: Make, script: Script) -> None:
    install(bin_folder.parent, MPICH).rename(bin_folder / "mpicc")
    script(bin_folder / "flux", "libflux-core: 0.50.0")
    run = f"flux run --env=LD_PRELOAD={LAYER} -n 4 -o other app"
    assert line("flux run -n 4 -o other app") == (run, "MPICH 4.3.1")
    for option in ("-o", "-q", "-B", "--queue", "--requires", "--job-name", "--cwd", "--taskmap", "--env-file"):
        assert understand(["flux", "run", "-n", "4", option, "other", "app"]).programs == (bin_folder / "app",)


def test_a_linked_launcher_has_its_wrapper_beside_what_it_leads_to(bin_folder: Path, install: Make) -> None:
    install(bin_folder.parent / "opt", MPICH, HYDRA)
    (bin_folder / "mpirun").symlink_to(bin_folder.parent / "opt" / "bin" / "mpirun")
    assert line("mpirun -n 4 app") == (f"mpirun {GENV} -n 4 app", "MPICH 4.3.1")


def test_a_wrapper_elsewhere_is_of_the_launchers_version(
    bin_folder: Path, install: Make, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPICC", str(install(bin_folder.parent / "opt", MPICH, HYDRA)))
    script(bin_folder / "mpirun", HYDRA)
    assert line("mpirun app") == (f"mpirun {GENV} app", "MPICH 4.3.1")
    script(bin_folder / "mpirun", HYDRA.replace("4.3.1", "3.4"))
    run, said = line("mpirun app")
    assert run == "mpirun app"
    assert f"no compiler wrapper (mpicc) belongs to the launcher {bin_folder / 'mpirun'}" in said


def test_a_launcher_that_does_not_say_which_it_is_runs_without_the_layer(
    bin_folder: Path, script: Script
) -> None:
    script(bin_folder / "mpiexec", "Portable Process Launcher 1.0")
    run, said = line("mpiexec -n 4 app")
    assert run == "mpiexec -n 4 app"
    assert "its --version does not say" in said


def test_an_mpi_that_the_launcher_does_not_start_is_refused(
    bin_folder: Path, install: Make, monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    debian(bin_folder, install, wrapper="openmpi", launcher="mpich")
    script(bin_folder / "srun", "slurm 23.11")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    with pytest.raises(RequestError, match=r"mpirun does not start programs of Open MPI 5\.0\.7"):
        understand(["mpirun", "-n", "4", "app"], "openmpi")
    found = not_none(understand(["srun", "-n", "4", "app"], "mpich").mpi)
    assert (found.kind, found.launcher_kind) == ("mpich", "srun")


@pytest.mark.parametrize(
    ("words", "programs"),
    [
        ("mpirun --map-by node -n 4 app other", ["app"]),
        ("mpirun --mca node other -x other app", ["app"]),
        ("mpirun.mpich -genv node other -n 4 app", ["app"]),
        ("mpirun.mpich -map-by node -n 1 app node : -wdir node -n 1 other", ["app", "other"]),
        ("srun -p node --constraint other app", ["app"]),
        ("srun -pnode --constraint=other app", ["app"]),
        # An option that nobody knows, and what is no program here.
        ("mpirun --newest thing -n 4 app", ["app"]),
        ("mpirun -n 4 nothing", []),
    ],
)
def test_the_value_of_an_option_is_no_program(
    bin_folder: Path, install: Make, script: Script, words: str, programs: list[str]
) -> None:
    debian(bin_folder, install, wrapper="openmpi", launcher="openmpi")
    script(bin_folder / "srun", "slurm 23.11")
    assert [program.name for program in understand(words.split()).programs] == programs


@pytest.mark.parametrize(
    "words", ["mpirun --app node", "mpirun.mpich -configfile node", "srun --multi-prog node"]
)
def test_programs_that_a_file_names_run_without_the_layer(
    bin_folder: Path, install: Make, script: Script, words: str
) -> None:
    debian(bin_folder, install, wrapper="openmpi", launcher="openmpi")
    script(bin_folder / "srun", "slurm 23.11")
    run, said = line(words)
    assert run == words
    assert "names is not known" in said


BARRIER = mpi_program("MPI_Barrier(MPI_COMM_WORLD);", code="4")
TELLS = (
    "#include <stdio.h>\n#include <stdlib.h>\n"
    'int main(void) {\n  const char* had = getenv("LD_PRELOAD");\n'
    '  printf("preloaded %s\\n", had ? had : "nothing");\n'
    "  return 0;\n}\n"
)


@pytest.mark.one_mpi
@pytest.mark.parametrize("static_first", [False, True])
def test_where_one_program_is_static_no_other_has_the_layer(mpi: Mpi, tmp_path: Path, static_first: bool) -> None:
    """Ranks with the layer wait for the others as soon as they meet a rule."""
    program = compiled(mpi, tmp_path, TELLS)
    argv = ["cc", "-static", str(tmp_path / "program.c"), "-o", str(tmp_path / "alone")]
    if shutil.which("cc") is None or subprocess.run(argv, capture_output=True, check=False).returncode != 0:
        pytest.skip(lacking("static linking", "cc -static fails"))
    first, second = (tmp_path / "alone", program) if static_first else (program, tmp_path / "alone")
    both = launch_line(mpi, 1, first, ":", "-n", "1", second)
    done = hockney(*apply_words(tmp_path, every_schedule(0)), *both, LD_PRELOAD="")
    assert done.returncode == 0
    assert done.stdout.count("preloaded") == 2
    assert "hockney" not in done.stdout
    assert f"{tmp_path / 'alone'} is statically linked" in done.stderr


@pytest.mark.one_mpi
def test_another_watching_library_is_told_of(mpi: Mpi, tmp_path: Path) -> None:
    """It takes no call: what it counted it would print in MPI_Finalize."""
    tool = compiled(mpi, tmp_path, "counter.c", "-shared", "-fPIC")
    program = compiled(mpi, tmp_path, BARRIER)
    linked = tmp_path / "linked"
    program.rename(linked)
    program = compiled(mpi, tmp_path, BARRIER, "-Wl,--no-as-needed", tool, f"-Wl,-rpath,{tmp_path}")
    for watched, preloaded in ((program, ""), (linked, str(tool))):
        words = apply_words(tmp_path, every_schedule(0))
        done = hockney(*words, *launch_line(mpi, 1, watched), LD_PRELOAD=preloaded)
        assert done.returncode == 4, done.stderr
        assert f"{tool} takes MPI calls too" in done.stderr
        assert "counted" not in done.stdout
    quiet = hockney(*apply_words(tmp_path, every_schedule(0)), *launch_line(mpi, 1, linked), LD_PRELOAD="")
    # Open MPI 4 itself has words for an exit code that is not 0.
    assert (quiet.returncode, "warning:" in quiet.stderr) == (4, False)
    line = launch_line(mpi, 1, "env", f"LD_PRELOAD={tool}", linked)
    assert "sets LD_PRELOAD itself" in hockney(*apply_words(tmp_path, every_schedule(0)), *line).stderr
