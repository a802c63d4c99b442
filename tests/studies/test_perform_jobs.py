"""Several jobs at one study: what one does, another neither does again nor removes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.campaign.fake_campaign import Silent

from hockney.records.folder import Campaign
from hockney.studies import perform
from hockney.studies.asked import StudyRequest
from hockney.studies.files import find
from hockney.studies.perform import Done, Folder

DONE = Done(state="done", took_s=1.0, estimate_s=1.0)


def jobs_of_ring(path: Path, *jobs: str) -> list[Folder]:
    """The same study, opened by several jobs at once."""
    Folder.create(path, find("ring"), StudyRequest(name="ring", ranks=2, placements=["core"], nodes=[1]))
    return [Folder.open(path, job) for job in jobs]


def step_of_ring() -> Any:
    return SimpleNamespace(name="1-ring", verb="run ring", plan=None, models={}, estimate_s=1.0)


def app_that(runs: Callable[[], object]) -> SimpleNamespace:
    """A registry of one application, which only does this and finds nothing wrong."""

    def answer(*_: object) -> SimpleNamespace:
        runs()
        return SimpleNamespace(wrong=list, is_no=False)

    return SimpleNamespace(get=lambda _: SimpleNamespace(answer=answer))


def test_what_another_job_did_meanwhile_is_neither_done_again_nor_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = jobs_of_ring(tmp_path / "s", "17", "18")
    theirs, mine = (tmp_path / "s/steps/1-ring/parts" / job / "apps.jsonl" for job in ("17", "18"))
    for file in (theirs, mine):
        file.parent.mkdir(parents=True)
        file.write_text("{}\n")
    ran: list[bool] = []
    monkeypatch.setattr(perform, "apps", app_that(lambda: ran.append(mine.exists())))
    monkeypatch.setattr(Folder, "campaigns", lambda *_: [tmp_path])
    # Half a run of this job is made again, that of another job stays.
    perform.perform(two, [step_of_ring()], lambda _: nullcontext(Silent()))
    assert (ran, theirs.exists()) == ([False], True)
    two.state.steps.clear()
    (tmp_path / "s/parts/18/study.json").unlink()
    one.save("1-ring", DONE)
    perform.perform(two, [step_of_ring()], lambda _: nullcontext(Silent()))
    assert (len(ran), theirs.exists()) == (1, True)


def test_outside_of_jobs_nothing_runs_beside_a_job_that_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs_of_ring(tmp_path / "s", "17")
    path = tmp_path / "s/steps/1-ring"
    campaign = Campaign.create(path, {"ranks": 2}, "17")
    monkeypatch.setattr(perform, "apps", app_that(lambda: None))
    monkeypatch.setattr(Folder, "campaigns", lambda *_: [tmp_path])
    outside = Folder.open(tmp_path / "s")
    with campaign.locked():
        perform.perform(outside, [step_of_ring()], lambda _: nullcontext(Silent()))
    assert "another process is writing into" in outside.state.steps["1-ring"].why
    perform.perform(outside, [step_of_ring()], lambda _: nullcontext(Silent()))
    assert outside.is_done(step_of_ring())
    assert len(Campaign.open(path).parts) == 1


def test_a_job_that_goes_on_keeps_what_it_did_before(tmp_path: Path) -> None:
    (job,) = jobs_of_ring(tmp_path / "s", "17")
    job.save("a", DONE)
    Folder.open(tmp_path / "s", "17").save("b", DONE)
    assert set(Folder.open(tmp_path / "s").state.steps) == {"a", "b"}
