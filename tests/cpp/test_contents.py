"""The data that collectives are checked with, against the definition of each, byte by byte."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.cpp.test_statistics import SANITIZERS, WARNINGS, compiler

CPP = Path(__file__).parents[2] / "cpp"


@pytest.mark.thorough
def test_a_result_is_right_where_each_byte_comes_from_its_origin(tmp_path: Path) -> None:
    sources = [Path(__file__).with_name("contents.cpp"), CPP / "runner/collective/contents.cpp"]
    sources += sorted((CPP / "schedule").rglob("*.cpp"))
    options = ["-std=c++17", "-O1", *SANITIZERS, *WARNINGS, f"-I{CPP / 'runner'}"]
    program = tmp_path / "contents"
    subprocess.run([compiler(), *options, *map(str, sources), "-o", str(program)], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    cases, refused, accepted = map(int, done.stdout.split())
    assert cases > 500
    assert (refused, accepted) == (0, 0)
