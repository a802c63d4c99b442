"""Effective bisection bandwidth and the bounds of equation (2) from planted congestion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hockney.campaign.effect_record import EffectRecord
from hockney.errors import RequestError
from hockney.models.effects.base import Effect, effect_models

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
        answer=answer,
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


def fit(records: Sequence[EffectRecord]) -> Effect:
    return effect_models.get("congestion")(records)


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
        low, high = found[name].low, found[name].high
        assert low is not None
        assert high is not None
        assert low < truth < high
        assert high - low < 0.2 * truth


def test_what_is_uncertain_of_a_pair_alone_is_so_of_shares_and_congestion_the_right_way_round() -> None:
    # Twelve of thirty windows alone took twice as long: the median is the quicker time and β may be twice that.
    quick, slow = window_s(1), window_s(2)
    reference = record("alone", [quick], noise=0)
    reference.answer["samples_s"] = [quick] * 18 + [slow] * 12
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


def test_the_slowest_pairing_is_what_its_later_visits_say() -> None:
    # Draw 7 was disturbed once; the six visits after it took 2.9 to 3.1, and nothing else more than 2.
    disturbed = [[2.0] * PAIRS for _ in range(20)]
    disturbed[7][3] = 50.0
    later = [
        record("random", [window_s(2)] * (PAIRS - 1) + [window_s(c)], noise=0, draw=7, seed=7, again=k)
        for k, c in enumerate((3.1, 2.9, 3.0, 3.0, 2.95, 3.05))
    ]
    found = fit([*alone(0), *draws(disturbed, 0), *later])
    worst = found.parameters["worst_congestion"]
    assert (worst.low, worst.value, worst.high) == pytest.approx((2.9, 3.0, 3.1), rel=1e-9)
    # Once among the random ones, by its later visits: (319 of 2, one of 3) / 320.
    assert found.parameters["mean_congestion"].value == pytest.approx((319 * 2 + 3) / 320, rel=1e-9)
    assert any("measured again" in note and "6 visits" in note for note in found.notes)
    assert not any("one observation" in note for note in found.notes)
    assert any(f"of {20 * PAIRS} pairs measured" in note for note in found.notes)
    # The visits are told apart in the table.
    assert [point["pattern"] for point in found.points] == ["random"] * 20 + ["random again"] * 6


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


def test_another_pair_disturbed_on_each_visit_makes_no_slow_pair() -> None:
    disturbed = [[2.0] * PAIRS for _ in range(20)]
    disturbed[7][3] = 50.0
    # Pair 0 takes 2.5 without the disturbance, which was its own on the first of the visits.
    visits = [one_slow(pair, 50.0) for pair in range(6)]
    for visit in visits[1:]:
        visit[0] = 2.5
    found = fit([*alone(0), *draws(disturbed, 0), *again(visits)])
    worst = found.parameters["worst_congestion"]
    assert (worst.low, worst.value, worst.high) == pytest.approx((2.5, 2.5, 50.0), rel=1e-9)
    quiet = [*again([one_slow(3, 50.0)] * 2, pattern="halves", half=1), *draws([[2.0] * PAIRS] * 8, 0)]
    assert fit([*alone(0), *quiet]).parameters["worst_congestion"].value == pytest.approx(50, rel=1e-9)


def test_no_bound_is_below_what_it_bounds() -> None:
    # Every pair of the slowest draw was slow once; two draws of six, so that their first visits made the mean.
    first = [[40.0] * PAIRS, [30.0] * PAIRS, *[[2.0] * PAIRS] * 4]
    later = [*again([[2.5] * PAIRS] * 6, draw=0), *again([[2.2] * PAIRS] * 6, draw=1)]
    found = fit([*alone(0), *draws(first, 0), *later]).parameters
    assert found["worst_congestion"].value == pytest.approx(2.5, rel=1e-9)
    assert found["mean_congestion"].value == pytest.approx((2.5 + 2.2 + 4 * 2) / 6, rel=1e-9)
    assert found["mean_congestion"].value <= found["congestion_p95"].value <= found["worst_congestion"].value


def test_few_later_visits_count_with_the_first_and_have_no_interval() -> None:
    disturbed = [[2.0] * PAIRS for _ in range(20)]
    disturbed[7][3] = 50.0
    found = fit([*alone(0), *draws(disturbed, 0), *again([one_slow(3, 3.0), one_slow(3, 5.0)])])
    worst = found.parameters["worst_congestion"]
    assert worst.low is None
    assert worst.value == pytest.approx(5.0, rel=1e-9)
    assert any("the worst is the median of 3 visits" in note for note in found.notes)


def test_pairs_that_are_quicker_than_alone_by_chance_have_no_congestion_below_one() -> None:
    records = [*alone(0), *draws([[0.9] * PAIRS] * 6, 0), *again([[0.9] * PAIRS] * 6, draw=0)]
    one = fit(records).parameters["worst_congestion"]
    assert (one.low, one.value, one.high) == (1, 1, 1)
    second = [one.model_copy(update={"repetition": 1}) for one in alone(0)]
    second += [one.model_copy(update={"repetition": 1}) for one in draws([[3.0] * PAIRS] * 6, 0)]
    second += [one.model_copy(update={"repetition": 1}) for one in again([[3.0] * PAIRS] * 6, draw=0)]
    both = fit([*records, *second]).parameters["worst_congestion"]
    # Student's t of two launches of 1 and 3: 12.7 · √2/√2 to either side of 3.
    assert (both.low, both.value, both.high) == pytest.approx((1, 3, 3 + 12.706), rel=1e-3)


def test_a_pairing_seen_once_that_is_slower_than_the_visits_is_one_observation() -> None:
    disturbed = [[2.0] * PAIRS for _ in range(20)]
    disturbed[7][3], disturbed[9][0] = 50.0, 40.0
    found = fit([*alone(0), *draws(disturbed, 0), *again([[2.0] * PAIRS] * 6)])
    worst = found.parameters["worst_congestion"]
    assert worst.low is None
    assert worst.value == pytest.approx(40, rel=1e-9)
    assert any("one observation" in note for note in found.notes)


def test_pairs_of_one_draw_are_no_independent_observations() -> None:
    # All pairs of a draw alike, 1 or 4: the mean of 40 draws has a standard error of 0.375/√40 = 0.06.
    lot = np.random.default_rng(5)
    found = fit([*alone(), *draws([[float(one)] * PAIRS for one in lot.choice([1, 4], 40)])]).parameters
    low, high = found["effective_fraction"].low, found["effective_fraction"].high
    assert low is not None
    assert high is not None
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
    later = again([[2.0] * 15 + [5.0]] * 6, pattern="topology", **about)
    found = fit([*alone(0), *draws([[1.0] * PAIRS] * 6, 0), asked, *later])
    assert found.parameters["topology_congestion"].value == pytest.approx(5, rel=1e-9)


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
    damaged = record("random", [window_s(1000)] * PAIRS, draw=99, seed=7)
    damaged.answer["verified"] = False
    found = fit([*alone(), *draws([[1.0] * PAIRS] * 6), damaged])
    assert found.parameters["worst_congestion"].value == pytest.approx(1, rel=0.02)


def test_without_a_pair_alone_there_is_no_model() -> None:
    with pytest.raises(RequestError, match="alone"):
        fit(draws(planted(6)))
