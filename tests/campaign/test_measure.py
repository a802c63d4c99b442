"""Campaigns against a runner that behaves, dies, hangs, refuses or talks nonsense."""

from __future__ import annotations

import dataclasses
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.campaign.fake_campaign import fake_launch, measured, plan, sizes
from tests.factories import refusing

from hockney.campaign import loop
from hockney.campaign.work import Work
from hockney.errors import RequestError
from hockney.records.contents import read, unmeasured
from hockney.report.findings import of_results
from hockney.runner.inventory import inventory
from hockney.runner.session import Session


def test_a_campaign_brackets_the_switch_and_keeps_everything(tmp_path: Path) -> None:
    campaign, outcome, watcher = measured(tmp_path / "c", plan())
    found = sizes(campaign)
    assert outcome.measured == len(found)
    assert outcome.failures == []
    assert max(size for size in found if size <= 4096) * 1.1 > min(size for size in found if size > 4096)
    record = campaign.records()[0]
    assert record.samples
    assert (record.batch, record.disturbed, record.disturbed_at, record.stop) == (7, 1, [3], "interval")
    assert (record.locality, record.pair, record.verified, record.mpi) == ("cache", "0-1", True, "Fake MPI 1")
    assert record.launch == campaign.launches()[0].id
    assert watcher.progresses[-1].done < watcher.progresses[-1].expected


def test_operations_keep_to_their_largest_size(tmp_path: Path) -> None:
    campaign, _, _ = measured(tmp_path / "c", plan(operations=[]))
    assert {record.operation for record in campaign.records()} == {"pingpong", "bandwidth", "send_overhead"}
    assert max(sizes(campaign, operation="send_overhead")) == 64
    windows = {record.operation: record.window for record in campaign.records()}
    assert windows == {"pingpong": None, "bandwidth": 64, "send_overhead": None}
    order = list(dict.fromkeys(record.operation for record in campaign.records()))
    assert order == ["pingpong", "bandwidth", "send_overhead"], "the most informative first, not the alphabet's"


def test_several_launches_repeat_the_same_sizes(tmp_path: Path) -> None:
    campaign, _, _ = measured(tmp_path / "c", plan(launches=3))
    assert sizes(campaign, repetition=0) == sizes(campaign, repetition=1) == sizes(campaign, repetition=2)
    assert len(campaign.launches()) == 3


def test_launches_for_which_there_is_no_time_are_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[Any] = []
    resume = Work.resume

    def counted(*about: Any) -> Work:
        looked_at.append(about)
        return resume(*about)

    monkeypatch.setattr(Work, "resume", counted)
    asked = plan(launches=10_000, time_s=1.0, sizes_B=[0, 8])
    _, outcome, _ = measured(tmp_path / "c", asked)
    # A second is over after a few hundred launches of a process each.
    assert 0 < len(looked_at) < 1000
    assert outcome.measured <= 2 * len(looked_at)


def test_visits_of_a_point_lie_far_apart(tmp_path: Path) -> None:
    campaign, _, _ = measured(tmp_path / "c", plan(visits=2, sizes_B=[0, 1, 2, 3]))
    order = [record.bytes for record in campaign.records()]
    assert sorted(order[:4]) == sorted(order[4:]) == [0, 1, 2, 3]


def test_a_library_that_talks_does_not_disturb(tmp_path: Path) -> None:
    _, outcome, _ = measured(tmp_path / "c", plan(sizes_B=[0, 8]), fake_launch("chatty"))
    assert (outcome.measured, outcome.failures) == (2, [])


def test_ranks_found_on_one_processor_are_marked(tmp_path: Path) -> None:
    campaign, _, watcher = measured(tmp_path / "c", plan(sizes_B=[8]), fake_launch("shares"))
    assert [record.oversubscribed for record in campaign.records()] == [True]
    assert any("shared one processor" in text for text in watcher.warnings)
    fine, _, _ = measured(tmp_path / "d", plan(sizes_B=[8]))
    assert [record.oversubscribed for record in fine.records()] == [False]


def test_a_runner_that_dies_costs_the_point_in_flight(tmp_path: Path) -> None:
    # It dies at the third point of every launch, until it has measured all others.
    campaign, outcome, _ = measured(tmp_path / "c", plan(sizes_B=[0, 1, 2, 3, 4, 5]), fake_launch("dies", "2"))
    assert len(sizes(campaign)) == 4
    assert len(outcome.failures) == 2
    assert sorted([*sizes(campaign), *(failure.bytes or 0 for failure in campaign.failures())]) == [*range(6)]
    assert "exit code 9" in outcome.failures[0]


def test_a_runner_that_always_dies_is_given_up(tmp_path: Path) -> None:
    campaign, outcome, _ = measured(tmp_path / "c", plan(sizes_B=list(range(20))), fake_launch("dies", "0"))
    assert sizes(campaign) == []
    assert len(outcome.failures) == 3


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hockney.campaign.loop.LEAST_WAIT_S", 0.2)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("operation", ["pingpong", "bcast"])
def test_what_the_campaigns_time_ended_is_left_out_and_no_failure(tmp_path: Path, operation: str) -> None:
    begin_s = time.monotonic()
    asked = plan(operations=[operation], sizes_B=[8, 64], time_limit_s=100.0, time_s=2.0, budget_s=0.05)
    campaign, outcome, watcher = measured(tmp_path / "c", asked, fake_launch("hangs", "1"))
    # Two seconds, twice the budget and the end of the launch; not the 60 or 100 s that a hang is given.
    assert time.monotonic() - begin_s < 40
    assert outcome.failures == []
    assert (outcome.measured, outcome.left_out) == (1, 1)
    assert not outcome.is_whole
    assert outcome.why == "its time (--time) was over"
    (line,) = campaign.failures()
    assert not line.reason
    assert "as the campaign's time was over" in line.left_out
    assert sum("as the campaign's time was over" in text for text in watcher.warnings) == 1
    (told,) = unmeasured(campaign.records(), campaign.failures())
    assert line.left_out in told
    campaign, outcome, _ = measured(tmp_path / "c", asked)
    assert outcome.is_whole
    assert set(sizes(campaign)) == {8, 64}
    assert unmeasured(campaign.records(), campaign.failures()) == []


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("operation", ["pingpong", "bcast"])
def test_what_had_most_of_two_runs_and_did_not_answer_is_a_failure(tmp_path: Path, operation: str) -> None:
    # With a --time below what a hang is given, every run would leave it out, and none would say that it hangs.
    asked = plan(operations=[operation], sizes_B=[8], algorithms=["binomial"], time_s=3.0, budget_s=0.05)
    _, outcome, _ = measured(tmp_path / "c", asked, fake_launch("hangs", "0"))
    assert outcome.failures == []
    if operation == "bcast":
        file = tmp_path / "c/failures.jsonl"
        file.write_text(file.read_text().replace('"core"', '""'))  # as an older version wrote it
    campaign, outcome, _ = measured(tmp_path / "c", asked, fake_launch("hangs", "0"))
    (failure,) = outcome.failures
    assert "as the campaign's time was over, not for the first time" in failure
    assert outcome.why == failure
    assert [bool(line.reason) for line in campaign.failures()] == [False, True]
    (found,) = of_results(read(campaign.path), "results")
    assert "did not end" in found.text


@pytest.mark.usefixtures("impatient")
def test_another_point_that_the_time_ended_is_no_failure(tmp_path: Path) -> None:
    asked = plan(sizes_B=[8, 64], time_s=3.0, budget_s=0.05)
    campaign, _, _ = measured(tmp_path / "c", asked, fake_launch("hangs", "1"))
    hung = campaign.failures()[0]
    campaign.append(hung.model_copy(update={"bytes": 4096}))
    (tmp_path / "c" / "failures.jsonl").write_text(
        "\n".join((tmp_path / "c" / "failures.jsonl").read_text().splitlines()[1:]) + "\n"
    )
    _, outcome, _ = measured(tmp_path / "c", asked, fake_launch("hangs", "0"))
    assert (outcome.failures, outcome.why) == ([], "its time (--time) was over")


@pytest.mark.usefixtures("impatient")
def test_what_the_campaigns_time_ended_comes_last_in_the_next_run(tmp_path: Path) -> None:
    # A collective that hangs would otherwise take all of each run's time, and the others never have their turn.
    sizes_B = [8, 64]
    asked = plan(operations=["bcast"], algorithms=["binomial", "lib:linear"], sizes_B=sizes_B, time_s=1.5)
    first, _, _ = measured(tmp_path / "c", asked, fake_launch("hangs", "0"))
    hung = getattr(first.failures()[0].series, "algorithm", "")
    again, _, _ = measured(tmp_path / "c", asked.model_copy(update={"time_s": None}))
    order = list(dict.fromkeys(record.algorithm for record in again.records()))
    assert order[-1] == hung


@pytest.mark.usefixtures("impatient")
def test_what_a_jobs_time_ended_goes_on_in_the_next(tmp_path: Path) -> None:
    asked = plan(sizes_B=[0, 8], time_limit_s=100.0, budget_s=0.05)
    campaign, outcome, _ = measured(tmp_path / "c", asked, fake_launch("hangs", "1"), job_s=2.0)
    assert (outcome.measured, outcome.failures, outcome.job_is_over) == (1, [], True)
    assert outcome.why == "the job's time was over"
    assert "as the job's time was over" in campaign.failures()[0].left_out
    _, outcome, _ = measured(tmp_path / "c", asked, job_s=60.0)
    assert (outcome.measured, outcome.is_whole) == (1, True)


def test_a_launch_that_the_campaigns_time_did_not_let_start_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hockney.campaign.loop.LEAST_START_S", 0.5)
    campaign, outcome, _ = measured(tmp_path / "c", plan(sizes_B=[0, 8], time_s=0.5), fake_launch("silent"))
    assert (outcome.measured, outcome.failures) == (0, [])
    # A pair of ranks at two sizes: in each locality of this host, as no launch has said which it has.
    localities = len(inventory().localities[:1]) or 1
    assert outcome.left_out == 2 * localities
    assert "starting the launch" in campaign.failures()[0].left_out


def test_launches_that_were_not_begun_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The time ends between two launches, where no asker sees it.
    closed = Session.close

    def slowly(session: Session) -> None:
        closed(session)
        time.sleep(2.0)

    monkeypatch.setattr(Session, "close", slowly)
    asked = plan(launches=3, sizes_B=[0, 8], time_s=2.0, budget_s=0.02)
    _, outcome, _ = measured(tmp_path / "c", asked)
    assert (outcome.measured, outcome.left_out, outcome.is_whole) == (2, 4, False)


def test_each_variant_has_its_share_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first would have visits for all of it; the clock goes on by looks at it, however slow the machine."""
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=count(step=0.01).__next__))
    asked = plan(sizes_B=[8 * n for n in range(40)], visits=1000, time_s=6.0, budget_s=0.02)
    names = ("a", "b", "c")
    campaign, outcome, _ = measured(tmp_path / "c", asked, *(fake_launch(variant=name) for name in names))
    visits = [sum(record.variant == name for record in campaign.records()) for name in names]
    assert min(visits) > 0
    assert outcome.left_out > 0


def test_of_launches_that_are_not_reached_again_only_what_is_missing_is_left_out(tmp_path: Path) -> None:
    asked = plan(launches=3, sizes_B=[0, 8])
    campaign, outcome, _ = measured(tmp_path / "c", asked)
    assert outcome.is_whole
    # Of the last launch a point is missing, and nobody wrote down that the campaign was whole.
    (campaign.path / "ended.json").unlink()
    lines = (campaign.path / "records.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (campaign.path / "records.jsonl").write_text("".join(lines[:-1]), encoding="utf-8")
    _, outcome, _ = measured(tmp_path / "c", asked, job_s=0.0)
    assert (outcome.measured, outcome.left_out, outcome.is_whole) == (0, 1, False)


def test_a_whole_campaign_stays_whole_without_time(tmp_path: Path) -> None:
    asked = plan(launches=3)
    assert measured(tmp_path / "c", asked)[1].is_whole
    _, outcome, _ = measured(tmp_path / "c", asked, job_s=0.0)
    assert (outcome.measured, outcome.left_out, outcome.is_whole) == (0, 0, True)


def test_a_hang_ends_at_the_time_limit(tmp_path: Path) -> None:
    start = time.monotonic()
    campaign, outcome, _ = measured(
        tmp_path / "c", plan(sizes_B=[0, 8], time_limit_s=1.0), fake_launch("hangs", "1")
    )
    assert len(sizes(campaign)) == 1
    # Twice the point's budget of 1 s and the limit: what was really waited.
    assert "no answer within 3 s" in outcome.failures[0]
    assert (outcome.left_out, outcome.is_whole) == (0, False)
    # The limit once, and the supervisor's grace; far below the 600 s that the runner would sleep.
    assert time.monotonic() - start < 60


def test_a_launch_that_never_speaks_is_not_tried_again(tmp_path: Path) -> None:
    _, outcome, _ = measured(tmp_path / "c", plan(time_limit_s=1.0), fake_launch("silent"))
    assert len(outcome.failures) == 1
    assert "starting the launch" in outcome.failures[0]


def test_the_launchers_own_words_reach_the_user(tmp_path: Path) -> None:
    _, outcome, _ = measured(tmp_path / "c", plan(), fake_launch("stillborn"))
    assert "exit code 213" in outcome.failures[0]
    assert "not enough slots available" in outcome.failures[0]


def test_garbage_ends_the_launch_not_the_campaign(tmp_path: Path) -> None:
    campaign, outcome, _ = measured(tmp_path / "c", plan(sizes_B=[0, 1, 2]), fake_launch("garbage", "1"))
    assert sizes(campaign) == [0, 2]
    assert "damaged" in outcome.failures[0]


def test_a_size_that_does_not_fit_is_refused_and_the_rest_measured(tmp_path: Path) -> None:
    campaign, outcome, _ = measured(tmp_path / "c", plan(sizes_B=[8, 2000, 16]), fake_launch("refuses"))
    assert sizes(campaign) == [8, 16]
    assert "memory is free" in outcome.failures[0]
    assert len(campaign.launches()) == 1


def test_a_time_that_vanishes_at_one_visit_is_measured_at_the_next(tmp_path: Path) -> None:
    campaign, outcome, _ = measured(
        tmp_path / "c", plan(sizes_B=[0, 8, 64], visits=2), fake_launch("vanishes", "8", "1")
    )
    assert sizes(campaign) == [0, 0, 8, 64, 64]
    assert (outcome.failures, outcome.vanished, campaign.failures()) == ([], [], [])


def test_a_time_that_always_vanishes_is_no_failure_and_is_named_until_it_is_measured(tmp_path: Path) -> None:
    asked = plan(sizes_B=[0, 8, 64], visits=2)
    campaign, outcome, _ = measured(tmp_path / "c", asked, fake_launch("vanishes", "8", "9"))
    assert sizes(campaign) == [0, 0, 64, 64]
    assert (outcome.measured, outcome.failures) == (4, [])
    gone = ["pingpong cache, 8 B: vanishes in the noise"]
    assert outcome.vanished == unmeasured(campaign.records(), campaign.failures()) == gone
    campaign, outcome, _ = measured(tmp_path / "c", asked)
    assert sizes(campaign) == [0, 0, 8, 8, 64, 64]
    assert unmeasured(campaign.records(), campaign.failures()) == []


@pytest.mark.parametrize("fatal", [[], ["2"]], ids=["the launch lives", "the launch dies"])
def test_a_time_that_vanished_is_named_where_the_budget_ends_before_the_next_visit(
    tmp_path: Path, fatal: list[str]
) -> None:
    # The first pass takes visits as short as it must; 500 s for a second visit are more than the campaign has.
    asked = plan(sizes_B=[0, 8, 64], visits=2, budget_s=1000.0, time_s=100.0)
    campaign, outcome, watcher = measured(tmp_path / "c", asked, fake_launch("vanishes", "8", "1", *fatal))
    assert 8 not in sizes(campaign)
    named = "pingpong cache, 8 B: vanishes in the noise; no other visit was made"
    assert named in unmeasured(campaign.records(), campaign.failures())
    # A failure ends the command with exit code 4.
    assert named in outcome.failures
    assert named in [text.partition(" (")[0] for text in watcher.warnings]
    campaign, outcome, _ = measured(tmp_path / "c", asked)
    assert unmeasured(campaign.records(), campaign.failures()) == []


def test_a_time_that_vanished_is_named_where_the_launch_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hockney.campaign.loop.MOST_FAILURES", 1)
    campaign, outcome, _ = measured(
        tmp_path / "c", plan(sizes_B=[0, 8, 64], visits=2), fake_launch("vanishes", "8", "1", "2")
    )
    missing = unmeasured(campaign.records(), campaign.failures())
    (measured_B,) = sizes(campaign)
    assert sorted(text.partition(": ")[0] for text in missing) == sorted(
        f"pingpong cache, {size} B" for size in {0, 8, 64} - {measured_B}
    )
    assert len(outcome.failures) == 2


def test_a_size_that_refinement_asks_for_may_vanish(tmp_path: Path) -> None:
    # The switch after 4096 B is bracketed from the middle of 4 KiB and 16 KiB.
    campaign, outcome, _ = measured(tmp_path / "c", plan(), fake_launch("vanishes", "8192", "99"))
    assert outcome.vanished == ["pingpong cache, 8 KiB: vanishes in the noise"]
    assert 8192 not in sizes(campaign)


def test_what_failed_is_named_until_it_is_measured(tmp_path: Path) -> None:
    asked = plan(sizes_B=[8, 2000])
    campaign, _, _ = measured(tmp_path / "c", asked, fake_launch("refuses"))
    [told] = unmeasured(campaign.records(), campaign.failures())
    assert told.startswith("pingpong cache, 2000 B: ")
    assert "memory is free" in told
    campaign, _, _ = measured(tmp_path / "c", asked)
    assert unmeasured(campaign.records(), campaign.failures()) == []


def test_a_variant_that_fails_leaves_the_other(tmp_path: Path) -> None:
    campaign, outcome, _ = measured(
        tmp_path / "c",
        plan(sizes_B=[8]),
        fake_launch("stillborn", variant="bad"),
        fake_launch("good", variant="good"),
    )
    assert sizes(campaign, variant="good") == [8]
    assert len(outcome.failures) == 1


def test_resume_measures_only_what_is_missing(tmp_path: Path) -> None:
    asked = plan()
    campaign, _, _ = measured(tmp_path / "c", asked)
    whole = sizes(campaign)
    path = campaign.path / "records.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:5]) + lines[5][:40])
    again, outcome, watcher = measured(tmp_path / "c", asked)
    assert outcome.measured == len(whole) - 5
    assert sizes(again) == whole
    assert any("damaged line" in text for text in watcher.warnings)
    _, nothing, _ = measured(tmp_path / "c", asked)
    assert nothing.measured == 0


def test_resume_with_another_library_is_refused(tmp_path: Path) -> None:
    measured(tmp_path / "c", plan(sizes_B=[8]))
    other = dataclasses.replace(fake_launch("good"), mpi_name="Fake MPI 2")
    with pytest.raises(RequestError, match="begun with Fake MPI 1; found now: Fake MPI 2"):
        measured(tmp_path / "c", plan(sizes_B=[8, 16]), other)


def test_an_unknown_operation_lists_the_known_ones(tmp_path: Path) -> None:
    with refusing("unknown operation 'pingpang'", "pingpong"):
        measured(tmp_path / "c", plan(operations=["pingpang"]))


def test_a_locality_the_placement_lacks_lists_those_there_are(tmp_path: Path) -> None:
    with refusing("no pair of ranks has locality 'network'", "cache"):
        measured(tmp_path / "c", plan(localities=["network"]))
