"""What launches say of rules: ratios with intervals, and whether an effect is proven."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.factories import not_none
from tests.tune.planted import record

from hockney.errors import RequestError
from hockney.models.over_ranks.choice import Time
from hockney.records.contents import Contents
from hockney.records.levels import Level
from hockney.records.verification import Effect, Proof, Verification, VerifiedCell
from hockney.records.visits import Settled, ranks_of
from hockney.tune.cells import CallTimes
from hockney.tune.rules import Method, Rule
from hockney.tune.trial import Probe
from hockney.tune.verify import Ratio, TrialTimes, judged, proof

POINT = ("bcast", 8, 64)


def contents_of(
    times_s: Mapping[tuple[str, int], Sequence[float]], wrong: tuple[str, int] = ("", 0), **fields: Any
) -> Contents:
    """Times of variants at sizes in each launch, one of them with wrong results."""
    records = [
        record(*(size_B, time_s), variant=name, repetition=launch, verified=(name, size_B) != wrong, **fields)
        for (name, size_B), values in times_s.items()
        for launch, time_s in enumerate(values)
    ]
    return Contents(Path("c"), pd.DataFrame(), records, Settled(records))


def times(default_s: Sequence[float], tuned_s: Sequence[float]) -> TrialTimes:
    return TrialTimes(contents_of({("default", 64): default_s, ("tuned", 64): tuned_s}))


def of_sizes(tuned: Mapping[int, float], wrong: tuple[str, int] = ("", 0)) -> TrialTimes:
    """Four launches in which the default takes a second at each size."""
    default_s = {("default", size_B): [1.0] * 4 for size_B in tuned}
    tuned_s = {("tuned", size_B): [time_s] * 4 for size_B, time_s in tuned.items()}
    return TrialTimes(contents_of({**default_s, **tuned_s}, wrong))


def test_what_slows_a_whole_turn_down_cancels() -> None:
    # Turns differ by a factor of 10, ratios by 2 %.
    turns = (1.0, 10.0, 3.0, 0.5, 7.0)
    noise = (1.0, 1.02, 0.99, 1.01, 0.98)
    ratio = times([2 * turn * one for turn, one in zip(turns, noise, strict=True)], turns).ratio(
        "default", "tuned", POINT
    )
    assert ratio is not None
    assert ratio.value == pytest.approx(2.0, rel=0.03)
    assert 1.9 < ratio.low < 2.0 < ratio.high < 2.1


def test_an_interval_holds_what_was_seen_where_launches_differ_by_thousands() -> None:
    ratio = not_none(times([1.0, 7400.0, 1.0, 5000.0], [1.0] * 4).ratio("default", "tuned", POINT))
    assert ratio.low <= 1.0
    assert ratio.high >= 7400.0


def test_variants_at_different_levels_of_the_machine_are_not_compared() -> None:
    # Most of the default's references were slow, most of the others' fast.
    fast, slow = (Level(time_s, 0.9 * time_s, 1.1 * time_s, 0.4, 9) for time_s in (1e-6, 3e-6))
    often_fast, often_slow = replace(fast, share=0.6), replace(slow, share=0.6)
    default = ranks_of(record(64, 1.0, variant="default"))
    tuned = ranks_of(record(64, 1.0, variant="tuned"))

    both = {("default", 64): [2.0] * 4, ("tuned", 64): [1.0] * 4}

    def ratio(of_default: Sequence[Level], of_tuned: Sequence[Level]) -> Ratio | None:
        contents = replace(contents_of(both), levels={default: of_default, tuned: of_tuned})
        return TrialTimes(contents).ratio("default", "tuned", POINT)

    assert ratio([fast, often_slow], [often_fast, slow]) is None
    assert ratio([fast, often_slow], [fast]) is None
    assert ratio([fast, often_slow], [fast, replace(often_slow, reference_s=3.1e-6)]) is not None
    # Each met one level alone: all of their samples count, turn by turn.
    assert ratio([fast], [slow]) is not None


def test_times_with_and_without_caches_are_not_mixed() -> None:
    warm, off = (contents_of({("default", 64): [1.0]}, cache=cache) for cache in ("warm", "off"))
    records = [*warm.records, *off.records]
    with pytest.raises(RequestError, match="in the caches and outside"):
        TrialTimes(replace(warm, records=records, settled=Settled(records)))


def test_one_launch_tells_nothing_and_none_is_none() -> None:
    one = not_none(times([2.0], [1.0]).ratio("default", "tuned", POINT))
    assert not one.is_known
    assert times([2.0], [1.0]).ratio("default", "best", POINT) is None


PROBED = Probe(
    CallTimes("bcast", 8, 64, Time(1, 0.9, 1.1), {}),
    Method("tuned:linear"),
    Rule("bcast", 8, 8, 0, None, "tuned:linear"),
    *(4.0, 3.5, 4.5),
)


@pytest.mark.parametrize(
    ("seen", "effect"),
    [
        (Ratio(3.9, 3.0, 5.0), "proven"),
        # It changes the other way, or by less than half of the least change: something else may have done that.
        (Ratio(0.5, 0.4, 0.6), "not proven"),
        (Ratio(1.1, 1.05, 1.15), "not proven"),
        (Ratio(2.5, 1.8, 3.5), "not proven"),
        (Ratio(2.5, 1.9, 3.3), "proven"),
        (Ratio(1.0, 0.9, 1.1), "none"),
        # Less than half of the least change, 3.5, on a logarithmic scale: a factor of 1.87.
        (Ratio(1.4, 0.99, 1.85), "none"),
        (Ratio(1.4, 0.95, 1.89), "not proven"),
        (None, "not proven"),
    ],
)
def test_an_effect_is_proven_by_a_change_and_refuted_by_its_absence(seen: Ratio | None, effect: str) -> None:
    assert proof(PROBED, "bcast", seen).effect == effect


def test_a_change_that_was_expected_to_be_small_at_least_is_not_refuted() -> None:
    # By the campaign a hundredth of the time, or nearly all of it.
    wide = replace(PROBED, expected=0.01, low=0.001, high=0.8)
    assert proof(wide, "bcast", Ratio(1.0, 0.8, 1.2)).effect == "not proven"
    assert proof(wide, "bcast", Ratio(1.0, 0.95, 1.05)).effect == "none"


def test_without_a_probe_nothing_is_proven() -> None:
    found = proof(None, "bcast", None)
    assert found.effect == "not proven"
    assert "no algorithm was measured" in found.why


FASTER = Ratio(1.1, 1.01, 1.2, freedom=8)
SURELY = Ratio(2.0, 1.8, 2.2, freedom=8)
AS_FAST = Ratio(1.0, 0.9, 1.1, freedom=8)


@pytest.mark.parametrize(
    ("seen", "gains", "effect"),
    [
        # One of 24 cells looks faster by chance in two runs of five.
        (None, [FASTER] + 23 * [AS_FAST], "not proven"),
        (None, [FASTER], "proven"),
        (None, [SURELY] + 23 * [AS_FAST], "proven"),
        (None, [Ratio(2.0, math.nan, math.nan)], "not proven"),
        # What the probe refuted no gain proves.
        (Ratio(1.0, 0.95, 1.05), [SURELY], "none"),
    ],
)
def test_a_gain_proves_an_effect_where_the_probe_tells_nothing(
    seen: Ratio | None, gains: Sequence[Ratio], effect: str
) -> None:
    assert proof(PROBED, "bcast", seen, gains).effect == effect


def test_where_loading_rules_changes_more_than_they_say_no_gain_proves_them() -> None:
    assert proof(None, "bcast", None, [SURELY], is_switched=True).effect == "not proven"
    found = proof(PROBED, "bcast", Ratio(3.9, 3.0, 5.0), is_switched=True)
    assert found.effect == "proven"
    assert "the settings that load it may do so as well" in found.why


@pytest.mark.parametrize(
    ("tuned", "whole", "kept"),
    [
        ({64: 0.5, 128: 1.0}, True, [True, True]),
        ({64: 0.5, 128: 1.5}, True, [False, False]),
        ({64: 1.0, 128: 1.0}, True, [False, False]),
        ({64: 0.5, 128: 1.5}, False, [True, False]),
    ],
)
def test_a_rule_without_bounds_stays_or_goes_for_all_cells(
    tuned: dict[int, float], whole: bool, kept: list[bool]
) -> None:
    name = Method("tuned:linear")
    cells = [CallTimes("bcast", 8, size_B, Time(1, 1, 1), {name: Time(1, 1, 1)}) for size_B in tuned]
    rules = [Rule("bcast", 1, None, 0, None, *name)]
    found = judged(of_sizes(tuned), cells, rules, [], "tuned", whole=whole)
    assert [one.is_kept for one in found] == kept
    found = judged(of_sizes(tuned), cells, rules, ["bcast"], "tuned", whole=whole)
    assert [one.is_kept for one in found] == [False, False]


def test_what_the_target_fills_in_makes_no_other_algorithm() -> None:
    def complete(rule: Rule) -> Rule:
        return replace(rule, radix=rule.radix or 4)

    measured, said = Method("tuned:chain"), Method("tuned:chain", radix=4)
    cells = [CallTimes("bcast", 8, 64, Time(2, 1.9, 2.1), {measured: Time(1, 0.9, 1.1)})]
    rules = [Rule("bcast", 8, 8, 0, None, *said)]
    # A gain of 1 % is within its interval, and was beyond it in the campaign.
    times = of_sizes({64: 0.99})
    (found,) = judged(times, cells, rules, [], "tuned", whole=False, complete=complete)
    assert (found.verdict, found.is_kept) == ("not told", True)
    assert (found.best, found.regret) == (str(said), 0.0)


def test_operations_count_by_their_proof_where_a_rule_is_left() -> None:
    effects: dict[str, Effect] = {
        "bcast": "proven",
        "reduce": "proven",
        "alltoall": "not proven",
        "scatter": "none",
    }
    proofs = [Proof(operation=name, effect=effect, why="") for name, effect in effects.items()]
    cells = [
        VerifiedCell(operation=name, ranks=8, bytes=64, verdict="not told", is_kept=is_kept)
        for name, is_kept in [("bcast", True), ("reduce", False), ("alltoall", True), ("scatter", False)]
    ]
    found = Verification(time="", target="", library="", launches=5, proofs=proofs, cells=cells)
    assert found.ruled("proven") == ["bcast"]
    assert found.ruled("not proven") == ["alltoall"]


def test_where_rules_change_calls_without_one_a_wrong_result_counts() -> None:
    name = Method("mpir:ring")
    cells = [CallTimes("bcast", 8, size_B, Time(1, 1, 1), {name: Time(1, 1, 1)}) for size_B in (64, 128)]
    found = judged(
        of_sizes({64: 0.5, 128: 0.5}, wrong=("tuned", 128)),
        cells,
        [Rule("bcast", 8, 8, 0, 64, *name)],
        [],
        "tuned",
        whole=True,
    )
    assert [(one.verdict, one.is_kept) for one in found] == [("faster", False), ("not timed", False)]


def test_where_rules_change_calls_without_one_those_count() -> None:
    name = Method("mpir:ring")
    cells = [CallTimes("bcast", 8, size_B, Time(1, 1, 1), {name: Time(1, 1, 1)}) for size_B in (64, 128)]
    rules = [Rule("bcast", 8, 8, 0, 64, *name)]
    times = of_sizes({64: 0.5, 128: 1.5})
    assert [one.is_kept for one in judged(times, cells, rules, [], "tuned", whole=True)] == [False, False]
    assert [one.is_kept for one in judged(times, cells, rules, [], "tuned", whole=False)] == [True, False]
