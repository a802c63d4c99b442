"""What goes with a level: causes that were planted are named, and what is alike at all levels is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.factories import record, references

from hockney.records.causes import CAUSES, LEAST_VISITS, NOT_SEEN, with_causes
from hockney.records.levels import Level, in_words
from hockney.records.record import Causes, Record
from hockney.records.visits import ranks_of

FAST_S, SLOW_S = 0.16e-6, 0.42e-6
SPAN_S = 0.5
CAUSED = [cause.field for cause in CAUSES]
USUAL = dict(zip(CAUSED, (0.005, 0.005, 0.05, 6, 2, 3e9), strict=True))
"""What a visit of half a second has, but for noise."""
PLANTED = dict(zip(CAUSED, (0.1, 0.1, 0.4, 60, 20, 2e9), strict=True))
SLOW_IS_RARE, SLOW_IS_COMMON = (
    (
        Level(FAST_S, 0.9 * FAST_S, 1.1 * FAST_S, 1 - share, 50),
        Level(SLOW_S, 0.9 * SLOW_S, 1.1 * SLOW_S, share, 20),
    )
    for share in (0.2, 0.8)
)


def visit(reference_s: float | list[float], causes: dict[str, float] | None, **more: Any) -> Record:
    groups = len(reference_s) - 1 if isinstance(reference_s, list) else 10
    told = {} if causes is None else {"causes": {"span_s": SPAN_S, "took_s": 2e-4, **causes}}
    bracket = references(reference_s, groups, 1, 0.02)
    return record(64, **{"ranks": 2, "pair": "0-1", **bracket, **told, **more})


def noisy(rng: np.random.Generator, **planted: float) -> dict[str, float]:
    """The usual causes, some of them as planted, each within a tenth or so."""
    values = {name: value * float(rng.lognormal(0, 0.1)) for name, value in {**USUAL, **planted}.items()}
    return {name: round(value) if isinstance(USUAL[name], int) else value for name, value in values.items()}


def causes_of(levels: tuple[Level, ...], visits: list[Record]) -> list[str]:
    """What goes with each level."""
    return [level.cause for level in with_causes({ranks_of(visits[0]): levels}, visits)[ranks_of(visits[0])]]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_involuntary_switches_are_named_with_their_rates() -> None:
    # 3 or 4, and 60 or 61, in half a second.
    usual = [visit(FAST_S, {"involuntary_switches": 3 + i % 2, "waited_s": 1e-4}) for i in range(20)]
    slow = [visit(SLOW_S, {"involuntary_switches": 60 + i % 2, "waited_s": 1e-4}) for i in range(10)]
    said = "goes with involuntary context switches (121 per second, 7 per second at the common level)"
    assert causes_of(SLOW_IS_RARE, usual + slow) == ["", said]
    assert f"20 % of it 2.6 × as long, {said}" in in_words(
        with_causes({ranks_of(usual[0]): SLOW_IS_RARE}, usual + slow)[ranks_of(usual[0])]
    )


@pytest.mark.parametrize("field", PLANTED)
def test_what_was_planted_is_named_and_nothing_else(field: str, rng: np.random.Generator) -> None:
    usual = [visit(FAST_S, noisy(rng)) for _ in range(30)]
    slow = [visit(SLOW_S, noisy(rng, **{field: PLANTED[field]})) for _ in range(10)]
    _, said = causes_of(SLOW_IS_RARE, usual + slow)
    assert [cause.field for cause in CAUSES if cause.words in said] == [field]


def test_two_that_come_together_are_both_named(rng: np.random.Generator) -> None:
    usual = [visit(FAST_S, noisy(rng)) for _ in range(30)]
    slow = [visit(SLOW_S, noisy(rng, waited_s=0.1, involuntary_switches=60)) for _ in range(10)]
    _, said = causes_of(SLOW_IS_RARE, usual + slow)
    assert [cause.field for cause in CAUSES if cause.words in said] == ["waited_s", "involuntary_switches"]


@pytest.mark.parametrize("field", PLANTED)
def test_what_is_at_both_levels_is_not_named(field: str, rng: np.random.Generator) -> None:
    visits = [
        visit(time_s, noisy(rng, **{field: PLANTED[field]})) for time_s in (FAST_S, SLOW_S) for _ in range(20)
    ]
    assert causes_of(SLOW_IS_RARE, visits) == ["", NOT_SEEN]


@pytest.mark.parametrize("field", PLANTED)
def test_a_faster_level_lacks_what_the_common_one_has(field: str, rng: np.random.Generator) -> None:
    planted = {field: PLANTED[field]}
    fast, slow = [noisy(rng) for _ in range(10)], [noisy(rng, **planted) for _ in range(30)]
    said, of_common = causes_of(
        SLOW_IS_COMMON, [*(visit(FAST_S, each) for each in fast), *(visit(SLOW_S, each) for each in slow)]
    )
    assert [cause.field for cause in CAUSES if cause.words in said] == [field]
    assert of_common == ""
    # The other way round the faster visits have more of it: that does not make them fast.
    said, _ = causes_of(
        SLOW_IS_COMMON, [*(visit(SLOW_S, each) for each in fast), *(visit(FAST_S, each) for each in slow)]
    )
    assert said == NOT_SEEN


def test_a_certain_but_small_difference_explains_no_level() -> None:
    # Never at the common level, at each visit elsewhere: half a thousandth of the time; and 1 % of a clock.
    usual = [visit(FAST_S, {"waited_s": 0.0, "frequency_Hz": 3.0e9}) for _ in range(40)]
    slow = [visit(SLOW_S, {"waited_s": 0.0005 * SPAN_S, "frequency_Hz": 2.97e9}) for _ in range(40)]
    assert causes_of(SLOW_IS_RARE, usual + slow) == ["", NOT_SEEN]


def test_who_looks_at_more_causes_asks_more_of_each() -> None:
    # Six visits all above six others: 1 in 924 by chance.
    order = [(FAST_S, 4), (SLOW_S, 9), (FAST_S, 1), (SLOW_S, 11), (FAST_S, 5), (SLOW_S, 8)]
    order += [(FAST_S, 2), (SLOW_S, 12), (FAST_S, 6), (SLOW_S, 7), (FAST_S, 3), (SLOW_S, 10)]
    alone = [(time_s, {"waited_s": 0.01 * rank}) for time_s, rank in order]
    assert causes_of(SLOW_IS_RARE, [visit(*each) for each in alone])[1].startswith("goes with waiting")
    with_others = [visit(time_s, USUAL | causes) for time_s, causes in alone]
    assert causes_of(SLOW_IS_RARE, with_others) == ["", NOT_SEEN]


@pytest.mark.parametrize("count", [0, 1, LEAST_VISITS - 1])
def test_few_visits_say_nothing(count: int, rng: np.random.Generator) -> None:
    usual = [visit(FAST_S, noisy(rng)) for _ in range(60)]
    slow = [visit(SLOW_S, noisy(rng, **PLANTED)) for _ in range(count)]
    assert causes_of(SLOW_IS_RARE, usual + slow) == ["", NOT_SEEN]


def test_visits_of_which_nothing_was_recorded_say_nothing(rng: np.random.Generator) -> None:
    bare = [visit(time_s, None) for time_s in (FAST_S, SLOW_S) for _ in range(20)]
    assert causes_of(SLOW_IS_RARE, bare) == ["", NOT_SEEN]
    # The kernel of one launch told, that of another did not; and ranks that share a core wait for it.
    partly = [visit(FAST_S, {}) for _ in range(20)] + [visit(SLOW_S, noisy(rng, **PLANTED)) for _ in range(20)]
    assert causes_of(SLOW_IS_RARE, partly) == ["", NOT_SEEN]
    usual = [visit(FAST_S, noisy(rng)) for _ in range(20)]
    crowded = [visit(SLOW_S, noisy(rng, **PLANTED), oversubscribed=True) for _ in range(20)]
    assert causes_of(SLOW_IS_RARE, usual + crowded) == ["", NOT_SEEN]


def test_only_visits_that_lie_wholly_at_a_level_count(rng: np.random.Generator) -> None:
    usual = [visit(FAST_S, noisy(rng)) for _ in range(30)]
    between = [visit([SLOW_S] * 8 + [FAST_S] * 3, noisy(rng, **PLANTED)) for _ in range(30)]
    assert causes_of(SLOW_IS_RARE, usual + between) == ["", NOT_SEEN]
    hardly = [visit([SLOW_S] * 10 + [FAST_S], noisy(rng, **PLANTED)) for _ in range(30)]
    assert causes_of(SLOW_IS_RARE, usual + hardly)[1].startswith("goes with")


def test_each_level_is_compared_with_the_common_one_alone(rng: np.random.Generator) -> None:
    rare = Level(1e-6, 0.9e-6, 1.1e-6, 0.05, 20)
    waited_s = [(FAST_S, 0.005)] * 30 + [(SLOW_S, 0.1)] * 20 + [(1e-6, 0.4)] * 20
    visits = [visit(time_s, noisy(rng) | {"waited_s": each_s}) for time_s, each_s in waited_s]
    _, *said = causes_of((*SLOW_IS_RARE, rare), visits)
    assert said == [
        f"goes with waiting for a busy processor ({share} of the time, 1 % of the time at the common level)"
        for share in ("20 %", "80 %")
    ]


def test_other_ranks_do_not_explain_a_level(rng: np.random.Generator) -> None:
    usual = [visit(FAST_S, noisy(rng)) for _ in range(30)]
    others = [visit(SLOW_S, noisy(rng, **PLANTED), pair="2-3") for _ in range(30)]
    assert causes_of(SLOW_IS_RARE, usual + others) == ["", NOT_SEEN]


def test_what_goes_with_nothing_is_hardly_ever_named(rng: np.random.Generator) -> None:
    draws, named = 100, 0
    fields = [name for name in USUAL if name != "frequency_Hz"]
    for draw in range(draws):
        # Heavy tails, many zeros, and visits whose number differs from draw to draw.
        many = int(rng.integers(6, 40))
        visits = []
        for number in range(3 * many):
            values = rng.lognormal(0, 1.5, len(fields)) * (rng.random(len(fields)) < 0.5)
            causes = dict(zip(fields, values * [0.02, 0.02, 0.2, 20, 20], strict=True))
            causes |= {name: float(round(causes[name])) for name in ("involuntary_switches", "migrations")}
            causes["frequency_Hz"] = 3e9 * float(rng.lognormal(0, 0.2))
            visits.append(visit(SLOW_S if number % 3 == draw % 3 else FAST_S, causes))
        named += causes_of(SLOW_IS_RARE, visits)[1] != NOT_SEEN
    assert named / draws <= 0.05


@pytest.mark.parametrize("memory", [0.7, 0.95])
def test_what_lasts_as_long_as_levels_do_is_hardly_ever_named(memory: float, rng: np.random.Generator) -> None:
    draws, count, named = 60, 100, 0
    for _ in range(draws):
        # A level that is left now and then for some 20 visits, and work that comes and goes as slowly by itself.
        is_slow, busy = np.zeros(count, dtype=bool), np.zeros(count)
        for now in range(1, count):
            is_slow[now] = is_slow[now - 1] ^ (rng.random() < (1 / 20 if is_slow[now - 1] else 1 / 60))
            busy[now] = memory * busy[now - 1] + np.sqrt(1 - memory**2) * rng.normal()
        waited_s = 0.1 * SPAN_S * np.exp(busy)
        pairs = zip(is_slow, waited_s, strict=True)
        visits = [visit(SLOW_S if slow else FAST_S, {"waited_s": float(each_s)}) for slow, each_s in pairs]
        named += causes_of(SLOW_IS_RARE, visits)[1] != NOT_SEEN
    assert named / draws <= 0.05


def test_older_records_and_newer_ones_are_read() -> None:
    assert visit(FAST_S, None).causes is None
    newer = visit(FAST_S, {"involuntary_switches": 3, "cosmic_rays": 7.0}).causes
    assert newer == Causes(span_s=SPAN_S, took_s=2e-4, involuntary_switches=3)
    assert newer.waited_s is None
