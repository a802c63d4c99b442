"""A second campaign confirms what is true, and refutes what noise alone had shown."""

from __future__ import annotations

from tests.check.planted import MPIS, Measured, consistent, frame, times

from hockney.campaign.plan import Plan
from hockney.check.cells import times_in
from hockney.check.confirm import NOT_TOLD, confirm, plan_of
from hockney.check.study import GuidelineFinding, study

NOISE = Measured(MPIS[0])


def slow(operation: str, ranks: int, size_B: int) -> float:
    return consistent(operation, ranks, size_B) * (2.0 if (operation, size_B) == ("gather", 4096) else 1.0)


def verdicts(findings: list[GuidelineFinding]) -> set[str]:
    return {"" if finding.again is None else finding.again.verdict for finding in findings}


def test_what_is_true_is_confirmed_on_another_host_but_not_by_another_library() -> None:
    violations = study(times(slow, noise=NOISE)).violations
    assert violations
    elsewhere = frame(slow, noise=NOISE, seed=7)
    for others in ({}, {"system": "node 2"}):
        again = confirm(violations, times_in(elsewhere.assign(**others)))
        assert {(one.again.verdict, one.again.why) for one in again if one.again} == {("confirmed", "")}
    other = confirm(violations, times_in(elsewhere.assign(mpi="another MPI 1.0")))
    assert verdicts(other) == {NOT_TOLD}
    assert all("same library" in one.again.why for one in other if one.again)


def test_what_is_not_there_again_is_not_confirmed() -> None:
    violations = study(times(slow, noise=NOISE)).violations
    again = confirm(violations, times(noise=NOISE, seed=7))
    assert verdicts(again) == {"not confirmed"}
    assert not any(one.stands for one in again)


def test_what_the_second_campaign_lacks_or_has_in_few_launches_is_not_told() -> None:
    violations = study(times(slow)).violations
    for second in (times_in(frame(slow).query("operation != 'gather'")), times(slow, launches=2)):
        again = confirm(violations, second)
        assert verdicts(again) == {NOT_TOLD}
        assert all(one.stands for one in again)


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
