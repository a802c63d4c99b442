"""An application is one C++ file, one folder and one page of docs/; verbs and the report find it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.touches.conftest import Tree

from hockney.runner.build import FLAGS, cxx_wrapper
from hockney.runner.mpi import Mpi

FILES = [
    "cpp/runner/apps/pong.cpp",
    "docs/reference/pong.md",
    *(f"src/hockney/apps/pong/{name}.py" for name in ("__init__", "app", "predict", "run", "section")),
    "tests/apps/pong/test_pong.py",
    "tests/runner/apps/test_pong.py",
]
MACHINE = Path(__file__).parents[1] / "machine" / "data" / "version1.json"


@pytest.mark.thorough
def test_an_application_is_a_file_a_folder_and_a_page(tree: Tree) -> None:
    with tree.with_example("pong") as touched:
        assert (touched.added, touched.edited) == (FILES, [])
        for verb in ("run", "predict"):
            assert "pong" in tree.hockney(verb, "--help")
            assert f"hockney {verb} pong --bytes 8" in tree.hockney(verb, "pong", "--help")
        answer = tree.json("predict", "pong", "--bytes", "0", "--bytes", "1MB", "--machine", MACHINE)
        (entry,) = tree.json("predict", "pingpong", "--bytes", "0", "--model", "hockney", "--machine", MACHINE)[
            "predictions"
        ]
        assert answer["points"][0]["time_s"] == pytest.approx(2 * entry["time_s"])
    for verb in ("run", "predict"):
        assert "pong" not in tree.hockney(verb, "--help").replace("pingpong", "")
        error = tree.json(verb, "pong", "--bytes", "8", code=2)["error"]
        assert "'pong'" in error["message"]


@pytest.mark.one_mpi
def test_its_part_in_cpp_is_what_the_runner_asks_for(mpi: Mpi) -> None:
    """The rest of the example is thorough; that it compiles is seen at once."""
    source = Path(__file__).parent / "examples" / "pong" / FILES[0]
    apps = Path(__file__).parents[2] / "cpp" / "runner" / "apps"
    words = [str(cxx_wrapper(mpi.wrapper)), *FLAGS, f"-I{apps}", "-fsyntax-only", str(source)]
    done = subprocess.run(words, env=mpi.full_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_it_runs_and_is_reported(tree: Tree, mpi: Mpi, tmp_path: Path) -> None:
    runs, page = tmp_path / "runs", tmp_path / "page.html"
    words = ("run", "pong", "--bytes", "8", "--bytes", "64KiB", "--mpi", mpi.wrapper)
    with tree.with_example("pong"):
        records = tree.json(*words, "--repetitions", "8", "-o", runs)["runs"]
        assert [record["parameters"]["bytes"] for record in records] == [8, 65536]
        assert [record["ranks"] for record in records] == [2, 2]
        for record in records:
            assert (record["answer"]["verified"], record["answer"]["wrong_messages"]) == (True, 0)
            assert 0 < record["low_s"] <= record["time_s"] <= record["high_s"]
        tree.hockney("report", runs, "-o", page)
        assert 'id="app-pong"' in page.read_text(encoding="utf-8")
        own = tree.pytest("tests/runner/apps/test_pong.py", "-k", mpi.kind)
        assert own.returncode == 0, own.stdout
    tree.hockney("report", runs, "-o", page)
    assert "does not know the application" in page.read_text(encoding="utf-8")
