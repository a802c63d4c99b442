"""A further campaign: what is left of it where it is ended, and that it goes on with its own plan alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from tests.factories import refusing
from tests.tune.planted import record

from hockney.campaign.further import measure_into
from hockney.campaign.outcome import Outcome
from hockney.campaign.plan import Plan
from hockney.errors import Incomplete, RequestError
from hockney.records.folder import Campaign
from hockney.terminal import say
from hockney.terminal.signals import Interrupted

WATCHING = partial(say.PointsBar, quiet=True)
PLAN = Plan(ranks=8, operations=["bcast"], sizes_B=[64])


def test_what_was_measured_is_kept_and_the_same_command_goes_on(tmp_path: Path) -> None:
    plans = []

    def run(campaign: Campaign, plan: Plan, *_: object) -> Outcome:
        plans.append(plan)
        campaign.append(record(64, 1e-5, repetition=len(plans) - 1))
        if len(plans) == 1:
            raise Interrupted("SIGTERM")
        return Outcome(measured=1)

    with patch("hockney.campaign.further.prepare", lambda _: []), patch("hockney.campaign.further.run", run):
        with refusing("SIGTERM ended the verification", "same command again", kind=Incomplete):
            measure_into(PLAN, tmp_path / "c", "the verification", WATCHING, goes_on=True)
        assert (tmp_path / "c" / "samples.csv").exists()
        assert measure_into(PLAN, tmp_path / "c", "the verification", WATCHING, goes_on=True).measured == 1
        assert len(Campaign.open(tmp_path / "c").records()) == 2
        other = PLAN.model_copy(update={"sizes_B": [128]})
        with pytest.raises(RequestError, match="asks for something else"):
            measure_into(other, tmp_path / "c", "the verification", WATCHING, goes_on=True)
        with pytest.raises(RequestError, match="already holds a campaign"):
            measure_into(PLAN, tmp_path / "c", "the second campaign", WATCHING)
    assert plans == [PLAN, PLAN]
    assert len(Campaign.open(tmp_path / "c").records()) == 2


def test_another_library_is_not_measured(tmp_path: Path) -> None:
    launch = SimpleNamespace(mpi_name="Open MPI 4.1.6")
    with (
        patch("hockney.campaign.further.prepare", lambda _: [launch]),
        pytest.raises(
            RequestError, match=r"are of Open MPI 5.0.11, and the verification would launch Open MPI 4"
        ),
    ):
        measure_into(PLAN, tmp_path / "c", "the verification", WATCHING, mpi="Open MPI 5.0.11")
    assert not (tmp_path / "c").exists()


def test_nothing_measured_is_said_with_the_reason(tmp_path: Path) -> None:
    outcome = Outcome(failures=["no slots"])
    with (
        patch("hockney.campaign.further.prepare", lambda _: []),
        patch("hockney.campaign.further.run", lambda *_: outcome),
        pytest.raises(Incomplete, match=r"nothing could be measured into .*: no slots"),
    ):
        measure_into(PLAN, tmp_path / "c", "the verification", WATCHING)
