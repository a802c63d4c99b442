"""Effective bisection bandwidth and the bounds of equation (2) from planted congestion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.answers import answering
from tests.factories import ends

from hockney.errors import RequestError
from hockney.models.effects.base import effect_models
from hockney.records.answers import StreamsAnswer
from hockney.records.effect_record import EffectRecord

# A start-up of 5 % of a window, so that one forgotten is seen.
ALPHA_S, BETA_S_PER_B = 2e-5, 1e-10
SIZE_B, WINDOW = 2**20, 8
PAIRS = 16
NOISE = 0.01
LOT = np.random.default_rng(0)


def record(pattern: str, pair_s: Sequence[float], *, noise: float = NOISE, **more: Any) -> EffectRecord:
    samples = [max(pair_s) * (1 + noise * LOT.standard_normal()) for _ in range(30 if noise else 1)]
    answer = {
        "time_s": float(np.median(samples)),
        "samples_s": samples,
        "disturbed_at": [],
        "pair_s": list(pair_s),
        "verified": True,
    }
    sizes = {"bytes": 0, "window": 1} if pattern == "empty" else {"bytes": SIZE_B, "window": WINDOW}
    return EffectRecord(
        effect="congestion",
        members=list(range(2 * len(pair_s))),
        parameters={"pattern": pattern, **sizes, **more},
        answer=StreamsAnswer.model_validate(answer),
    )


def window_s(congestion: float) -> float:
    return 2 * ALPHA_S + congestion * BETA_S_PER_B * SIZE_B * WINDOW


def alone(noise: float = NOISE) -> list[EffectRecord]:
    return [
        record("empty", [2 * ALPHA_S], noise=noise),
        record("alone", [window_s(1)], noise=noise),
    ]


def draws(congestion: Sequence[Sequence[float]], noise: float = NOISE) -> list[EffectRecord]:
    return [
        record("random", [window_s(one) for one in each], noise=noise, draw=draw, seed=7)
        for draw, each in enumerate(congestion)
    ]


def planted(count: int = 40) -> list[list[float]]:
    """Congestion 1, 2 or 4 of each pair, by lot."""
    lot = np.random.default_rng(3)
    return [[float(one) for one in lot.choice([1, 2, 4], PAIRS, p=[0.5, 0.3, 0.2])] for _ in range(count)]


fit = effect_models.get("congestion")


def test_planted_congestion_is_recovered() -> None:
    congestion = planted()
    found = fit([*alone(), *draws(congestion)]).parameters
    fraction = float(np.mean(1 / np.array(congestion)))
    wanted = {
        "beta_s_per_B": BETA_S_PER_B,
        "alpha_s": ALPHA_S,
        "effective_fraction": fraction,
        "effective_bisection_bandwidth_B_per_s": PAIRS * fraction / BETA_S_PER_B,
        "mean_congestion": float(np.mean(congestion)),
        "worst_congestion": 4.0,
        "congestion_p95": 4.0,
        "pair_fraction_p05": 0.25,
        "pair_fraction_p95": 1.0,
    }
    # Medians of 30 samples with 1 % of noise: 0.23 % each.
    assert {name: found[name].value for name in wanted} == pytest.approx(wanted, rel=0.01)


def test_the_interval_of_the_mean_holds_that_of_all_bisections() -> None:
    # E 1/C = 0.5 + 0.3/2 + 0.2/4 = 0.7, E C = 0.5 + 0.6 + 0.8 = 1.9; the seed of `planted` is fixed.
    found = fit([*alone(), *draws(planted(100))]).parameters
    for name, truth in (("effective_fraction", 0.7), ("mean_congestion", 1.9)):
        low, high = ends(found[name])
        assert low < truth < high
        assert high - low < 0.2 * truth


def test_what_is_uncertain_of_a_pair_alone_is_so_of_shares_and_congestion_the_right_way_round() -> None:
    # Twelve of thirty windows alone took twice as long: the median is the quicker time and β may be twice that.
    quick, slow = window_s(1), window_s(2)
    reference = answering(record("alone", [quick], noise=0), samples_s=[quick] * 18 + [slow] * 12)
    found = fit([record("empty", [2 * ALPHA_S], noise=0), reference, *draws([[2.0] * PAIRS] * 8, 0)]).parameters
    ends = {name: (one.low, one.value, one.high) for name, one in found.items()}
    # A slower pair alone makes of the same times a greater share and less congestion; draws are all alike.
    assert ends["beta_s_per_B"] == pytest.approx((BETA_S_PER_B, BETA_S_PER_B, 2 * BETA_S_PER_B), rel=1e-6)
    assert ends["effective_fraction"] == pytest.approx((0.5, 0.5, 1.0), rel=1e-6)
    assert ends["mean_congestion"] == pytest.approx((1.0, 2.0, 2.0), rel=1e-6)
    assert ends["congestion_p95"] == pytest.approx((1.0, 2.0, 2.0), rel=1e-6)


def test_where_nothing_varies_intervals_are_the_values() -> None:
    found = fit([*alone(0), *draws([[2.0] * PAIRS] * 8, 0)]).parameters
    for name, value in (("effective_fraction", 0.5), ("mean_congestion", 2.0), ("congestion_p95", 2.0)):
        one = found[name]
        assert (one.low, one.value, one.high) == pytest.approx((value, value, value), rel=1e-9), name


def test_one_disturbed_pair_makes_the_worst_but_not_what_most_pairs_have() -> None:
    disturbed = [[2.0] * PAIRS for _ in range(20)]
    disturbed[7][3] = 50.0
    found = fit([*alone(0), *draws(disturbed, 0)])
    assert found.parameters["worst_congestion"].value == pytest.approx(50, rel=1e-9)
    assert found.parameters["congestion_p95"].value == pytest.approx(2, rel=1e-9)
    assert found.parameters["congestion_p95"].high == pytest.approx(2, rel=1e-9)
    assert any("one observation" in note and "95 %" in note for note in found.notes)


def again(
    congestion: Sequence[Sequence[float]], draw: int = 7, pattern: str = "random", **more: Any
) -> list[EffectRecord]:
    """Later visits to a pairing, of all pairs each."""
    about = more or {"draw": draw, "seed": 7}
    return [
        record(pattern, [window_s(one) for one in each], noise=0, **about, again=visit)
        for visit, each in enumerate(congestion)
    ]


def one_slow(pair: int, congestion: float) -> list[float]:
    return [congestion if one == pair else 2.0 for one in range(PAIRS)]


def disturbed_once() -> list[EffectRecord]:
    """Twenty draws of congestion 2, but for 50 of one pair of draw 7."""
    congestion = [[2.0] * PAIRS for _ in range(20)]
    congestion[7] = one_slow(3, 50.0)
    return [*alone(0), *draws(congestion, 0)]


def launch(records: Sequence[EffectRecord], number: int) -> list[EffectRecord]:
    return [one.model_copy(update={"repetition": number}) for one in records]


TOLD = (3.1, 2.9, 3.0, 3.0, 2.95, 3.05)


def test_the_slowest_pair_is_what_those_visits_say_that_did_not_choose_it() -> None:
    # Six visits choose pair 3, with 40; the six after these take 2.9 to 3.1, and nothing else more than 2.
    later = again([one_slow(3, 40.0)] * 6 + [one_slow(3, one) for one in TOLD])
    found = fit([*disturbed_once(), *later])
    worst = found.parameters["worst_congestion"]
    assert (worst.low, worst.value, worst.high) == pytest.approx((2.9, 3.0, 3.1), rel=1e-9)
    # The averages are of first visits, which came by lot: some were quick by chance and none of these is measured
    # again. (319 of 2, one of 50) / 320.
    assert found.parameters["mean_congestion"].value == pytest.approx((319 * 2 + 50) / 320, rel=1e-9)
    assert any("measured again" in note for note in found.notes)
    assert not any("one observation" in note for note in found.notes)
    assert any(f"of {20 * PAIRS} pairs measured" in note for note in found.notes)
    # The visits are told apart in the table.
    assert [point["pattern"] for point in found.points] == ["random"] * 20 + ["random again"] * 12


def test_another_pair_disturbed_on_each_visit_makes_no_slow_pair() -> None:
    # Pair 0 takes 2.5 on all visits; on each of the first six another pair is disturbed.
    visits = [one_slow(pair, 50.0) for pair in range(1, 7)] + [[2.0] * PAIRS] * 6
    worst = fit([*disturbed_once(), *again([[2.5, *visit[1:]] for visit in visits])]).parameters[
        "worst_congestion"
    ]
    assert (worst.low, worst.value, worst.high) == pytest.approx((2.5, 2.5, 2.5), rel=1e-9)


def test_eleven_later_visits_are_too_few_to_divide_and_have_no_interval() -> None:
    for count in (1, 5, 11):
        found = fit([*disturbed_once(), *again([one_slow(3, 3.0)] * count)])
        worst = found.parameters["worst_congestion"]
        # Never with the first visit, which was chosen for being slow.
        assert worst.low is None
        assert worst.value == pytest.approx(3.0, rel=1e-9)
        visits = "1 visit" if count == 1 else f"{count} visits"
        assert any(f"on {visits}, too few for an interval" in note for note in found.notes)


def test_no_bound_is_below_what_it_bounds() -> None:
    # Three of four draws were disturbed, and none of the visits after them.
    first = [[40.0] * PAIRS, [30.0] * PAIRS, [30.0] * PAIRS, [2.0] * PAIRS]
    found = fit([*alone(0), *draws(first, 0), *(one for d in range(3) for one in again([[2.5] * PAIRS] * 12, d))])
    worst = found.parameters["worst_congestion"]
    assert worst.value == worst.low == worst.high == found.parameters["congestion_p95"].value
    # 48 of 64 pairs with 30 or more.
    assert found.parameters["mean_congestion"].value == pytest.approx(25.5, rel=1e-9)
    assert worst.value == pytest.approx(40, rel=1e-9)
    assert any("no less than these" in note for note in found.notes)


def test_the_worst_of_several_launches_is_their_median() -> None:
    records = []
    for number, slow in enumerate((3.0, 3.5, 4.0, 4.5, 5.0)):
        records += launch([*disturbed_once(), *again([one_slow(3, slow)] * 12)], number)
    worst = fit(records).parameters["worst_congestion"]
    # Student's t of five launches: 2.776 · 0.79/√5 to either side of the median.
    assert (worst.low, worst.value, worst.high) == pytest.approx((4 - 0.9816, 4.0, 4 + 0.9816), rel=1e-3)
    # A launch that was interrupted before its later visits does not take the interval from the others.
    records += launch(disturbed_once(), 5)
    worst = fit(records).parameters["worst_congestion"]
    assert worst.low is not None
    assert worst.value == pytest.approx(4.25, rel=1e-9)


def test_pairs_that_are_quicker_than_alone_by_chance_have_no_congestion_below_one() -> None:
    def quick(congestion: float, number: int) -> list[EffectRecord]:
        drawn = draws([[congestion] * PAIRS] * 6, 0)
        return launch([*alone(0), *drawn, *again([[congestion] * PAIRS] * 12, draw=0)], number)

    found = fit(quick(0.9, 0))
    one = found.parameters["worst_congestion"]
    assert (one.low, one.value, one.high) == (1, 1, 1)
    assert not any("no less than these" in note for note in found.notes)
    both = fit([*quick(0.9, 0), *quick(3.0, 1)]).parameters["worst_congestion"]
    assert both.low == 1


def test_a_pairing_seen_once_that_is_slower_than_the_visits_is_one_observation() -> None:
    disturbed = [[2.0] * PAIRS for _ in range(20)]
    disturbed[7][3], disturbed[9][0] = 50.0, 40.0
    found = fit([*alone(0), *draws(disturbed, 0), *again([[2.0] * PAIRS] * 12)])
    worst = found.parameters["worst_congestion"]
    assert worst.low is None
    assert worst.value == pytest.approx(40, rel=1e-9)
    assert any("one observation" in note for note in found.notes)


def test_pairs_of_one_draw_are_no_independent_observations() -> None:
    # All pairs of a draw alike, 1 or 4: the mean of 40 draws has a standard error of 0.375/√40 = 0.06.
    lot = np.random.default_rng(5)
    found = fit([*alone(), *draws([[float(one)] * PAIRS for one in lot.choice([1, 4], 40)])]).parameters
    low, high = ends(found["effective_fraction"])
    assert 0.15 < high - low < 0.32


def test_the_bisection_is_of_all_pairs_together() -> None:
    found = fit([*alone(0), *draws([[1.0] * PAIRS] * 6, 0)]).parameters
    assert found["effective_fraction"].value == pytest.approx(1.0, rel=1e-9)
    assert found["effective_bisection_bandwidth_B_per_s"].value == pytest.approx(PAIRS / BETA_S_PER_B, rel=1e-9)


def test_ordered_pairings_count_for_the_worst_but_not_for_the_mean() -> None:
    halves = record("halves", [window_s(9)] * PAIRS)
    found = fit([*alone(), halves, *draws([[1.0] * PAIRS] * 6)])
    assert found.parameters["worst_congestion"].value == pytest.approx(9, rel=0.01)
    assert found.parameters["mean_congestion"].value == pytest.approx(1, rel=0.01)
    (bound,) = found.views.bounded
    assert bound.text.endswith(" · n · 9") or "· n · 8.9" in bound.text or "· n · 9.0" in bound.text
    assert "P = 32" in bound.where


def test_pairs_that_are_quicker_than_those_alone_lower_the_bound() -> None:
    quick = [[1.0] * PAIRS for _ in range(6)]
    quick[2][5] = 0.808
    (bound,) = fit([*alone(0), *draws(quick, 0)]).views.bounded
    # Rounded away from what it bounds.
    assert bound.text.startswith("20 µs + 0.1 ns/B · n · 0.8 ≤ T(n, P) ≤ ")
    assert "n = 1 MiB" in bound.where
    (bound,) = fit([*alone(0), *draws([[1.0] * PAIRS] * 6, 0)]).views.bounded
    assert bound.text.startswith("20 µs + 0.1 ns/B · n ≤ ")


def test_the_worst_pairing_of_a_topology_stands_beside_its_bound() -> None:
    asked = record(
        "topology",
        [window_s(3), window_s(6), *[window_s(1)] * 14],
        noise=0,
        topology="torus:8x4",
        topology_bound=4.0,
    )
    found = fit([*alone(0), *draws([[1.0] * PAIRS] * 6, 0), asked])
    # The slowest pair's, measured; nothing of it is in the mean over random bisections.
    assert found.parameters["topology_congestion"].value == pytest.approx(6, rel=1e-9)
    assert found.parameters["topology_bound"].value == 4
    assert found.parameters["mean_congestion"].value == pytest.approx(1, rel=1e-9)
    assert any("torus:8x4" in note and " 6," in note and " 4 " in note for note in found.notes)
    # Measured again it is what these visits say.
    about: dict[str, Any] = {"topology": "torus:8x4", "topology_bound": 4.0}
    later = again([[2.0] * 15 + [5.0]] * 12, pattern="topology", **about)
    found = fit([*alone(0), *draws([[1.0] * PAIRS] * 6, 0), asked, *later])
    assert found.parameters["topology_congestion"].value == pytest.approx(5, rel=1e-9)
    # Of several launches the median: 6, 6, 5.
    rest = [*alone(0), *draws([[1.0] * PAIRS] * 6, 0), asked]
    launches = [*launch(rest, 0), *launch(rest, 1), *launch([*rest, *later], 2)]
    assert fit(launches).parameters["topology_congestion"].value == pytest.approx(6, rel=1e-9)
    launches = [*launch(rest, 0), *launch([*rest, *later], 1), *launch([*rest, *later], 2)]
    assert fit(launches).parameters["topology_congestion"].value == pytest.approx(5, rel=1e-9)


def test_the_seed_is_told() -> None:
    notes = fit([*alone(), *draws(planted(8))]).notes
    assert any("seed 7" in note for note in notes)


def test_two_ranks_have_no_bisection_bandwidth() -> None:
    found = fit([*alone(), *draws([[1.0]])])
    assert set(found.parameters) == {"alpha_s", "beta_s_per_B"}
    assert "4 or more ranks" in found.not_identified["effective_bisection_bandwidth_B_per_s"]


def test_few_bisections_have_no_interval() -> None:
    found = fit([*alone(), *draws(planted(3))])
    assert found.parameters["effective_fraction"].low is None
    assert any("no interval" in note for note in found.notes)


def test_what_arrived_damaged_is_left_out() -> None:
    damaged = answering(record("random", [window_s(1000)] * PAIRS, draw=99, seed=7), verified=False)
    found = fit([*alone(), *draws([[1.0] * PAIRS] * 6), damaged])
    assert found.parameters["worst_congestion"].value == pytest.approx(1, rel=0.02)


def test_without_a_pair_alone_there_is_no_model() -> None:
    with pytest.raises(RequestError, match="alone"):
        fit(draws(planted(6)))
