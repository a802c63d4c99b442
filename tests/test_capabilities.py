"""A run says last what it could not test, and CI fails where its own installation is to blame."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from tests.processes import captured

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest
from tests.capabilities import lacking

@pytest.mark.parametrize("number", range(3))
@pytest.mark.skipif(True, reason=lacking("a flux capacitor", "none is for sale"))
def test_of_what_is_not_here(number): ...

def test_of_what_does_not_exist(): pytest.skip("not for 3 ranks")
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], str]:
    """What a run of these tests prints, and the line of the file that `make` reads."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    words = ["-m", "pytest", "-q", "-p", "tests.capabilities", "-p", "no:cacheprovider", "test_it.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOCKNEY_NOT_TESTED": str(folder / "lines")}
    done = captured([sys.executable, *words], cwd=folder, env=environment, check=True)
    return done.stdout.splitlines(), (folder / "lines").read_text(encoding="utf-8")


def test_a_run_names_what_it_lacked(said: tuple[list[str], str]) -> None:
    assert [line for line in said[0] if line.startswith("not tested")] == [
        "not tested: a flux capacitor: none is for sale (3 tests)"
    ]
    assert said[1] == "a flux capacitor: none is for sale\n" * 3


@pytest.fixture
def make(tmp_path: Path) -> list[str]:
    """`make judged` on our Makefile's closing lines alone."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    definitions = re.search(r"^failed :=.*?^endef\n", makefile, re.DOTALL | re.MULTILINE)
    assert definitions
    (tmp_path / "Makefile").write_text(
        f"{definitions[0]}first:\n\t$(call part,one,$(FIRST))\n\t$(call part,two,$(SECOND))\n\t$(judged)\n",
        encoding="utf-8",
    )
    return ["make", "--silent", "-C", str(tmp_path)]


def test_make_says_last_what_all_parts_lacked(make: list[str]) -> None:
    line = 'echo "{}: none is for sale" >> $$HOCKNEY_NOT_TESTED'
    first, second = line.format("a flux capacitor"), line.format("a warp drive")
    parts = [f"FIRST={first}; {second}; false", f"SECOND={second}"]
    done = captured([*make, *parts])
    assert done.returncode == 2
    assert done.stdout.splitlines()[-3:] == [
        "FAILED: one",
        "not tested: a flux capacitor: none is for sale (1 tests)",
        "not tested: a warp drive: none is for sale (2 tests)",
    ]
    whole = captured([*make, "FIRST=true", "SECOND=true"])
    assert whole.returncode == 0
    assert whole.stdout.splitlines()[-1] == "nothing was left out for want of what this machine lacks"


def test_what_the_second_half_said_is_there_after_a_kill() -> None:
    """The file is named before the half that writes it; neither half is a target that looks like a verdict."""
    said = captured(["make", "-n", "test"], cwd=ROOT, check=True).stdout
    log = "build/tests-without-mpi.log"
    assert said.index(f"their output goes to {log}") < said.index(f"> {log} 2>&1") < said.index(f"cat {log}")
    assert f"rm {log}" not in said
    alone = captured(["make", "-n", "tests-without-mpi"], cwd=ROOT)
    assert "No rule to make target" in alone.stderr


WHOLE = {".venv", ".venv-mpich", ".venv-intel"}
APT = {"mpicc.openmpi", "mpicc.mpich", "gfortran", "NPopenmpi", "hpcc", "smpicc", "ip"}
APT |= {"slurmctld", "munged", "chromium"}


@pytest.mark.parametrize(
    ("word", "absent", "named"),
    [
        ("", set(), []),
        ("", {".venv-mpich"}, ["pip's MPICH"]),
        ("", {".venv-intel", *APT}, []),
        ("all", set(), []),
        ("all", {".venv-intel"}, ["pip's Intel MPI"]),
        ("all", {"mpicc.mpich", "smpicc"}, ["apt's MPICH", "apt's SimGrid"]),
    ],
)
def test_ci_fails_where_its_own_installation_did(
    tmp_path: Path, word: str, absent: set[str], named: list[str]
) -> None:
    """With a `make` and an `apt-get` that bring all but what is absent, and end well."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    tools = tmp_path / "bin"
    tools.mkdir()
    brought = " ".join(f"{folder}/bin/mpicc" for folder in sorted(WHOLE - absent))
    installed = " ".join(f"{tools}/{name}" for name in sorted(APT - absent))
    for name, text in {
        "make": f"for file in {brought}; do mkdir -p ${{file%/*}}; touch $file; chmod +x $file; done",
        "apt-get": f"for file in {installed}; do touch $file; chmod +x $file; done",
        "id": "echo 0",
        "dirname": 'echo "${1%/*}"',
    }.items():
        script = tools / name
        script.write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
        script.chmod(0o755)
    for name in ("bash", "mkdir", "touch", "chmod", "env"):
        (tools / name).symlink_to(shutil.which(name) or name)
    words = [word] if word else []
    done = captured([str(tmp_path / ".ci" / "run"), *words], env={"PATH": str(tools)})
    assert (done.returncode == 0) == (not named), done.stdout + done.stderr
    errors = [line for line in done.stdout.splitlines() if line.startswith("ERROR")]
    assert [line.partition(" was not tested")[0] for line in errors] == [f"ERROR: {name}" for name in named]
