"""What a reader is warned of in collectives, effects and applications; messages are in test_build.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.factories import collective

from hockney.machine.provenance import reservations
from hockney.records.answers import Timed
from hockney.records.contents import Contents
from hockney.records.record import Record
from hockney.records.visits import settle


def bcast(size_B: int, value_s: float, **more: Any) -> Record:
    known = {"algorithm": "binomial", "ranks": 2, "samples": [value_s] * 20, "verified": True}
    return collective(size_B, value_s, within=0.02, **known | more)


def told(*records: Record, **more: Any) -> str:
    contents = Contents(Path("c"), pd.DataFrame(), list(records), settle(records, {}), **more)
    return " ".join(reservations([], contents))


def timed(**more: Any) -> Timed:
    return Timed.model_validate(
        {"time_s": 1e-3, "low_s": 0.99e-3, "high_s": 1.01e-3, "samples_s": [1e-3] * 20, **more}
    )


QUIET = [bcast(size, 5e-6 + size / 1e9) for size in (8, 64, 512, 4096)]


def test_quiet_records_need_no_word() -> None:
    assert told(*QUIET) == ""


def test_disturbed_samples_that_count_are_said() -> None:
    counted = bcast(64, 5e-6, disturbed=17, disturbed_at=[])
    assert "1 of 5 records were too disturbed to clean (first: bcast, 64 B)" in told(*QUIET, counted)
    aside = bcast(64, 5e-6, disturbed=3, disturbed_at=[1, 2, 3])
    assert "too disturbed" not in told(*QUIET, aside)


def imported(size_B: int, value_s: float, repetition: int = 0) -> Record:
    return bcast(size_B, value_s, source="osu", low=None, high=None, samples=[], repetition=repetition)


def test_results_of_others_without_an_interval_are_not_calm() -> None:
    assert told(imported(8, 5e-6), imported(64, 6e-6)).startswith(
        "2 of 2 records of collectives have no interval"
    )


@pytest.mark.parametrize(("factor", "is_said"), [(4.0, True), (2.0, False)])
def test_repetitions_of_others_that_contradict_each_other_are_said(factor: float, is_said: bool) -> None:
    again = imported(8, factor * 5e-6, repetition=1)
    sentence = (
        "Repetitions of 1 of 2 points differ by more than 3 ×; their median counts. The worst differs by 4 ×"
    )
    assert (sentence in told(imported(8, 5e-6), again, imported(64, 6e-6))) is is_said


@pytest.mark.parametrize("place", [0, 1])
def test_a_point_above_both_larger_sizes_is_out_of_line(place: int) -> None:
    records = [*QUIET]
    records[place] = bcast(QUIET[place].bytes, 16e-3)
    said = told(*records)
    assert "1 of 4 points of collectives take over 1.5 × the time of the next two larger sizes" in said
    assert f"bcast binomial on 2 ranks, {QUIET[place].bytes} B" in said


def test_sizes_of_other_series_are_no_neighbours() -> None:
    others = [bcast(size, 1e-3, algorithm="linear") for size in (9, 65)]
    assert "next two larger" not in told(*QUIET, *others)


def test_a_drop_to_the_next_size_alone_may_be_a_protocol() -> None:
    records = [*QUIET]
    records[2] = bcast(512, 2e-6)
    assert "next two larger" not in told(*records)


def test_visits_of_other_algorithms_and_statistics_are_no_change_of_speed() -> None:
    slower = [bcast(512, 9e-6, algorithm="linear"), bcast(512, 9e-6, statistic="max_over_ranks", visit="a")]
    assert "changed its speed" not in told(*QUIET, *slower)
    again = told(*QUIET, bcast(512, 9e-6))
    assert "1 of 5 visits were slower than the quietest visit of their point" in again


def table(*values_us: float, **other: object) -> Contents:
    """A tidy table with these repetitions of one broadcast on 200 ranks."""
    fields = {
        "operation": "bcast", "algorithm": "chain", "mapping": "socket", "ranks": 200, "bytes": 8,
        "statistic": "mean_over_ranks", "source": "osu",
    } | other  # fmt: skip
    rows = [
        {**fields, "repetition": number, "time_s": value_us * 1e-6} for number, value_us in enumerate(values_us)
    ]
    return Contents(Path("t.csv"), pd.DataFrame(rows))


def test_wild_repeats_of_a_table_are_said_with_the_worst_of_them() -> None:
    said = " ".join(reservations([], table(10.0, 400.0)))
    assert "Repetitions of 1 of 1 points differ by more than 3 ×" in said
    assert "The worst differs by 40 × (bcast, chain, socket, 8 B on 200 ranks)" in said
    assert "differ by more" not in " ".join(reservations([], table(10.0, 29.0)))


def test_a_table_of_collectives_without_intervals_is_not_calm() -> None:
    assert reservations([], table(10.0, 11.0))[0].startswith("2 of 2 records of collectives have no interval")
    assert reservations([], table(10.0, low_s=9e-6, high_s=11e-6)) == []
    assert reservations([], table(10.0, source="hockney", low_s=9e-6, high_s=11e-6)) == []
