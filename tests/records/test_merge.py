"""Merging keeps every record once and numbers repeats on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.factories import campaign, record

from hockney.errors import RequestError
from hockney.records.answers import Answer
from hockney.records.app_record import AppRecord
from hockney.records.effect_answers import MatchingAnswer
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import RECORDS, Campaign
from hockney.records.merge import merge


def make(path: Path, *points: tuple[int, int, float]) -> Path:
    """A campaign with (bytes, repetition, seconds)."""
    records = [record(size_B, time_s, repetition=number, launch=path.name) for size_B, number, time_s in points]
    return campaign(path, records, {"id": path.name}, plan={"ranks": 2})


def test_repeats_become_further_repetitions(tmp_path: Path) -> None:
    a = make(tmp_path / "a", (8, 0, 1e-6), (8, 1, 2e-6), (64, 0, 3e-6))
    b = make(tmp_path / "b", (8, 0, 4e-6), (128, 0, 5e-6))
    before = (a / RECORDS).read_bytes()
    merged = merge([a, b], tmp_path / "c")
    found = {(record.bytes, record.repetition): record.value for record in merged.records}
    assert found == {(8, 0): 1e-6, (8, 1): 2e-6, (64, 0): 3e-6, (8, 2): 4e-6, (128, 0): 5e-6}
    assert [launch.id for launch in merged.launches] == ["a", "b"]
    assert (a / RECORDS).read_bytes() == before


def test_a_shared_record_is_taken_once(tmp_path: Path) -> None:
    a = make(tmp_path / "a", (8, 0, 1e-6))
    b = make(tmp_path / "b", (16, 0, 1e-6))
    ab = merge([a, b], tmp_path / "ab").path
    again = merge([ab, a], tmp_path / "aba")
    assert len(again.records) == 2
    assert len(again.launches) == 2


def test_a_shared_record_that_was_numbered_on_is_taken_once(tmp_path: Path) -> None:
    a, b = (make(tmp_path / name, (8, 0, 1e-6)) for name in ("a", "b"))
    ab = merge([a, b], tmp_path / "ab").path
    again = merge([ab, b], tmp_path / "abb")
    assert [(record.launch, record.repetition) for record in again.records] == [("a", 0), ("b", 1)]


def test_repetitions_of_one_source_that_are_alike_are_all_kept(tmp_path: Path) -> None:
    a = make(tmp_path / "a", (8, 0, 1e-6), (8, 1, 1e-6))
    b = make(tmp_path / "b", (16, 0, 1e-6))
    assert len(merge([a, b], tmp_path / "ab").records) == 3


def test_runs_and_answers_about_effects_are_kept_too(tmp_path: Path) -> None:
    asked = {"queue": "posted", "source": "named", "by": "tag", "ahead": 0, "behind": 0}
    paths = []
    for name in ("a", "b"):
        campaign = Campaign.create(tmp_path / name, {})
        campaign.append(
            AppRecord(operation="ring", ranks=2, parameters={}, time_s=1e-6, answer=Answer(), launch=name)
        )
        campaign.append(
            EffectRecord(effect="matching", parameters=asked, answer=MatchingAnswer(time_s=1e-6), launch=name)
        )
        paths.append(campaign.path)
    merged = merge(paths, tmp_path / "c")
    assert [run.launch for run in merged.apps] == ["a", "b"]
    assert [(answer.launch, answer.repetition) for answer in merged.effects] == [("a", 0), ("b", 1)]
    again = merge([merged.path, tmp_path / "b"], tmp_path / "d")
    assert [run.launch for run in again.apps] == ["a", "b"]
    assert len(again.effects) == 2


def test_what_cannot_be_merged_is_said(tmp_path: Path) -> None:
    a = make(tmp_path / "a", (8, 0, 1e-6))
    empty = Campaign.create(tmp_path / "empty", {}).path
    with pytest.raises(RequestError, match="holds no records"):
        merge([a, empty], tmp_path / "c")
    with pytest.raises(RequestError, match="not a campaign"):
        merge([a, tmp_path / "nowhere"], tmp_path / "c")
    with pytest.raises(RequestError, match="named twice"):
        merge([a, a], tmp_path / "c")
    assert not (tmp_path / "c").exists()
    b = make(tmp_path / "b", (8, 0, 1e-6))
    with pytest.raises(RequestError, match="already holds"):
        merge([a, b], a)
