"""The campaign folder: what is appended stays, what is damaged is named, nothing is overwritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import factories

from hockney.errors import RequestError
from hockney.records.folder import LAUNCHES, PLAN, RECORDS, Campaign
from hockney.records.journal import FailureLine, LaunchLine, StoredPlan


def test_records_come_back_as_they_went(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c", {"ranks": 2})
    records = [factories.record(size) for size in (0, 8, 64)]
    for record in records:
        campaign.append(record)
    campaign.append(LaunchLine.model_validate({"id": "x"}))
    again = Campaign.open(tmp_path / "c")
    assert again.records() == records
    assert again.launches() == [LaunchLine(id="x")]
    assert again.plan() == StoredPlan(ranks=2)
    assert again.warnings == []


def test_an_existing_campaign_is_not_overwritten(tmp_path: Path) -> None:
    Campaign.create(tmp_path, {"ranks": 2}).append(factories.record())
    with pytest.raises(RequestError, match="already holds a campaign"):
        Campaign.create(tmp_path, {"ranks": 4})
    assert len(Campaign.open(tmp_path).records()) == 1
    assert Campaign.open(tmp_path).plan() == StoredPlan(ranks=2)


def test_a_folder_without_a_campaign_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="not a campaign folder"):
        Campaign.open(tmp_path)


@given(cut=st.integers(1, 80))
def test_a_line_cut_by_a_kill_loses_only_itself(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    campaign = Campaign.create(tmp_path_factory.mktemp("c") / "c", {})
    campaign.append(factories.record(1))
    campaign.append(factories.record(2))
    path = campaign.path / RECORDS
    path.write_bytes(path.read_bytes()[:-cut])
    campaign.append(factories.record(3))
    again = Campaign.open(campaign.path)
    sizes = [record.bytes for record in again.records()]
    assert sizes[0] == 1
    assert sizes[-1] == 3
    # Cutting only the line end loses nothing; more than that loses record 2 and says where.
    assert sizes == ([1, 2, 3] if cut == 1 else [1, 3])
    assert len(again.warnings) == (0 if cut == 1 else 1)
    if cut > 1:
        assert f"{RECORDS}:2" in again.warnings[0]


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "nonsense",
        '{"source": "hockney"',
        '{"source":"x","operation":"y","bytes":1,"statistic":"one_way","value":-1}',
    ],
)
def test_a_damaged_line_is_named_and_the_rest_is_read(tmp_path: Path, line: str) -> None:
    campaign = Campaign.create(tmp_path, {})
    campaign.append(factories.record(1))
    with (tmp_path / RECORDS).open("a") as file:
        file.write(line + "\n")
    campaign.append(factories.record(2))
    assert [record.bytes for record in campaign.records()] == [1, 2]
    assert len(campaign.warnings) == 1
    assert f"{RECORDS}:2: damaged line skipped" in campaign.warnings[0]


def test_a_damaged_plan_or_launch_is_an_error_in_words(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, {})
    (tmp_path / PLAN).write_text("{")
    with pytest.raises(RequestError, match="damaged"):
        campaign.plan()
    (tmp_path / LAUNCHES).write_text(json.dumps({"id": "a"}) + "\n[1]\n")
    assert campaign.launches() == [LaunchLine(id="a")]
    assert LAUNCHES in campaign.warnings[0]


LAUNCH = {
    "id": "a",
    "argv": ["x"],
    "ranks": [{"rank": 0, "host": "n"}],
    "hosts": [{"host": "n", "cpu_model": "c"}],
}
DAMAGED = [
    {"id": 7}, {"argv": "x"}, {"argv": None}, {"hosts": {}}, {"hosts": ["n"]}, {"hosts": [{"cpus": "many"}]},
    {"ranks": 5}, {"ranks": [{"host": "n"}]}, {"ranks": [{"rank": "first"}]},
    {"ranks": [{"rank": 0, "siblings": 1}]},
    {"ranks": [{"rank": 10**400}]}, {"environment": ["x"]}, {"settings": 1}, {"mpi": "Open MPI"}, {"warnings": 3},
    {"eager_limit_B": {"network": "big"}}, {"clock_granularity_s": "fine"}, {"metadata": {"x": 1e999}},
    {"news": {"deep": [10**400]}}, {"nodes": None}, {"nodes": [3]}, {"nodes": [{}]}, {"nodes": [{"hosts": "n1"}]},
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGED, ids=str)
def test_a_launch_of_wrong_types_is_named_and_skipped(tmp_path: Path, damage: dict[str, Any]) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    text = json.dumps(LAUNCH | damage).replace("Infinity", "1e999")
    (campaign.path / LAUNCHES).write_text(f"{text}\n{json.dumps(LAUNCH)}\n")
    assert campaign.launches() == [LaunchLine.model_validate(LAUNCH)]
    (warning,) = campaign.warnings
    assert warning.startswith(f"{campaign.path / LAUNCHES}:1: damaged line skipped (")


@pytest.mark.parametrize(
    "damage",
    [
        {"bytes": 2**63}, {"bytes": 10**400}, {"value": 5e-324}, {"value": 1e300}, {"ranks": 10**400},
        {"samples": [1e-6], "disturbed_at": [1]}, {"samples": [1e-6], "disturbed_at": [-1]},
        {"reference_s": [1e-6], "reference_iqr_s": []}, {"group_begins": [3, 1]},
        {"reference_s": [1e-6] * 5, "reference_iqr_s": [0.0] * 5, "group_begins": [0]},
        {"reference_s": [1e-6] * 2, "reference_iqr_s": [0.0] * 2, "group_begins": [0], "large_reference_s": [1]},
    ],
    ids=str,
)  # fmt: skip
def test_a_record_of_absurd_numbers_is_named_and_skipped(tmp_path: Path, damage: dict[str, Any]) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    good = factories.record().model_dump(exclude_defaults=True)
    (campaign.path / RECORDS).write_text(f"{json.dumps(good | damage)}\n{json.dumps(good)}\n")
    assert campaign.records() == [factories.record()]
    assert len(campaign.warnings) == 1


def test_a_failure_names_a_whole_series(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    series = {"operation": "pingpong", "locality": "cache", "leader": 0, "follower": 1, "cache": "warm"}
    good = {"series": series, "bytes": 8, "reason": "r"}
    lines = [good, good | {"series": {"operation": "pingpong"}}, good | {"bytes": "many"}]
    (campaign.path / "failures.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert campaign.failures() == [FailureLine.model_validate(good)]
    assert len(campaign.warnings) == 2


def test_a_link_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    (tmp_path / "elsewhere").write_text(factories.record().model_dump_json() + "\n")
    (campaign.path / RECORDS).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RequestError, match=r"records\.jsonl is a link out of its folder"):
        campaign.records()
