"""Effects against a runner that answers, dies, refuses or sends wrong data: nothing is lost or asked twice."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from socket import gethostname
from typing import Any

import pytest
from tests.campaign.fake_campaign import Silent, fake_launch

from hockney.campaign.effects.base import Here, NotMeasurable, Question, Questions, effects
from hockney.campaign.launch import Launch
from hockney.campaign.loop import MOST_FAILURES
from hockney.campaign.measure import run as measure
from hockney.campaign.outcome import Outcome
from hockney.campaign.plan import Plan
from hockney.errors import RequestError
from hockney.records.answers import Timed
from hockney.records.folder import EFFECTS, LAUNCHES, Campaign
from hockney.records.record import Record

NUMBERS = {"probe": [1, 2, 3], "second": [4, 5]}


class Watcher(Silent):
    """No point is measured."""

    def measured(self, record: Record) -> None:
        raise AssertionError(record)


@pytest.fixture(autouse=True)
def numbers(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[int]]:
    """Two effects that ask the fake runner about these numbers; a test may change them."""
    asked = {name: list(one) for name, one in NUMBERS.items()}

    def asking(name: str) -> Any:
        def ask(_: Here) -> Questions:
            for number in asked[name]:
                answer = yield Question((0, 1), {"number": number}, "cache")
                if answer is not None and answer.read_as(Timed).time_s > 1:
                    return
            yield NotMeasurable("not here", "cache")
            yield NotMeasurable("not here", "network")

        return ask

    effects.names()
    for name in asked:
        monkeypatch.setitem(effects._units, name, asking(name))
    return asked


def run(path: Path, *launches: Launch, time_s: float | None = None) -> tuple[Campaign, Outcome, Watcher]:
    asked = Plan.model_validate(
        {"ranks": 2, "effects": ["probe", "second"], "time_limit_s": 20.0, "time_s": time_s}
    )
    campaign = Campaign.open(path) if path.exists() else Campaign.create(path, asked.model_dump())
    watcher = Watcher()
    outcome = measure(campaign, asked, launches or [fake_launch()], watcher)
    return campaign, outcome, watcher


def answered(campaign: Campaign) -> list[int]:
    return [record.parameters["number"] for record in campaign.effects() if record.answer]


def test_all_is_asked_once_on_one_launch_and_kept(tmp_path: Path) -> None:
    campaign, outcome, watcher = run(tmp_path / "c")
    assert answered(campaign) == [1, 2, 3, 4, 5]
    assert outcome.measured == 5
    assert len(campaign.launches()) == 1
    assert [(one.done, one.expected) for one in watcher.progresses] == [(0, 3), (1, 3), (2, 3), (0, 2), (1, 2)]
    assert {record.launch for record in campaign.effects()} == {campaign.launches()[0].id}


def test_each_locality_is_told_why(tmp_path: Path) -> None:
    campaign, _, _ = run(tmp_path / "c")
    told = [(one.effect, one.locality) for one in campaign.effects() if one.not_measurable == "not here"]
    assert told == [(name, locality) for name in ("probe", "second") for locality in ("cache", "network")]


def test_effects_know_what_this_process_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Here] = []

    def ask(here: Here) -> Questions:
        seen.append(here)
        yield NotMeasurable("not here", "cache")

    monkeypatch.setitem(effects._units, "probe", ask)
    run(tmp_path / "c")
    assert seen[0].usable_cpus == {gethostname(): os.sched_getaffinity(0)}


def test_where_a_thread_may_run_is_no_other_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Resumed in another allocation: the answers on disk are still those."""

    def asking(cpus: str | None) -> Any:
        def ask(_: Here) -> Questions:
            thread = {} if cpus is None else {"thread_cpus": cpus}
            yield Question((0, 1), {"number": 1, **thread}, "cache")

        return ask

    for cpus, answers in (("2,3", 1), ("4", 1), (None, 2)):
        monkeypatch.setitem(effects._units, "probe", asking(cpus))
        campaign, _, _ = run(tmp_path / "c")
        found = [one for one in campaign.effects() if one.effect == "probe" and one.answer]
        assert len(found) == answers


def test_a_finished_campaign_is_not_touched_by_resuming(tmp_path: Path) -> None:
    campaign, _, _ = run(tmp_path / "c")
    before = {name: (campaign.path / name).read_bytes() for name in (EFFECTS, LAUNCHES)}
    _, outcome, _ = run(tmp_path / "c")
    assert outcome.measured == 0
    assert {name: (campaign.path / name).read_bytes() for name in before} == before


def test_resuming_asks_what_is_missing_only(tmp_path: Path) -> None:
    campaign, _, _ = run(tmp_path / "c")
    lines = (campaign.path / EFFECTS).read_bytes().splitlines(keepends=True)
    (campaign.path / EFFECTS).write_bytes(b"".join(lines[:2]) + lines[2][:20])
    again, outcome, watcher = run(tmp_path / "c")
    assert sorted(answered(again)) == [1, 2, 3, 4, 5]
    assert outcome.measured == 3
    assert any("damaged line" in text for text in watcher.warnings)


def test_a_question_that_kills_the_launch_costs_itself_alone(
    tmp_path: Path, numbers: dict[str, list[int]]
) -> None:
    numbers["probe"] = [1, 100, 3]
    campaign, outcome, _ = run(tmp_path / "c")
    assert answered(campaign) == [1, 3, 4, 5]
    (failure,) = campaign.failures()
    assert failure.effect == "probe"
    assert '"number": 100' in failure.asked
    assert len(outcome.failures) == 1


def test_questions_that_kill_are_counted_in_a_row(tmp_path: Path, numbers: dict[str, list[int]]) -> None:
    numbers["probe"] = [1, 1000, 2, 1001, 3]
    numbers["second"] = [1002, 4, 5]
    campaign, _, _ = run(tmp_path / "c")
    assert answered(campaign) == [1, 2, 3, 4, 5]
    assert len(campaign.failures()) == MOST_FAILURES, "so many in a row would end it"


def test_a_launch_that_does_not_start_again_is_given_up_after_some_tries(
    tmp_path: Path, numbers: dict[str, list[int]]
) -> None:
    numbers["probe"] = [1, 100, 3]
    campaign, outcome, _ = run(tmp_path / "c", fake_launch("once", str(tmp_path / "begun")))
    assert answered(campaign) == [1]
    assert len(campaign.failures()) == len(outcome.failures) == MOST_FAILURES
    assert not campaign.failures()[1].effect, "a launch that did not start was asked nothing"


def test_refusals_are_kept_and_lack_of_memory_is_asked_again(
    tmp_path: Path, numbers: dict[str, list[int]]
) -> None:
    numbers["probe"] = [1, 101, 102, 3]
    campaign, outcome, _ = run(tmp_path / "c")
    assert answered(campaign) == [1, 3, 4, 5]
    assert [one.parameters["number"] for one in campaign.effects() if one.refused] == [102]
    assert outcome.limitations == ["probe: no such number"]
    assert len(campaign.failures()) == 1
    _, again, _ = run(tmp_path / "c")
    assert len(again.failures) == 1, "memory may be free now"


def test_wrong_data_are_a_failure(tmp_path: Path, numbers: dict[str, list[int]]) -> None:
    numbers["probe"] = [1, 103]
    campaign, outcome, _ = run(tmp_path / "c")
    assert any("wrong data" in text for text in outcome.failures)
    assert answered(campaign) == [1, 103, 4, 5]


def test_after_the_campaigns_time_nothing_more_is_asked(tmp_path: Path) -> None:
    campaign, outcome, _ = run(tmp_path / "c", time_s=1e-9)
    assert answered(campaign) == []
    assert outcome.left_out == 2
    assert outcome.effects_left_out == ["probe", "second"]


def test_time_that_ends_within_an_effect_leaves_the_rest_out(
    tmp_path: Path, numbers: dict[str, list[int]]
) -> None:
    numbers["probe"] = [99, 2, 3]
    # Shorter than the slow answer, longer than a start of the fake runner.
    campaign, outcome, _ = run(tmp_path / "c", time_s=3.5)
    assert answered(campaign) == [99]
    assert outcome.left_out == 2 + 2
    assert outcome.effects_left_out == ["probe", "second"]
    _, outcome, _ = run(tmp_path / "c")
    assert answered(campaign) == [99, 2, 3, 4, 5]
    assert outcome.effects_left_out == []


def test_a_question_that_the_campaigns_time_ended_is_left_out_with_all_after_it(
    tmp_path: Path, numbers: dict[str, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hockney.campaign.loop.LEAST_WAIT_S", 0.2)
    numbers["probe"] = [1, 98, 3]
    campaign, outcome, _ = run(tmp_path / "c", time_s=2.0)
    assert answered(campaign) == [1]
    # Not the 20 s of the plan, after which it would be a failure.
    assert (outcome.failures, outcome.left_out) == ([], 2 + 2)
    assert outcome.effects_left_out == ["probe", "second"]
    (line,) = campaign.failures()
    assert "as the campaign's time was over" in line.left_out
    numbers["probe"] = [1, 2, 3]
    assert run(tmp_path / "c")[1].is_whole


def test_an_effect_that_was_measured_whole_before_the_time_ended_is_not_named(
    tmp_path: Path, numbers: dict[str, list[int]]
) -> None:
    numbers["probe"], numbers["second"] = [1, 99], [4]
    _, outcome, _ = run(tmp_path / "c", time_s=3.5)
    assert outcome.effects_left_out == ["second"]


def test_another_machine_or_library_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "c", fake_launch(cpu_model="EPYC"))
    with pytest.raises(RequestError, match="begun on EPYC; this is Xeon"):
        run(tmp_path / "c", fake_launch(cpu_model="Xeon"))
    with pytest.raises(RequestError, match="more ranks than cores"):
        run(tmp_path / "c", fake_launch(cpu_model="EPYC", crowded=True))
    other = dataclasses.replace(fake_launch(cpu_model="EPYC"), mpi_name="Other MPI 2")
    with pytest.raises(RequestError, match="begun with Fake MPI 1; found now: Other MPI 2"):
        run(tmp_path / "c", other)


def asked_of_collectives(
    path: Path, monkeypatch: pytest.MonkeyPatch, *launches: Launch, **asked: Any
) -> tuple[set[str], Outcome, Campaign]:
    """What `Here.collectives` says of `barrier` to the effect `probe` of a plan."""
    found: set[str] = set()

    def ask(here: Here) -> Questions:
        found.update(f"{key.operation} {key.algorithm}" for key in here.collectives("barrier"))
        yield NotMeasurable("seen", "cache")

    monkeypatch.setitem(effects._units, "probe", ask)
    words = {"ranks": 2, "effects": ["probe"], "sizes_B": [8], "visits": 1, "budget_s": 0.05, **asked}
    plan = Plan.model_validate(words)
    campaign = Campaign.create(path, plan.model_dump())
    outcome = measure(campaign, plan, launches or [fake_launch()], Silent())
    return found, outcome, campaign


def test_what_is_asked_of_no_collective_does_not_end_a_campaign_of_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {"operations": ["pingpong"], "algorithms": ["bynomial"]}
    found, outcome, campaign = asked_of_collectives(tmp_path / "c", monkeypatch, **words)
    assert found == {"barrier default"}
    assert [text for text in outcome.warnings if "'bynomial'" in text and "the default is measured" in text]
    assert campaign.records()
    # One that it knows is heeded, and without points a wrong name is a wrong request.
    words["algorithms"] = ["binomial"]
    assert asked_of_collectives(tmp_path / "d", monkeypatch, **words)[0] == {"barrier binomial"}
    with pytest.raises(RequestError, match="'bynomial' of barrier"):
        asked_of_collectives(tmp_path / "e", monkeypatch, algorithms=["bynomial"])


def test_what_another_launch_measures_is_no_unknown_algorithm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = dataclasses.replace(fake_launch(), only=("bcast", "adjust:3"))
    words = {"operations": ["bcast"], "algorithms": ["adjust:3"], "rank_counts": [2]}
    found, outcome, campaign = asked_of_collectives(tmp_path / "c", monkeypatch, fake_launch(), alone, **words)
    assert (found, outcome.failures) == (set(), [])
    assert {record.algorithm for record in campaign.records()} == {"adjust:3"}


def test_why_an_effect_is_not_measurable_is_a_warning(tmp_path: Path) -> None:
    _, outcome, _ = run(tmp_path / "c")
    assert "probe is not measurable: not here" in outcome.warnings
