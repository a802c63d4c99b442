"""A broadcast algorithm is one file and a heading of one page; the schedule's tests find it by themselves."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.touches.conftest import Tree

from hockney import _core

HEADER = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition\n"
ROW = "s,m,bcast,ternary,core,1,8,8,{0},completion,{0}.5,0\n"


def _compile(tree: Tree) -> None:
    """Build the copy's core as an install does, and put it where the copy's package looks for it."""
    target = tree.scratch / "installed"
    shutil.rmtree(target, ignore_errors=True)
    tools = all(importlib.util.find_spec(name) for name in ("nanobind", "scikit_build_core"))
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target)),
            *(["--no-build-isolation"] if tools else []),
            f"--config-settings=build-dir={tree.scratch / 'build'}",
            str(tree.root),
        ],
        # Paths of the copy differ from run to run; ccache need not mind.
        env={**os.environ, "CCACHE_BASEDIR": str(tree.scratch), "CCACHE_NOHASHDIR": "1"},
        check=True,
    )
    (core,) = target.glob("hockney/_core*.so")
    shutil.copy(core, tree.root / "src" / "hockney" / Path(_core.__file__).name)


def _names(tree: Tree) -> list[str]:
    return [entry["algorithm"] for entry in tree.json("schedule", "list", "bcast")["algorithms"]]


@pytest.fixture
def _own_core(tree: Tree) -> Iterator[None]:
    yield
    shutil.copy(str(_core.__file__), tree.root / "src" / "hockney")


@pytest.mark.thorough
@pytest.mark.usefixtures("_own_core")
def test_a_broadcast_is_one_file_and_a_heading(tree: Tree, tmp_path: Path) -> None:
    with tree.with_example("broadcast", heading=False):
        _compile(tree)
        red = tree.pytest("tests/test_house.py", "-k", "bcast")
        assert red.returncode == 1
        assert "1 failed" in red.stdout
        assert "bcast-ternary" in red.stdout
    with tree.with_example("broadcast") as touched:
        assert touched.added == ["cpp/schedule/bcast/ternary.cpp"]
        assert touched.edited == ["docs/reference/schedules/bcast.md"]
        assert "ternary" in _names(tree)
        tree.hockney("schedule", "verify", "bcast", "--algorithm", "ternary", "--ranks", "1-33")
        point = ("--algorithm", "ternary", "--ranks", "40", "--bytes", "8")
        # P = 1 + 3 + 9 + 27: on each of three levels the last child waits for two others.
        counted = tree.json("schedule", "count", "bcast", *point)
        assert (counted["messages"], counted["rounds"]) == (39, 9)
        # By hand, on each level: three sends of 1 µs, 2 µs on the way, a receive of 1 µs.
        costs = ("--loggops", "L=2us,o=1us")
        assert tree.json("simulate", "bcast", *point, *costs)["makespan_s"] == pytest.approx(18e-6)
        machine = tree.root / "machines" / "bluegene_p.json"
        (size,) = tree.json("predict", "bcast", *point, "--machine", machine)["predictions"]
        assert [entry["algorithm"] for entry in size["algorithms"]] == ["ternary"]
        table, page = tmp_path / "table.csv", tmp_path / "page.html"
        rows = (
            f"s,m,bcast,ternary,core,1,8,8,{size},completion,{5 + size / 500},0\n" for size in (8, 64, 512, 4096)
        )
        table.write_text(HEADER + "".join(rows), encoding="utf-8")
        tree.hockney("report", table, "-o", page)
        assert "ternary" in page.read_text(encoding="utf-8")
        tests = ("tests/test_house.py", "tests/schedule/test_bcast.py", "tests/schedule/test_proof.py")
        # Proofs of the new algorithm alone.
        green = tree.pytest(*tests, "-k", "test_house or test_bcast or ternary")
        assert green.returncode == 0, green.stdout
    _compile(tree)
    assert "ternary" not in _names(tree)
