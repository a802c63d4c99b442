"""Many imported records stand as columns: every verb reads of them what it reads of lines."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from tests.command_line import outcome, refused

from hockney.importers import _collect
from hockney.importers.base import Given
from hockney.records.folder import COLUMNS, RECORDS, TABLE, TABLE_OF_COLUMNS, Campaign
from hockney.records.table import HEADER, load

OPERATIONS = {
    "pingpong": ("one_way", "default"),
    "bcast": ("max_over_ranks", "binomial"),
    "allreduce": ("mean_over_ranks", "default"),
}


def table(path: Path, source: str = "") -> Path:
    rows = [
        f"s,MPI 1,{operation},{algorithm},core,{ranks},1,{ranks},{size_B},{statistic},"
        f"{ranks + size_B / 1000 + number / 10},{number},{source}"
        for operation, (statistic, algorithm) in OPERATIONS.items()
        for ranks in ((2,) if operation == "pingpong" else (2, 4, 8))
        for size_B in (1, 64, 4096, 65536)
        for number in range(3)
    ]
    path.write_text("\n".join([",".join([*HEADER, "source"]), *rows, ""]), encoding="utf-8")
    return path


@pytest.fixture
def forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The same results as lines and as columns."""
    for name, many in (("lines", 10**6), ("columns", 1)):
        monkeypatch.setattr(_collect, "MANY", many)
        _collect.write(_collect.collect([table(tmp_path / "t.csv")], Given()), tmp_path / name, Given())
    return tmp_path / "lines", tmp_path / "columns"


def test_they_come_back(forms: tuple[Path, Path]) -> None:
    lines, columns = map(Campaign.open, forms)
    assert columns.records() == lines.records()
    assert columns.columns() is not None
    assert lines.columns() is None
    assert {RECORDS, TABLE}.isdisjoint(path.name for path in columns.path.iterdir())
    pd.testing.assert_frame_equal(load(columns.path), load(lines.path))
    pd.testing.assert_frame_equal(load(columns.table), load(lines.table))
    assert columns.table.name == TABLE_OF_COLUMNS


@pytest.mark.parametrize(
    "question",
    [
        ("evaluate", "{}", "--operation", "bcast", "--json"),
        ("predict", "bcast", "--table", "{}", "--ranks", "8", "--bytes", "64", "--json"),
        ("check", "{}", "--json"),
        ("report", "{}", "-o", "{}.html", "--json"),
        ("status", "{}", "--json"),
    ],
)
def test_verbs_answer_alike(forms: tuple[Path, Path], question: tuple[str, ...]) -> None:
    answers = [outcome(*(word.replace("{}", str(form)) for word in question)) for form in forms]
    plain = [(code, out.replace(str(form), "c")) for form, (code, out, _) in zip(forms, answers, strict=True)]
    assert plain[0][0] in (0, 1)
    assert plain[1] == plain[0]


def test_a_fit_is_the_same(forms: tuple[Path, Path]) -> None:
    machines = []
    for form in forms:
        assert outcome("fit", form)[0] == 0
        machine = json.loads((form / "machine.json").read_text())
        del machine["created"], machine["provenance"]["launches"][0]["time"]
        machines.append(json.dumps(machine).replace(str(form), "c"))
    assert machines[0] == machines[1]


def test_nothing_measured_is_written_over_or_lost(forms: tuple[Path, Path]) -> None:
    lines, columns = forms
    before = (columns / COLUMNS).read_bytes()
    assert outcome("import", columns.parent / "t.csv", "-o", columns)[0] == 2
    (columns / "plan.json").unlink()
    assert outcome("measure", "-o", columns)[0] != 0
    assert (columns / COLUMNS).read_bytes() == before
    # What stands as lines beside it is read, too.
    (columns / RECORDS).write_bytes((lines / RECORDS).read_bytes())
    assert len(Campaign(columns).records()) == 2 * len(Campaign(lines).records())
    assert len(load(columns)) == 2 * len(load(lines))


@pytest.mark.parametrize(
    ("column", "value"), [("value", -1.0), ("statistic", "mode"), ("bytes", "many"), ("origin", None)]
)
def test_a_damaged_file_is_named(forms: tuple[Path, Path], column: str, value: object) -> None:
    path = forms[1] / COLUMNS
    frame = pd.read_parquet(path).astype({column: object})
    frame[column] = frame[column].where(frame.index != 3, value) if value else frame[column]
    (
        frame.astype({column: str}) if value == "many" else frame if value else frame.drop(columns=column)
    ).to_parquet(path)
    err = refused("fit", forms[1])
    assert f"{path} is damaged" in " ".join(err.split())


def test_what_we_measured_stands_as_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of them more is said than of a table: whether payloads were checked."""
    monkeypatch.setattr(_collect, "MANY", 1)
    own = _collect.collect([table(tmp_path / "t.csv", "hockney")], Given())
    assert _collect.write(own, tmp_path / "c", Given()).columns() is None
    assert (tmp_path / "c" / RECORDS).exists()
