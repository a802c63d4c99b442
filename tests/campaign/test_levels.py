"""Campaigns on a machine that changes its level: visits wait for it, launches that missed it are made again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.campaign.fake_campaign import fake_launch, measured, plan, sizes

from hockney.campaign import work
from hockney.machine.build import reviewed
from hockney.machine.locality import read
from hockney.records import table


def test_modes_that_no_reference_sees_are_said_at_the_end(tmp_path: Path) -> None:
    sizes_B = [1 << exponent for exponent in range(17)]
    asked = plan(visits=4, sizes_B=sizes_B)
    campaign, _, _ = measured(tmp_path / "c", asked, fake_launch("flips", "1024"))
    (said,) = [text for text in reviewed(read(campaign.path))[1].warnings if "a slow state" in text]
    assert "1 KiB to 64 KiB, 1.4 × as long" in said
    assert len(campaign.records()) >= 4 * len(sizes_B)
    quiet, _, watcher = measured(tmp_path / "d", asked, fake_launch("good"))
    assert watcher.warnings == []
    assert "a slow state" not in str(reviewed(read(quiet.path)))


def test_visits_at_the_common_level_count(tmp_path: Path) -> None:
    # The fake machine is twice as slow for its first ten answers: for as many of the ladder 0, 1, 4, … 64 KiB.
    asked = plan(visits=2, ladder_ratio=4)
    campaign, outcome, _ = measured(tmp_path / "c", asked, fake_launch("drifts", "10"))
    frame = table.load(campaign.path)
    assert outcome.measured == len(campaign.records()) > len(frame)
    assert len(frame) == len(set(sizes(campaign)))
    for size, time_us in zip(frame["bytes"], frame["time_s"] * 1e6, strict=True):
        assert time_us == pytest.approx(1 + size / 1e4 + (3 if size > 4096 else 0)), "the machine's common curve"
    (warning,) = (text for text in reviewed(read(campaign.path))[1].warnings if "changed its speed" in text)
    assert warning.endswith("2 × as long, cause not seen."), "the fake machine's kernel tells nothing"


@pytest.mark.parametrize(("late", "launches"), [(0, 3), (2, 5)])
def test_a_launch_at_another_level_is_made_again(tmp_path: Path, late: int, launches: int) -> None:
    """Of the first three launches so many find the machine twice as slow."""
    launch = fake_launch("late", str(tmp_path / "count"), str(late))
    campaign, outcome, watcher = measured(tmp_path / "c", plan(launches=3, visits=2), launch)
    assert len(campaign.launches()) == launches
    count = len(set(sizes(campaign)))
    again = [text for text in watcher.warnings if "fewer than 3 launches" in text]
    assert len(again) == min(late, 1), "the same words are said once"
    for text in again:
        assert text.startswith(
            f"{count} of {count} points were met at the level asked for (common) by fewer than 3"
        )
        assert text.endswith("launches of default: one more is made for them")
    assert outcome.failures == []
    frame = table.load(campaign.path)
    assert set(frame.groupby("bytes").size()) == {3}, "as many launches count as were asked for"
    for size, time_us in zip(frame["bytes"], frame["time_s"] * 1e6, strict=True):
        assert time_us == pytest.approx(1 + size / 1e4 + (3 if size > 4096 else 0)), "the machine's common curve"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a level that does not come back."""
    monkeypatch.setattr(work, "MOST_WAIT_S", 0.1)


@pytest.mark.usefixtures("impatient")
def test_a_launch_is_made_again_for_the_points_that_lack_it(tmp_path: Path) -> None:
    # Each launch meets the quietest level for its first six answers: in the first three for the same sizes.
    asked = plan(launches=3, visits=1, level="quietest", sizes_B=[1 << exponent for exponent in range(12)])
    campaign, outcome, watcher = measured(tmp_path / "c", asked, fake_launch("rises", "6"))
    visited = [set(sizes(campaign, repetition=index)) for index in range(5)]
    assert [len(of_launch) for of_launch in visited] == [12, 12, 12, 6, 6]
    assert visited[3] == visited[4]
    assert [text[:10] for text in watcher.warnings if "fewer than 3" in text] == ["6 of 12 po"] * 2
    frame = table.load(campaign.path)
    assert sorted(frame.groupby("bytes").size()) == [2] * 6 + [3] * 6
    assert frame["time_s"].max() == pytest.approx(1e-6 + 2048 / 1e10), "none of the slow level"
    assert outcome.failures == [], "every point was met"


@pytest.mark.usefixtures("impatient")
def test_launches_are_not_made_again_for_ever(tmp_path: Path) -> None:
    launch = fake_launch("late", str(tmp_path / "count"), "-1")
    asked = plan(launches=3, level="quietest", sizes_B=[1 << exponent for exponent in range(12)])
    campaign, outcome, watcher = measured(tmp_path / "c", asked, launch)
    assert len(campaign.launches()) == 5
    said = watcher.warnings[-1]
    assert said.endswith("by fewer than 3 launches of default: their intervals rest on fewer")
    assert outcome.failures == [], "every point was met"
    resumed, _, watcher = measured(tmp_path / "c", asked, launch)
    assert {record.repetition for record in resumed.records()} == set(range(5))
    assert watcher.warnings[-1] == said
    assert not any("one more is made" in text for text in watcher.warnings), "what is there is not made again"


@pytest.mark.usefixtures("impatient")
def test_where_all_levels_are_asked_for_launches_are_made_again_for_each(tmp_path: Path) -> None:
    """The first of three is twice as slow: the fourth is the third fast one, the fifth waits for the slow one."""
    launch = fake_launch("late", str(tmp_path / "count"), "1")
    campaign, _, watcher = measured(tmp_path / "c", plan(launches=3, level="all"), launch)
    again = [text for text in watcher.warnings if "fewer than 3 launches" in text]
    count = len(set(sizes(campaign)))
    assert again[0].startswith(f"{count} of {count} points were met at a level by fewer than 3")
    ends = [text.split(": ")[-1] for text in again]
    assert ends == ["one more is made for them", "their intervals rest on fewer"], "the same words are said once"
    assert [sizes(campaign, repetition=index) != [] for index in range(6)] == [*[True] * 5, False]


def test_only_the_variant_that_missed_the_level_is_launched_again(tmp_path: Path) -> None:
    late = fake_launch("late", str(tmp_path / "count"), "1", variant="late")
    campaign, _, watcher = measured(tmp_path / "c", plan(launches=3), fake_launch("good", variant="good"), late)
    assert [launch.variant for launch in campaign.launches()] == [*["good", "late"] * 3, "late"]
    (again,) = [text for text in watcher.warnings if "fewer than 3 launches" in text]
    assert again.endswith("launches of late: one more is made for them")
