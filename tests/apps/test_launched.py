"""Runs of applications share a campaign's folder with other processes, and its plan with nobody."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from hockney.apps.launched import Launched, each, opened
from hockney.campaign.loop import Asking, Running
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
    with Campaign(folder.path).locked(), pytest.raises(RequestError, match="another process is writing"):
        each([], plan, folder, print, print, asking_nothing)
    assert each([], plan, folder, print, print, asking_nothing) == []


def test_a_run_says_what_it_is_before_it_begins() -> None:
    running = SimpleNamespace(
        recorded=lambda: "a", hello=SimpleNamespace(apps=["ring"]), launch=SimpleNamespace(variant="tcp")
    )
    request = Launched(Launching(ranks=4), cast(Running, running)).request("ring", {}, 2)
    assert request.progress is not None
    assert request.progress.doing == "ring on 2 ranks, tcp"


def test_runs_are_no_campaign_to_resume(tmp_path: Path) -> None:
    folder = opened(tmp_path / "runs", Launching(ranks=2).model_dump())
    assert folder is not None
    with pytest.raises(RequestError, match="the plan of `hockney run`") as caught:
        Plan.stored(folder.plan(), folder.path)
    assert "hockney run" in caught.value.hint
    plan = Plan(ranks=2)
    assert Plan.stored(plan.model_dump(), folder.path) == plan
