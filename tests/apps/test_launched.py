"""Runs of applications share a campaign's folder with other processes, and its plan with nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.apps.launched import Launched, each, opened
from hockney.campaign.loop import Asking
from hockney.campaign.plan import Launching, Plan
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign


def asking_nothing(_: Launched) -> Asking[AppRecord]:
    yield from ()


def test_two_processes_do_not_run_into_one_folder(tmp_path: Path) -> None:
    plan = Launching(ranks=2)
    folder = opened(tmp_path / "runs", plan.model_dump())
    assert folder is not None
    with Campaign(folder.path).locked(), pytest.raises(RequestError, match="another process is measuring"):
        each([], plan, folder, print, asking_nothing)
    assert each([], plan, folder, print, asking_nothing) == []


def test_runs_are_no_campaign_to_resume(tmp_path: Path) -> None:
    folder = opened(tmp_path / "runs", Launching(ranks=2).model_dump())
    assert folder is not None
    with pytest.raises(RequestError, match="the plan of `hockney run`") as caught:
        Plan.stored(folder.plan(), folder.path)
    assert "hockney run" in caught.value.hint
    plan = Plan(ranks=2)
    assert Plan.stored(plan.model_dump(), folder.path) == plan
