"""What the visits of points come to at the level asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.campaign.visits import FAST, KEY, SLOW, at_level, of_collective, visit

from hockney.campaign.visits_so_far import VisitsSoFar, lacking, undecided
from hockney.records.keys import CollectiveKey
from hockney.records.levels import common
from hockney.records.record import Record, Wanted
from hockney.records.visits import levels_of


def so_far(*records: Record, wanted: Wanted = "common") -> VisitsSoFar:
    visits = VisitsSoFar(wanted)
    for record in records:
        visits.add(record)
    return visits


def test_visits_without_references_are_of_one_level() -> None:
    for order in ((1e-6, 2e-6, 1.4e-6), (2e-6, 1.4e-6, 1e-6)):
        seen = so_far(*(visit(8, value) for value in order))
        assert seen.done[KEY][8].value == pytest.approx(1.4e-6), "the median, whichever came first"
        assert seen.counting(KEY, 8) == 3


def test_a_visit_at_another_level_does_not_count() -> None:
    common = [at_level(FAST, size, 1e-6) for size in (8, 16, 32)]
    seen = so_far(*common, at_level(SLOW, 8, 3e-6), at_level(SLOW, 64, 3e-6))
    assert seen.done[KEY][8].value == 1e-6
    assert (seen.counting(KEY, 8), seen.counting(KEY, 64)) == (1, 0)
    assert seen.met_s(KEY, 64) == []
    assert seen.done[KEY][64].value == 3e-6, "it stands at the level it has"


def test_visits_of_other_launches_tell_the_level() -> None:
    slow = [at_level(SLOW, size, 3e-6) for size in (8, 16)]
    seen = so_far(*slow)
    assert seen.counting(KEY, 8) == 1, "the only level there is"
    seen.keep_to(common, [*slow, *(at_level(FAST, size, 1e-6) for size in (8, 16, 32, 64, 128))])
    assert (seen.counting(KEY, 8), seen.counting(KEY, 16)) == (0, 0)
    seen.add(at_level(FAST, 8, 1e-6))
    assert seen.counting(KEY, 8) == 1
    assert seen.done[KEY][8].value == 1e-6


def test_points_that_too_few_launches_met_are_lacking() -> None:
    def launch(index: int, reference_s: float, *sizes_B: int) -> list[Record]:
        visits = [at_level(reference_s, size_B, reference_s * 10) for size_B in sizes_B]
        return [visit.model_copy(update={"repetition": index}) for visit in visits]

    records = [*launch(0, FAST, 8, 16), *launch(1, FAST, 8, 16), *launch(2, FAST, 8), *launch(2, SLOW, 16)]
    assert lacking(records, "common", 3).points == {(KEY, 16)}
    assert lacking(records, "common", 2).points == set()
    assert lacking(records, "quietest", 3).points == {(KEY, 16)}
    assert lacking([*records, *launch(3, FAST, 16)], "common", 3).points == set()
    of_all = lacking(records, "all", 3)
    assert of_all.points == {(KEY, 8), (KEY, 16)}, "two launches met the slow level for neither"
    (levels,) = levels_of(records).values()
    assert of_all.level(levels) is levels[1]
    assert of_all.level([levels[0], replace(levels[1], share=0.05)]) is None, "no level that is rare"
    without = [record.model_copy(update={"reference_s": [], "reference_iqr_s": []}) for record in records]
    assert lacking(without, "common", 3).points == lacking(without, "all", 3).points == set(), "one level"


def test_modes_that_no_reference_sees_are_told() -> None:
    sizes_B = (65536, 131072, 262144)
    quick = [at_level(FAST, size_B, size_B / 1e10) for size_B in sizes_B]
    slow = [at_level(FAST, size_B, 1.4 * size_B / 1e10) for size_B in sizes_B]
    assert so_far(*quick * 4).modes() == []
    (modes,) = so_far(*[*quick, *slow] * 2).modes()
    assert modes.times_as_long == pytest.approx(1.4)
    assert so_far(*[*quick, *slow] * 2, at_level(SLOW, 8, 1e-6), wanted="quietest").modes() != []


def test_the_level_asked_for_may_be_the_quietest_or_all() -> None:
    visits = [at_level(SLOW, size, 3e-6) for size in (8, 16, 32)] + [at_level(FAST, 8, 1e-6)]
    assert so_far(*visits).done[KEY][8].value == 3e-6
    assert so_far(*visits, wanted="quietest").done[KEY][8].value == 1e-6
    assert [so_far(*visits, wanted="all").counting(KEY, size) for size in (8, 16)] == [1, 0]


@pytest.mark.parametrize("launch", ["one", "its own"])
def test_algorithms_with_launches_of_their_own_are_told_by_their_intervals(launch: str) -> None:
    keys = [CollectiveKey("bcast", name, 2, 0, 0, 0, "warm", "window") for name in ("linear", "chain")]
    visits, lot = VisitsSoFar("common"), np.random.default_rng(1)
    for _ in range(60):
        for key in keys:
            record = of_collective(key, 8, 1e-6 * np.exp(lot.normal(0.0, 0.01)), 0.001, 1e-3)
            visits.add(record.model_copy(update={"launch": key.algorithm if launch == "its own" else "one"}))
    assert undecided(visits) == set()


def test_an_interval_that_reaches_nothing_tells_nothing() -> None:
    keys = [CollectiveKey("bcast", name, 2, 0, 0, 0, "warm", "window") for name in ("linear", "chain")]
    visits = VisitsSoFar("common")
    for key in keys:
        record = of_collective(key, 8, 1e-6, 1.0, 1e-3)
        visits.add(record.model_copy(update={"launch": key.algorithm}))
    assert undecided(visits) == {(key, 8) for key in keys}
