"""The model of `matching` on planted answers: slopes, constants, breaks, and document 003's stencil."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hockney.campaign.effect_record import EffectRecord
from hockney.errors import RequestError
from hockney.models.effects.base import Effect, effect_models
from hockney.models.effects.matching import mean_search

DEPTHS = (0, 1, 4, 16, 64, 128, 256, 512, 1024, 2048, 4096)
T0_S = 5e-7


def records(
    cost_s: Callable[[float], float], seed: int = 0, noise: float = 0.02, queue: str = "posted"
) -> list[EffectRecord]:
    """Answers of t₀ + cost(entries ahead), each with this relative noise and an interval to match."""
    random = np.random.default_rng(seed)
    places = [*((depth, 0) for depth in DEPTHS), *((0, depth) for depth in DEPTHS[-3:])]
    made = []
    for ahead, behind in places:
        time_s = (T0_S + cost_s(ahead)) * np.exp(noise * random.standard_normal())
        made.append(
            EffectRecord(
                effect="matching",
                parameters={"queue": queue, "ahead": ahead, "behind": behind, "by": "tag", "source": "named"},
                answer={"time_s": time_s, "low_s": time_s * (1 - 2 * noise), "high_s": time_s * (1 + 2 * noise)},
            )
        )
    return made


def fit(made: list[EffectRecord]) -> Effect:
    return effect_models.get("matching")(made)


def text(effect: Effect) -> str:
    return " ".join(one.text for one in effect.views.asymptotic)


def test_a_planted_cost_per_entry_is_found_and_its_interval_holds_it() -> None:
    held = 0
    for seed in range(20):
        entry = fit(records(lambda ahead: 1e-7 * ahead, seed)).parameters["posted_entry_s"]
        # 2 % of noise, eight points that carry the slope: 0.7 % on the slope, so that 3 % are four sigma.
        assert entry.value == pytest.approx(1e-7, rel=0.03)
        assert entry.low is not None
        assert entry.high is not None
        held += entry.low <= 1e-7 <= entry.high
    # Of twenty 95 % intervals one may miss; four do by chance in 1.6 % of such tests.
    assert held >= 16


def test_a_constant_is_one_and_its_interval_holds_zero() -> None:
    constant = 0
    for seed in range(20):
        found = fit(records(lambda ahead: 0.0 * ahead, seed))
        if "Θ(1)" in text(found):
            constant += 1
            assert found.parameters["posted_entry_s"].low == 0
            assert "posted_entry_bound_s" in found.not_identified
    assert constant >= 18


def test_a_slope_that_grows_beyond_a_cache_is_two() -> None:
    found = fit(records(lambda ahead: 2e-9 * min(ahead, 256) + 8e-9 * max(0, ahead - 256), noise=0.01)).parameters
    assert found["posted_break_entries"].value == 256
    assert found["posted_entry_s"].value == pytest.approx(2e-9, rel=0.1)
    assert found["posted_long_entry_s"].value == pytest.approx(8e-9, rel=0.05)


def test_no_measured_search_is_above_the_bound_and_short_ones_do_not_make_it() -> None:
    made = records(lambda ahead: 1e-7 * ahead, noise=0.05)
    found = fit(made)
    # 5 % of noise up and down: three sigma of the dearest of eight, and the base's own share.
    assert 1e-7 <= found.parameters["posted_entry_bound_s"].value < 1.4e-7
    bound, base = (found.parameters[f"posted_{name}_s"].value for name in ("entry_bound", "base"))
    for one in made:
        if one.answer["time_s"] > 1.5 * base:
            assert one.answer["time_s"] <= base + bound * one.parameters["ahead"] * (1 + 1e-12)


def test_the_stencil_of_document_003_follows() -> None:
    # Section 3: c = 100 ns on Blue Gene/P, "a traversal of an average of 13 requests, adding 1.3 µs".
    assert mean_search(26, drained=False) == 13
    found = fit(records(lambda ahead: 1e-7 * ahead, noise=0.001)).parameters
    assert found["stencil_27_s"].value == pytest.approx(1.3e-6, rel=0.01)
    random = np.random.default_rng(1)
    searched = []
    for _ in range(2000):
        queue = list(range(26))
        for message in random.permutation(26):
            searched.append(queue.index(message))
            queue.remove(message)
    # Mean of 52,000 searches whose spread is about 6: a standard error of 0.03, here three of them.
    assert mean_search(26, drained=True) == pytest.approx(np.mean(searched), abs=0.1)


def test_queues_are_modelled_apart_and_one_with_few_depths_is_named() -> None:
    few = records(lambda ahead: 1e-7 * ahead, queue="unexpected")[:3]
    found = fit([*records(lambda ahead: 1e-8 * ahead), *few])
    assert found.parameters["posted_entry_s"].value == pytest.approx(1e-8, rel=0.05)
    assert "unexpected_entry_s" in found.not_identified
    with pytest.raises(RequestError, match="depths"):
        fit(few)


def test_a_disturbed_point_counts_little() -> None:
    made = records(lambda ahead: 1e-7 * ahead, noise=0.01)
    index = next(i for i, one in enumerate(made) if one.parameters["ahead"] == 1024)
    answer = made[index].answer
    made[index] = made[index].model_copy(
        update={"answer": {**answer, "time_s": 20 * answer["time_s"], "high_s": 500 * answer["time_s"]}}
    )
    assert fit(made).parameters["posted_entry_s"].value == pytest.approx(1e-7, rel=0.15)


def test_views_say_the_fitted_numbers() -> None:
    found = fit(records(lambda ahead: 1e-7 * ahead, noise=0.0005))
    (exact,) = found.views.exact
    assert exact.text == "T(R) = 500 ns + 100 ns · R"
    assert r"\cdot R" in exact.latex
    assert "Θ(R)" in text(found)
    assert found.views.bounded[0].text.startswith("0 ≤ T_match(R) ≤ 10")
    assert {row["queue"] for row in found.points} == {"posted"}
    assert all(row["model_s"] == pytest.approx(row["time_s"], rel=0.01) for row in found.points)
