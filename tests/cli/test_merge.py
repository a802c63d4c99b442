"""`hockney merge`: nothing measured is lost, the table is of the common level, and what it lacks is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import outcome
from tests.machine.test_levels import OTHER_S, SIZES, USUAL_S, campaign, everywhere, law, visit

from hockney.records.folder import RECORDS, Campaign
from hockney.records.journal import LaunchLine
from hockney.records.record import Record
from hockney.records.table import load


def measured(folder: Path, reference_s: float, times: int, launch: str, *more: Record) -> Path:
    """A campaign of one launch at one level of the machine."""
    visits = [record.model_copy(update={"launch": launch}) for record in (*everywhere(reference_s, times), *more)]
    made = campaign(folder, visits)
    Campaign.open(made).append(
        LaunchLine.model_validate({"id": launch, "eager_limit_B": {"shared_memory": 4096}})
    )
    return made


def test_a_launch_at_another_level_is_kept_but_left_out_of_the_table(tmp_path: Path) -> None:
    # Of 2 B there is nothing else, so that the table has it at the level it has.
    b = measured(tmp_path / "b", OTHER_S, 1, "b", visit(2, OTHER_S))
    sources = measured(tmp_path / "a", USUAL_S, 3, "a"), b
    code, _, err = outcome("merge", *sources, "-o", tmp_path / "c")
    assert code == 0
    said = " ".join(err.split())
    assert "leaves out 12 records of 1 launch " in said
    assert said.count("warning:") == 1
    table = load(tmp_path / "c" / "samples.csv")
    times_s = dict(zip(table["bytes"], table["time_s"], strict=True))
    assert times_s == pytest.approx({size: law(size) for size in SIZES} | {2: 3.2 * law(2)})
    assert len(table) == len(times_s)
    assert set(table["eager_limit_B"]) == {4096}
    lines = [(source / RECORDS).read_text(encoding="utf-8").splitlines() for source in (*sources, tmp_path / "c")]
    samples = [sorted(str(json.loads(line)["samples"]) for line in of_file) for of_file in lines]
    assert samples[2] == sorted([*samples[0], *samples[1]])


def test_two_launches_at_one_level_are_both_in_the_table(tmp_path: Path) -> None:
    sources = measured(tmp_path / "a", USUAL_S, 3, "a"), measured(tmp_path / "b", USUAL_S, 3, "b")
    answer = json.loads(outcome("merge", *sources, "-o", tmp_path / "c", "--json")[1])
    assert answer["warnings"] == []
    assert len(load(tmp_path / "c" / "samples.csv")) == 2 * len(SIZES)
