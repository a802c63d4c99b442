"""Models of measured collectives: times made from known terms with noise give these back, with intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.models.collectives.base import CollectiveModel
from hockney.models.collectives.fitting import CollectivePoints, fit_collective

Array = NDArray[np.float64]
RANKS = np.array([2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64], dtype=np.float64)
SIZES = np.array([4.0**power for power in range(1, 11)])
DRAWS = 40
NOISE = 0.05


def planted(
    law: Callable[[Array, Array], Array],
    lot: np.random.Generator,
    *,
    ranks: Array = RANKS,
    sizes: Array = SIZES,
    noise: float = NOISE,
    operation: str = "bcast",
    algorithm: str = "default",
) -> CollectivePoints:
    """Times of a law of (P, S), each multiplied by its own noise."""
    at, size_B = (each.ravel() for each in np.meshgrid(ranks, sizes))
    time_s = law(at, size_B) * np.exp(noise * lot.standard_normal(at.size))
    return CollectivePoints(
        operation, algorithm, at, size_B, time_s, time_s * np.exp(-2 * noise), time_s * np.exp(2 * noise)
    )


def tree(ranks: Array, size_B: Array) -> Array:
    return 3e-6 + 0.4e-6 * np.log2(ranks) + 0.5e-9 * size_B * np.log2(ranks)


TREE = {"alpha_s": 3e-6, "alpha_log2P_s": 0.4e-6, "beta_log2P_s_per_B": 0.5e-9}


def test_the_terms_of_a_law_are_found_and_their_intervals_hold_it() -> None:
    found, held = 0, dict.fromkeys(TREE, 0)
    for seed in range(DRAWS):
        model = fit_collective(planted(tree, np.random.default_rng(seed)))
        if set(model.parameters) != set(TREE):
            continue
        found += 1
        for name, value in TREE.items():
            low, high = model.parameters[name].low, model.parameters[name].high
            assert low is not None
            assert high is not None
            held[name] += low <= value <= high
    assert found >= 0.9 * DRAWS
    # Of 95 % intervals, 40 draws hold the truth in 36 or more with a probability of 0.95.
    assert min(held.values()) >= 0.9 * found


def test_a_library_that_switches_at_a_size_has_a_range_on_either_side() -> None:
    """A tree up to 4 KiB, a pipeline above: the switch is found, and the terms of each range."""

    def switching(ranks: Array, size_B: Array) -> Array:
        piped = 20e-6 + 1e-6 * (ranks - 1) + 0.3e-9 * size_B
        return np.where(size_B <= 4096, tree(ranks, size_B), piped)

    found = 0
    for seed in range(DRAWS):
        model = fit_collective(planted(switching, np.random.default_rng(seed)))
        terms = [{term.growth for term in regime.terms if not term.per_byte} for regime in model.regimes]
        found += [regime.max_B for regime in model.regimes] == [4096, SIZES[-1]] and "P-1" in terms[1]
    assert found >= 0.9 * DRAWS


def test_the_schedules_own_form_is_preferred_where_it_is_the_law() -> None:
    """⌈log₂P⌉ rounds of a binomial tree: on these ranks no power of two, so that log₂P is another law."""

    def binomial(ranks: Array, size_B: Array) -> Array:
        return np.ceil(np.log2(ranks)) * (1e-6 + 0.2e-9 * size_B)

    found = 0
    for seed in range(DRAWS):
        model = fit_collective(planted(binomial, np.random.default_rng(seed), algorithm="binomial"))
        terms = [term.counts for regime in model.regimes for term in regime.terms]
        found += terms == ["alpha", "bytes"]
        if terms == ["alpha", "bytes"]:
            assert model.parameters["schedule_alpha_s"].value == pytest.approx(1e-6, rel=4 * NOISE / 5)
    assert found >= 0.9 * DRAWS


def test_at_a_measured_point_the_time_is_the_measured_one_and_goes_on_from_there() -> None:
    points = planted(tree, np.random.default_rng(1))
    model = fit_collective(points)
    at = model.predicted(points.ranks, points.size_B)
    assert at.time_s == pytest.approx(points.time_s, rel=1e-9)
    assert at.low_s == pytest.approx(points.low_s, rel=1e-9)
    assert at.high_s == pytest.approx(points.high_s, rel=1e-9)
    for near in (points.size_B * 1.001, points.size_B / 1.001):
        # A thousandth of the bytes is at most a thousandth of the time, and of the way to another 5 %.
        assert model.predicted(points.ranks, near).time_s == pytest.approx(points.time_s, rel=0.003)


def test_intervals_hold_what_was_left_out() -> None:
    """Ranks between the measured ones, noise as that of the points: 95 % nominal, 90 % asked of 2,000 times."""
    asked = np.array([5.0, 10.0, 20.0, 40.0])
    inside = []
    for seed in range(DRAWS):
        lot = np.random.default_rng(seed)
        model = fit_collective(planted(tree, lot))
        unseen = planted(tree, lot, ranks=asked, sizes=SIZES * 2)
        made = model.predicted(unseen.ranks, unseen.size_B)
        inside.append((made.low_s <= unseen.time_s) & (unseen.time_s <= made.high_s))
    assert np.mean(inside) >= 0.9


def test_a_barrier_has_no_bytes() -> None:
    points = planted(
        lambda ranks, _: 2e-6 * np.ceil(np.log2(ranks)),
        np.random.default_rng(3),
        sizes=np.zeros(1, np.float64),
        operation="barrier",
        algorithm="dissemination",
    )
    model = fit_collective(points)
    assert not any(term.per_byte or term.counts == "bytes" for term in model.regimes[0].terms)
    assert model.time_s(64, 0) == pytest.approx(12e-6, rel=3 * NOISE)


def test_one_number_of_ranks_gives_a_model_for_these_ranks_alone() -> None:
    model = fit_collective(planted(tree, np.random.default_rng(4), ranks=np.array([8.0])))
    assert model.time_s(8, 1024) == pytest.approx(float(tree(np.array([8.0]), np.array([1024.0]))[0]), rel=0.1)
    assert model.time_s(16, 1024) is None


def test_two_points_are_no_model() -> None:
    few = planted(tree, np.random.default_rng(5), ranks=np.array([8.0]), sizes=np.array([8.0, 64.0]))
    with pytest.raises(RequestError, match="too few"):
        fit_collective(few)


def test_a_model_is_the_same_after_it_was_written_and_read() -> None:
    model = fit_collective(planted(tree, np.random.default_rng(6)))
    again = CollectiveModel.model_validate_json(model.model_dump_json())
    asked = np.array([5.0, 7.0]), np.array([100.0, 5000.0])
    assert (again.predicted(*asked).time_s == model.predicted(*asked).time_s).all()
