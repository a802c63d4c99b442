"""Rings from elsewhere through `import`, `fit`, `evaluate` and `report`, as a user goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import outcome, refused, succeeded
from tests.factories import not_none, written

from hockney.apps.ring.fit import evaluate_rings, fitted_rings
from hockney.errors import RequestError
from hockney.records.contents import read

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


def test_lines_of_a_table(table: Path) -> None:
    (one,) = fitted_rings(read(table))
    assert [(line.first, line.last) for line in one.segments] == [(2, 6), (7, 12)]
    for line, latency_us in zip(one.segments, (0.3, 0.8), strict=True):
        assert not_none(line.latency_s) == pytest.approx(1e-6 * latency_us)


def test_fit_prints_the_lines_and_makes_no_machine_file(table: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    out = succeeded("fit", str(table), "-o", str(file))
    assert "7 to 12 processes: latency of a message = slope/2 = 0.8 µs" in out
    assert "no machine file" in out
    assert not file.exists()
    code, out, _ = outcome("fit", str(table), "-o", str(file), "--json")
    made = json.loads(out)
    assert (code, made["machine"]) == (0, None)
    assert [segment["latency_s"] for segment in made["rings"][0]["segments"]] == pytest.approx([3e-7, 8e-7])


def test_reductions_beside_rings_make_a_machine_file(table: Path, tmp_path: Path) -> None:
    sums = [f"s,m,reduce_local,,core,1,2,2,{4 * 2**power},one_way,{1 + 2**power},0" for power in range(8)]
    written(table, table.read_text(encoding="utf-8") + "\n".join(sums) + "\n")
    assert "no machine file" not in succeeded("fit", str(table), "-o", str(file := tmp_path / "m.json"))
    assert file.exists()


def test_evaluate_holds_out_every_second_number_of_processes(table: Path) -> None:
    made = evaluate_rings(table)
    # Of 2 … 12 the odd ones, 3 to 11, are held out: eleven counts.
    assert (made.n_test, made.n_train) == (5, 6)
    code, out, _ = outcome("evaluate", str(table), "--operation", "ring", "--json")
    assert (code, json.loads(out)["models"]) == (0, {name: vars(row) for name, row in made.models.items()})
    code, out, err = outcome("evaluate", str(table), "--operation", "ring")
    assert (code, err) == (0, "")
    assert "strongest baseline, interpolation" in out


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--operation", "ring", "--train", "ranks < 5"), "--train means nothing for a ring"),
        (("--operation", "sum3d"), "sum3d has no model over ranks"),
    ],
)
def test_what_cannot_be_evaluated_is_no_defect(table: Path, words: tuple[str, ...], what: str) -> None:
    err = refused("evaluate", str(table), *words)
    assert what in err


def test_too_few_numbers_of_processes(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", f"{HEADER}\ns,m,ring,sendrecv,core,1,2,2,4,max_over_ranks,3,0\n")
    with pytest.raises(RequestError, match="has 5 numbers of processes"):
        evaluate_rings(path)


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
