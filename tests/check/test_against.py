"""What became slower: planted regressions, noise alone, another level, and machine files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.check.planted import MPIS, Measured, consistent, frame

from hockney.check.against import Changes, against
from hockney.errors import RequestError
from hockney.records.contents import Contents
from hockney.records.levels import Level

FAMILY_ERROR = 0.02
NOISE = Measured(MPIS[0])


def contents(table: pd.DataFrame) -> Contents:
    return Contents(Path("made"), table)


def compare(newer: pd.DataFrame, older: pd.DataFrame) -> Changes:
    return against(contents(newer), contents(older), family_error=FAMILY_ERROR)


def test_a_planted_regression_is_found_and_nothing_else() -> None:
    def slower(operation: str, ranks: int, size_B: int) -> float:
        return consistent(operation, ranks, size_B) * (1.5 if (operation, ranks) == ("reduce", 4) else 1.0)

    changes = compare(frame(slower, noise=NOISE, seed=2), frame(noise=NOISE, seed=3))
    found = changes.of("slower")
    assert found
    assert all(change.where.startswith("reduce, 4 ranks") for change in found)
    assert not [change for change in changes.of("not slower") if change.where.startswith("reduce, 4 ranks")]


def test_a_launch_that_another_program_took_hides_no_regression() -> None:
    newer = frame(lambda *call: 1.5 * consistent(*call), launches=8, noise=NOISE, seed=2)
    newer.loc[newer["repetition"] == 3, ["time_s", "low_s", "high_s"]] *= 1000
    changes = compare(newer, frame(launches=8, noise=NOISE, seed=3))
    assert len(changes.of("slower")) > 0.9 * len(changes.changes)


def test_what_became_faster_is_no_alarm() -> None:
    changes = compare(frame(lambda *call: consistent(*call) / 2, noise=NOISE, seed=2), frame(noise=NOISE, seed=3))
    assert not changes.of("slower")
    # One-sided: faster is the less likely to be slower.
    assert all(change.p is not None and change.p > 0.5 for change in changes.changes)


def test_our_own_schedules_are_the_yardstick_and_no_finding() -> None:
    """What moves them is in messages or the machine: a line says so, and no alarm counts them."""
    both = []
    for factor in (2.0, 1.0):
        library = frame(noise=NOISE, seed=int(factor))
        ours = frame(lambda *call, by=factor: by * consistent(*call), noise=NOISE, seed=int(factor) + 5)
        both.append(pd.concat([library, ours[ours["operation"] == "bcast"].assign(algorithm="binomial")]))
    changes = compare(*both)
    assert (changes.of("slower"), {change.verdict for change in changes.yardstick}) == ([], {"slower"})
    assert {change.where.split(",")[0] for change in changes.yardstick} == {"bcast binomial"}
    (line,) = (line for line in changes.lines() if "yardstick" in line)
    assert f"of our own schedules {len(changes.yardstick)} of {len(changes.yardstick)} became slower" in line
    # What another program calls so is an algorithm of the library.
    others = compare(*(side.assign(source="pico") for side in both))
    assert (len(others.of("slower")), others.yardstick) == (len(changes.yardstick), [])
    # Alone they are what was asked about.
    alone = compare(*(side[side["algorithm"] == "binomial"] for side in both))
    assert len(alone.of("slower")) == len(changes.yardstick)


def test_a_change_below_the_least_factor_is_no_alarm() -> None:
    newer, older = contents(frame(lambda *call: 1.5 * consistent(*call))), contents(frame())
    assert against(newer, older, least_factor=1.4).of("slower")
    assert not against(newer, older, least_factor=1.6).of("slower")


def test_another_level_of_the_machine_is_no_regression() -> None:
    newer, older = frame(lambda *call: 3 * consistent(*call), ranks=[2]), frame(ranks=[2])
    ranks = ("made", "Made MPI 1", "", "core", 1, 2, 2, "")
    sides = [
        replace(contents(table), levels={ranks: [Level(time_s, 0.99 * time_s, 1.01 * time_s, 1.0, 100)]})
        for table, time_s in ((newer, 3e-7), (older, 1e-7))
    ]
    changes = against(*sides)
    assert not changes.of("slower")
    assert {change.why for change in changes.changes} == {"the machine was at another level"}
    same = [replace(side, levels={ranks: [Level(1e-7, 0.99e-7, 1.01e-7, 1.0, 100)]}) for side in sides]
    assert len(against(*same).of("slower")) == len(changes.changes)


def test_noise_of_both_sides_rarely_alarms() -> None:
    alarms = 0
    for seed in range(10):
        # Between campaigns the whole machine moves by a few percent, as `hockney.models.base.DRIFT` has it.
        moved = np.exp(np.random.default_rng(seed).normal(0, 0.025))
        newer = frame(noise=NOISE, seed=2 * seed, sizes=[64, 4096], ranks=[2])
        newer["time_s"] *= moved
        older = frame(noise=NOISE, seed=2 * seed + 1, sizes=[64, 4096], ranks=[2])
        alarms += bool(compare(newer, older).of("slower"))
    assert alarms <= 2


def test_few_launches_are_not_judged() -> None:
    changes = compare(frame(lambda *_: 9.0, launches=2), frame(launches=5))
    assert not changes.of("slower")
    assert {change.why for change in changes.changes} == {"fewer than 5 launches"}


def test_a_new_version_of_the_library_is_compared() -> None:
    newer = frame(lambda *call: 2 * consistent(*call)).assign(mpi="Made MPI 2")
    changes = compare(newer, frame())
    assert len(changes.of("slower")) == len(changes.changes)


def test_what_is_gone_is_named() -> None:
    changes = compare(frame().query("operation != 'bcast'"), frame())
    assert [text.split(",")[0] for text in changes.missing] == ["bcast"] * 3


def test_nothing_in_common_is_said() -> None:
    with pytest.raises(RequestError, match="no time in common"):
        compare(frame().query("operation == 'bcast'"), frame().query("operation == 'reduce'"))
