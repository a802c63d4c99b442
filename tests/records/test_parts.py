"""Parts of a campaign: each job writes its own, every reader joins them, and plans do not mix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests import factories
from tests.campaign.fake_campaign import plan

from hockney.campaign.trust import doubt
from hockney.errors import RequestError
from hockney.records.folder import Campaign
from hockney.records.journal import Ended
from hockney.records.record import Record

PLAN = plan().model_dump()


def record(time: str, size_B: int) -> Record:
    return factories.record(size_B, time=time, system="s", mpi="m", ranks=2)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_jobs_write_apart_and_are_read_together_in_order(tmp_path: Path) -> None:
    Campaign.create(tmp_path / "c", PLAN).append(record("2026-01-01T00:00:02Z", 2))
    one, two = (Campaign.open(tmp_path / "c", job) for job in ("17", "18"))
    with one.locked(), two.locked():
        one.append(record("2026-01-01T00:00:03Z", 3))
        two.append(record("2026-01-01T00:00:01Z", 1))
    for campaign in (one, two, Campaign.open(tmp_path / "c")):
        assert [one.bytes for one in campaign.records()] == [1, 2, 3]
    assert len((tmp_path / "c/records.jsonl").read_text().splitlines()) == 1
    assert len((tmp_path / "c/parts/17/records.jsonl").read_text().splitlines()) == 1
    # A part is a campaign by itself.
    assert [one.bytes for one in Campaign.open(tmp_path / "c/parts/18").records()] == [1]


def test_a_second_job_of_the_same_plan_joins(tmp_path: Path) -> None:
    Campaign.create(tmp_path / "c", PLAN, "17").append(record("", 1))
    Campaign.create(tmp_path / "c", PLAN, "18").append(record("", 2))
    assert len(Campaign.open(tmp_path / "c").records()) == 2
    with pytest.raises(RequestError, match="already holds a campaign"):
        Campaign.create(tmp_path / "c", PLAN)


def test_a_job_of_another_plan_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    Campaign.create(tmp_path / "c", PLAN, "17").append(record("", 1))
    before = tree(tmp_path)
    with pytest.raises(RequestError, match="holds a campaign with another plan: ranks 4, not 2") as told:
        Campaign.create(tmp_path / "c", {**PLAN, "ranks": 4}, "18")
    assert "\n" not in told.value.message
    assert tree(tmp_path) == before


def test_of_two_jobs_that_begin_at_once_with_other_plans_one_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second comes between the first one's look at the folder and its plan: both plans were written."""
    begun = Campaign._begun.__func__  # type: ignore[attr-defined]

    def late(kind: type[Campaign], path: Path, asked: dict[str, Any]) -> Campaign:
        monkeypatch.setattr(Campaign, "_begun", classmethod(begun))
        Campaign.create(path, {**PLAN, "ranks": 4}, "18").append(record("", 2))
        return begun(kind, path, asked)  # type: ignore[no-any-return]

    monkeypatch.setattr(Campaign, "_begun", classmethod(late))
    with pytest.raises(RequestError, match=r"parts/18 was measured by another plan.*: ranks 4, not 2"):
        Campaign.create(tmp_path / "c", PLAN, "17")
    # Every reader says so; what either measured is there, and can be read when it is moved away.
    with pytest.raises(RequestError, match="parts/18"):
        Campaign.open(tmp_path / "c")
    (tmp_path / "c/parts/18").rename(tmp_path / "elsewhere")
    assert Campaign.open(tmp_path / "c").records() == []
    assert len(Campaign.open(tmp_path / "elsewhere").records()) == 1


def test_how_each_part_ended_is_kept_apart(tmp_path: Path) -> None:
    Campaign.create(tmp_path / "c", PLAN, "17").end(Ended(time="1", whole=False, why="the job's time was over"))
    Campaign.open(tmp_path / "c", "18").end(Ended(time="2", whole=True))
    Campaign.open(tmp_path / "c", "19")
    ends = Campaign.open(tmp_path / "c").ends()
    assert {job: one.whole for job, one in ends.items()} == {"17": False, "18": True}


def test_a_link_in_a_part_needs_trust(tmp_path: Path) -> None:
    Campaign.create(tmp_path / "c", PLAN, "17")
    (tmp_path / "c/parts/18").symlink_to(tmp_path)
    assert "holds links" in doubt(tmp_path / "c", plan())
