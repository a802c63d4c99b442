"""The model of `matching` on planted answers: slopes, constants, breaks, the stencil of Hoefler et al. 2010."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.answers import answering, words_of
from tests.factories import holds

from hockney.errors import RequestError
from hockney.models.effects.base import Effect, effect_models
from hockney.models.effects.matching import mean_search
from hockney.records.effect_answers import MatchingAnswer
from hockney.records.effect_record import EffectRecord

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
                answer=MatchingAnswer.model_validate(
                    {"time_s": time_s, "low_s": time_s * (1 - 2 * noise), "high_s": time_s * (1 + 2 * noise)}
                ),
            )
        )
    return made


fit = effect_models.get("matching")


def text(effect: Effect) -> str:
    return " ".join(one.text for one in effect.views.asymptotic)


def test_a_planted_cost_per_entry_is_found_and_its_interval_holds_it() -> None:
    held = 0
    for seed in range(20):
        entry = fit(records(lambda ahead: 1e-7 * ahead, seed)).parameters["posted_entry_s"]
        # 2 % of noise, eight points that carry the slope: 0.7 % on the slope, so that 3 % are four sigma.
        assert entry.value == pytest.approx(1e-7, rel=0.03)
        held += holds(entry, 1e-7)
    # Of twenty 95 % intervals one may miss; four do by chance in 1.6 % of such tests.
    assert held >= 16


def test_a_constant_is_one_in_almost_all_cases() -> None:
    constant = sum("Θ(1)" in text(fit(records(lambda ahead: 0.0 * ahead, seed))) for seed in range(60))
    # A slope whose 95 % interval is above zero comes by chance in 2.5 % of cases: of 60, 7 or more in 0.1 %.
    assert constant >= 54


def test_a_constant_has_its_own_base_and_a_limit_for_an_entry() -> None:
    found = fit(records(lambda ahead: 0.0 * ahead, seed=1))
    assert "Θ(1)" in text(found)
    entry, base = (found.parameters[f"posted_{name}_s"] for name in ("entry", "base"))
    assert (entry.value, entry.low) == (0, 0)
    assert entry.high is not None
    # 2 % of 500 ns over 4096 entries are 2.4 ps: Student's two of these, and as much for the estimate's own luck.
    assert 0 < entry.high < 5 * 0.02 * T0_S / 4096
    assert found.parameters["stencil_27_s"].value == 0
    assert found.parameters["stencil_27_s"].high == pytest.approx(13 * entry.high)
    assert {row["model_s"] for row in found.points} == {base.value}
    # The mean of fourteen with 2 % of noise: four sigma.
    assert base.value == pytest.approx(T0_S, rel=0.022)
    (exact,) = found.views.exact
    assert "R" not in exact.text.removeprefix("T(R)")
    assert "posted_entry_bound_s" in found.not_identified
    assert "at most (95 %)" in found.notes[0]


@pytest.mark.parametrize(
    "entry_s", [4e-12, *(pytest.param(cost_s, marks=pytest.mark.thorough) for cost_s in (0.0, 1e-12, 2e-11))]
)
def test_the_interval_of_an_entry_holds_the_truth_also_where_it_is_hardly_seen(entry_s: float) -> None:
    held = 0
    for seed in range(40):
        entry = fit(records(lambda ahead: entry_s * ahead, seed)).parameters["posted_entry_s"]
        held += holds(entry, entry_s)
    # Of forty 95 % intervals 33 or fewer hold the truth by chance in 0.3 % of such tests.
    assert held >= 34


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
        time_s = words_of(one)["time_s"]
        if time_s > 1.5 * base:
            assert time_s <= base + bound * one.parameters["ahead"] * (1 + 1e-12)


def test_the_stencil_of_hoefler_2010_follows() -> None:
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
    time_s = words_of(made[index])["time_s"]
    made[index] = answering(made[index], time_s=20 * time_s, high_s=500 * time_s)
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
