"""A second campaign confirms what is true, and refutes what noise alone had shown."""

from __future__ import annotations

from tests.check.planted import MPIS, Measured, consistent, frame, times

from hockney.campaign.plan import Plan
from hockney.check.cells import times_in
from hockney.check.confirm import confirm, plan_of
from hockney.check.study import study

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


def test_the_plan_times_what_is_violated_as_before() -> None:
    violations = study(times_in(frame(slow, named={("gather", "linear"): 0.4}))).violations
    plan = Plan(ranks=8, operations=["pingpong", "gather"], budget_s=0.3, seed=4, launches=1, adaptive=False)
    again = plan_of(plan, violations, launches=10)
    # As many would find what lies just at its threshold but every second time.
    assert again.launches == 20
    # Two levels of the machine leave five launches, which a test takes, at one of them.
    assert plan_of(plan, violations, launches=3).launches == 10
    assert again.operations
    assert "pingpong" not in again.operations
    assert set(again.algorithms) == {"default", "linear"}
    assert 4096 in again.sizes_B
    assert again.rank_counts == [2, 4, 8]
    assert (again.budget_s, again.seed, again.mpi) == (plan.budget_s, plan.seed, plan.mpi)
    # It is a plan that could have been asked for.
    assert Plan.model_validate(again.model_dump()) == again
