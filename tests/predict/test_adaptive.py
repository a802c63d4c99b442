"""Adaptive campaigns: fewer points for the same decisions, the same next point after an interruption."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.campaign.fake_campaign import measured
from tests.campaign.test_collectives import plan, points
from tests.command_line import refusal

from hockney.campaign.outcome import Outcome
from hockney.predict.adaptive import Adaptive
from hockney.records.folder import Campaign

RANKS = [2, 4, 8, 16, 24, 32, 48, 64]
SIZES = [8, 32, 128, 512, 2048, 8192, 32768]
ASKED = {"ranks": 64, "rank_counts": RANKS, "sizes_B": SIZES, "algorithms": ["binomial", "stepped"]}
EVERYTHING = 2 * len(RANKS) * len(SIZES)


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Campaign, Outcome]:
    """What an adaptive campaign measured, and its outcome. Not to be changed."""
    made = measured(tmp_path_factory.mktemp("chosen") / "c", plan(adaptive=True, **ASKED), chooser=Adaptive)
    return made[:2]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """The same points without a choice. Not to be changed."""
    return measured(tmp_path_factory.mktemp("everything") / "c", plan(**ASKED), chooser=Adaptive)[0]


def test_fewer_points_and_the_step_is_found(chosen: tuple[Campaign, Outcome], everything: Campaign) -> None:
    """`stepped` is as fast as `binomial` up to 40 ranks and 40 µs slower above."""
    campaign, outcome = chosen
    found = points(campaign)
    assert outcome.left_out == 0
    assert outcome.failures == []
    assert len(found) < EVERYTHING / 2
    # What is decided above 40 ranks was looked at there.
    assert any(name == "stepped" and ranks is not None and ranks > 40 for _, name, ranks, _ in found)
    assert len(points(everything)) == EVERYTHING


def test_a_settled_campaign_has_nothing_left_when_it_is_resumed(
    chosen: tuple[Campaign, Outcome], tmp_path: Path
) -> None:
    shutil.copytree(chosen[0].path, tmp_path / "c")
    again, outcome, _ = measured(tmp_path / "c", plan(adaptive=True, **ASKED), chooser=Adaptive)
    assert outcome.measured == 0
    assert points(again) == points(chosen[0])


def test_an_interrupted_campaign_goes_on_as_if_nothing_had_happened(
    chosen: tuple[Campaign, Outcome], tmp_path: Path
) -> None:
    asked, whole = plan(adaptive=True, **ASKED), chosen[0]
    lines = (whole.path / "records.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    cut = Campaign.create(tmp_path / "cut", asked.model_dump())
    # After the corners, three for each algorithm and four records a point.
    (cut.path / "records.jsonl").write_text("".join(lines[: 4 * 6]), encoding="utf-8")
    resumed, outcome, _ = measured(tmp_path / "cut", asked, chooser=Adaptive)
    assert outcome.measured == len(points(whole)) - 6
    assert points(resumed) == points(whole)


def test_a_later_launch_repeats_what_the_first_one_chose(tmp_path: Path) -> None:
    campaign, _, _ = measured(tmp_path / "c", plan(adaptive=True, launches=2, **ASKED), chooser=Adaptive)
    chosen = [
        {(r.algorithm, r.ranks, r.bytes) for r in campaign.records() if r.repetition == launch}
        for launch in (0, 1)
    ]
    assert chosen[0] == chosen[1]


def test_an_algorithm_without_a_rival_is_measured_whole(tmp_path: Path) -> None:
    campaign, _, _ = measured(
        tmp_path / "c", plan(**{**ASKED, "algorithms": ["binomial"]}, adaptive=True), chooser=Adaptive
    )
    assert len(points(campaign)) == EVERYTHING / 2


def test_an_algorithm_that_refuses_does_not_stop_the_others(tmp_path: Path) -> None:
    asked = plan(**{**ASKED, "algorithms": ["binomial", "stepped", "lib:choosy"]}, adaptive=True)
    campaign, outcome, _ = measured(tmp_path / "c", asked, chooser=Adaptive)
    assert outcome.failures == []
    assert {name for _, name, _, _ in points(campaign)} == {"binomial", "stepped"}


def test_core_seconds_are_elapsed_seconds_times_ranks_once_a_point(everything: Campaign) -> None:
    by_visit: dict[str, list[float]] = {}
    for record in everything.records():
        by_visit.setdefault(record.visit, []).append(record.core_seconds or 0.0)
        if record.statistic == "completion":
            # The fake runner takes a millisecond for each.
            assert record.core_seconds == pytest.approx(1e-3 * (record.ranks or 0))
    assert all(sorted(found)[:-1] == [0.0] * 3 for found in by_visit.values())


def test_nothing_to_choose_is_a_wrong_request(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--adaptive chooses between algorithms"):
        plan(adaptive=True, operations=["pingpong"])
    refused = refusal("measure", "--operation", "pingpong", "--adaptive", "--ranks", "2", "-o", tmp_path / "c")
    assert "--adaptive" in refused
