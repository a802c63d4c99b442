"""The questions of `overlap`: both sides, with and without MPI_Test, nothing planted, nothing guessed."""

from __future__ import annotations

from typing import Any

from hockney.campaign.effects.base import Here, NotMeasurable, Question, effects


def asked(**other: Any) -> list[Question | NotMeasurable]:
    here = Here(**{"pairs": [("cache", 0, 1)], "localities": {(0, 1): "cache"}, "ranks": []} | other)
    return list(effects.get("overlap")(here))


def ways(questions: list[Question | NotMeasurable]) -> set[tuple[object, object, object]]:
    return {
        (one.parameters["bytes"], one.parameters["side"], one.parameters["tests"])
        for one in questions
        if isinstance(one, Question)
    }


def test_each_size_is_asked_in_four_ways() -> None:
    questions = asked(largest_B=1024)
    assert len(ways(questions)) == len(questions) == 3 * 4
    assert {size for size, _, _ in ways(questions)} == {8, 256, 1024}
    for one in questions:
        assert isinstance(one, Question)
        assert all(value == 0 for key, value in one.parameters.items() if key.startswith("planted"))


def test_the_whole_effect_stays_within_its_time() -> None:
    # 20 s at the default of 1 s a point.
    times = [float(str(one.parameters["budget_s"])) for one in asked() if isinstance(one, Question)]
    assert sum(times) < 20


def test_a_simulation_is_not_asked_what_a_test_costs() -> None:
    questions = asked(simulated=True)
    assert {tests for _, _, tests in ways(questions)} == {0}
    # Beside what was measured there, not as another effect without a locality.
    assert [one.locality for one in questions if isinstance(one, NotMeasurable)] == ["cache"]


def test_ranks_that_share_cores_cannot_compute_at_the_same_time() -> None:
    questions = asked(oversubscribed="oversubscribed: 2 ranks on 1 core")
    assert all(isinstance(one, NotMeasurable) and "2 ranks on 1 core" in one.why for one in questions)
    assert len(questions) == 1


def test_a_progress_thread_needs_a_core_of_its_own() -> None:
    switch = {"MPIR_CVAR_ASYNC_PROGRESS": "1"}
    two = [{"rank": rank, "host": "a", "cpus": 3} for rank in (0, 1)]
    questions = asked(settings=switch, ranks=two)
    assert [one.why for one in questions if isinstance(one, NotMeasurable)] == [
        "no core is left for progress threads: 2 ranks with one each on the 3 cores of a"
    ]
    assert len(questions) == 1
    assert ways(asked(settings=switch, ranks=[{**place, "cpus": 4} for place in two]))
    assert ways(asked(settings={"MPIR_CVAR_ASYNC_PROGRESS": "0"}, ranks=two))
