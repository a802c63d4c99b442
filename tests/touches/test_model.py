"""A model is one file, its test and a heading of one page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.touches.conftest import Tree, parameter_values

TABLE = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition\n" + "".join(
    f"s,m,pingpong,default,core,1,2,2,{size},one_way,{2 + size / 1000},0\n" for size in range(0, 8001, 1000)
)


@pytest.mark.thorough
def test_a_model_is_one_file_and_a_heading(tree: Tree, tmp_path: Path) -> None:
    table, machine, page = tmp_path / "table.csv", tmp_path / "machine.json", tmp_path / "page.html"
    table.write_text(TABLE, encoding="utf-8")
    with tree.with_example("model") as touched:
        assert touched.added == ["src/hockney/models/theil_sen.py", "tests/models/test_theil_sen.py"]
        assert touched.edited == ["docs/reference/models.md"]
        tree.hockney("fit", table, "-o", machine)
        (entry,) = json.loads(machine.read_text("utf-8"))["point_to_point"]
        assert parameter_values(entry["fits"]["theil_sen"]["parameters"]) == {"latency_s": pytest.approx(2e-6)}
        assert "theil_sen" in tree.hockney("show", machine, "--model", "theil_sen", "--format", "table")
        tree.hockney("report", table, "-o", page)
        assert "theil_sen" in page.read_text(encoding="utf-8")
    tree.hockney("fit", table, "-o", tmp_path / "without.json")
    assert "theil_sen" not in (tmp_path / "without.json").read_text(encoding="utf-8")
