"""Runs of applications share a campaign's folder with other processes, and its plan with nobody."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from tests.factories import not_none, refusing

from hockney.apps import launched
from hockney.apps.launched import Launched, Told, opened, records
from hockney.campaign.loop import Asking, Running
from hockney.campaign.plan import AppLaunching, Launching, Plan
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign
from hockney.records.journal import StoredPlan


def asking_nothing(_: Launched) -> Asking[AppRecord]:
    yield from ()


def test_two_processes_do_not_run_into_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launched, "app_launches", lambda _: [SimpleNamespace(mpi_name="an MPI")])
    launching = AppLaunching(ranks=2, output=tmp_path / "runs")
    folder = not_none(opened(launching))
    with Campaign(folder.path).locked(), pytest.raises(RequestError, match="another process is writing"):
        records(Told(print, print), asking_nothing, launching)


def test_a_run_says_what_it_is_before_it_begins() -> None:
    running = SimpleNamespace(
        recorded=lambda: "a", hello=SimpleNamespace(apps=["ring"]), launch=SimpleNamespace(variant="tcp")
    )
    request = Launched(Launching(ranks=4), cast(Running, running)).request("ring", {}, 2)
    assert not_none(request.progress).doing == "ring on 2 ranks, tcp"


def test_runs_are_no_campaign_to_resume(tmp_path: Path) -> None:
    folder = not_none(opened(AppLaunching(ranks=2, output=tmp_path / "runs")))
    with refusing("the plan of `hockney run`", "hockney run"):
        Plan.stored(folder.plan(), folder.path)
    plan = Plan(ranks=2)
    assert Plan.stored(StoredPlan.of(plan.model_dump()), folder.path) == plan
