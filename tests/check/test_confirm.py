"""A second campaign confirms what is true, and refutes what noise alone had shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.check.planted import MPIS, Made, Measured, Noise, Spreads, consistent, equal, frame, times

from hockney.campaign.plan import Plan
from hockney.check.cells import Times, times_in
from hockney.check.confirm import MORE_LAUNCHES, confirm, plan_of, standing
from hockney.check.study import study
from hockney.models.base import DRIFT_AT_REFERENCE

NOISE = Measured(MPIS[0])


def slow(operation: str, ranks: int, size_B: int) -> float:
    return consistent(operation, ranks, size_B) * (2.0 if (operation, size_B) == ("gather", 4096) else 1.0)


def test_what_is_true_is_confirmed() -> None:
    violations = study(times(slow, noise=NOISE)).violations
    assert violations
    again = confirm(violations, times(slow, noise=NOISE, seed=7))
    assert again.of("confirmed") == violations


def test_what_is_not_there_again_is_not_confirmed() -> None:
    violations = study(times(slow, noise=NOISE)).violations
    again = confirm(violations, times(noise=NOISE, seed=7))
    assert again.of("not confirmed") == violations


def test_what_the_second_campaign_lacks_or_has_in_few_launches_is_not_told() -> None:
    violations = study(times(slow)).violations
    without = times_in(frame(slow).query("operation != 'gather'"))
    assert confirm(violations, without).of("not told by the second campaign") == violations
    few = times(slow, launches=2)
    assert confirm(violations, few).of("not told by the second campaign") == violations


def test_another_host_of_the_machine_tells_and_another_library_does_not() -> None:
    violations = study(times(slow, noise=NOISE)).violations
    elsewhere = frame(slow, noise=NOISE, seed=7)
    again = confirm(violations, times_in(elsewhere.assign(system="node 2")))
    assert again.of("confirmed") == violations
    assert not any(map(again.why, violations))
    other = confirm(violations, times_in(elsewhere.assign(mpi="another MPI 1.0")))
    assert other.of("not told by the second campaign") == violations
    assert all("same library" in other.why(one) for one in violations)


def alarms(noise: Noise, campaigns: int, launches: int, seed: int) -> int:
    """Of so many libraries in which nothing takes longer than anything else, those of which anything stands after
    two campaigns."""
    sizes = (4, 8, 16, 32, 64, 128)
    made, again = (times(equal, count, sizes=sizes, ranks=[2]) for count in (launches, MORE_LAUNCHES * launches))
    cells = [(cell.call.operation, sizes.index(cell.size_B) if cell.size_B else 0) for cell in made.cells]
    random, found = np.random.default_rng(seed), 0

    def drawn(of: Times) -> Times:
        time_s = of.time_s * np.exp(noise.drawn(cells, of.launches, random))
        return replace(of, time_s=time_s, low_s=0.999 * time_s, high_s=1.001 * time_s)

    for _ in range(campaigns):
        first = study(drawn(made), family_error=0.02)
        chosen = first.violations + first.suspects
        found += bool(chosen and standing(first, confirm(chosen, drawn(again), 0.02)))
    return found


NOISES: dict[str, Noise] = {
    **{mpi: Measured(mpi) for mpi in MPIS},
    "spreads of their own": Spreads(),
    "between campaigns": Made(common=0.005, own=0.01, drift=DRIFT_AT_REFERENCE),
}


def test_what_is_suspected_rarely_alarms() -> None:
    # Of 10 campaigns at 2 % more than 3 alarm in one of 30,000 such tests (binomial).
    assert alarms(NOISES["spreads of their own"], 10, 8, seed=1) <= 3


@pytest.mark.thorough
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("launches", [4, 8, 15])
def test_of_a_thousand_campaigns_measured_again_at_most_fifty_alarm(noise: Noise, launches: int) -> None:
    assert alarms(noise, 1000, launches, seed=launches) <= 50


def test_the_plan_times_what_is_violated_as_before() -> None:
    violations = study(times_in(frame(slow, named={("gather", "linear"): 0.4}))).violations
    plan = Plan(ranks=8, operations=["pingpong", "gather"], budget_s=0.3, seed=4, launches=1, adaptive=False)
    again = plan_of(plan, violations, launches=10)
    # As many would find what lies just at its threshold but every second time.
    assert again.launches == 20
    # Two levels of the machine leave four launches, which a test takes, at one of them.
    assert plan_of(plan, violations, launches=3).launches == 8
    assert again.operations
    assert "pingpong" not in again.operations
    assert set(again.algorithms) == {"default", "linear"}
    assert 4096 in again.sizes_B
    assert again.rank_counts == [2, 4, 8]
    assert (again.budget_s, again.seed, again.mpi) == (plan.budget_s, plan.seed, plan.mpi)
    # It is a plan that could have been asked for.
    assert Plan.model_validate(again.model_dump()) == again
