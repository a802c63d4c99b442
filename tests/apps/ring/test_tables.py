"""Rings from elsewhere through `fit` and `report`, as a user goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import outcome, refused
from tests.factories import written

HEADER = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Six ranks to a package: 2 · 0.3 µs a process up to 6, 2 · 0.8 µs beyond, and rows of another program."""
    rows = [
        f"s,m,ring,sendrecv,core,1,12,{ranks},4,max_over_ranks,{2 * ranks * (0.3 if ranks <= 6 else 0.8)},0"
        for ranks in range(2, 13)
    ]
    rows.append("s,m,exchange,,core,1,12,2,8,max_over_ranks,3,0")
    return written(tmp_path / "rings.csv", "\n".join([HEADER, *rows]) + "\n")


def test_fit_has_no_model_of_rings(table: Path, tmp_path: Path) -> None:
    err = refused("fit", str(table), "-o", str(tmp_path / "m.json"))
    assert "holds no times that a model is of" in err
    assert not (tmp_path / "m.json").exists()


def test_a_report_shows_the_rings_and_names_rows_without_a_section(table: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    code, out, err = outcome("report", str(table), "-o", str(page), "--json")
    assert (code, err) == (0, "")
    made = json.loads(out)
    assert len(made["applications"]) == 11
    assert any("no section for: exchange (1)" in warning for warning in made["warnings"])
    html = page.read_text()
    assert "Lines T(P) = a + 2 T_l P between breaks" in html
    assert 'id="app-ring"' in html
