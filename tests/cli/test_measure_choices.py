"""What `hockney measure` refuses, and tells, before it looks for an MPI: wrong choices, and a dry run."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.command_line import outcome

from hockney import cli
from hockney.errors import RequestError
from hockney.records.folder import Campaign
from hockney.records.journal import LaunchLine

Run = Callable[..., str]


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Standard error of the verb, which must refuse and leave nothing behind."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["hockney", "measure", "-o", "x", "--ranks", "2", *arguments])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        printed = capsys.readouterr()
        assert (stop.value.code, printed.out, list(tmp_path.iterdir())) == (2, "", [])
        return printed.err

    return call


def test_a_dry_run_tells_points_estimate_and_bound_without_an_mpi(tmp_path: Path) -> None:
    words: list[str | Path] = [
        "measure",
        "-o",
        tmp_path / "x",
        "--ranks",
        "2",
        "--mpi",
        tmp_path,
        "--operation",
        "bcast",
    ]
    words += [
        "--algorithm",
        "default,binomial",
        "--bytes",
        "8,1KiB,32KiB",
        "--rank-counts",
        "2",
        "--launches",
        "5",
    ]
    code, out, err = outcome(*words, "--visits", "1", "--budget", "50ms", "--time", "10min", "--dry-run")
    assert code == 0, err
    said = " ".join(out.split())
    # Two algorithms, three sizes.
    assert "5 launches of 2 ranks, in each about 6 points" in said
    assert re.search(r"takes about \d+ s, at most 10 min 0 s \(--time\)", said)
    assert list(tmp_path.iterdir()) == []
    code, out, _ = outcome(*words, "--dry-run", "--json")
    told = json.loads(out)
    assert (code, told["launches"], told["points"], told["bound_s"]) == (0, 5, 6, None)
    assert told["estimate_s"] == told["whole_s"] > 0
    assert told["plan"]["sizes_B"] == [8, 1024, 32768]
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_refuses_what_the_campaign_would_refuse(tmp_path: Path) -> None:
    words = ("measure", "-o", tmp_path / "c", "--ranks", "2", "--mpi", tmp_path, "--operation", "pingpong")
    code, _, err = outcome(*words, "--submit", "slurm", "--jobs", "3", "--launches", "2", "--dry-run")
    assert (code, "3 jobs cannot share 2 launch(es)" in err) == (2, True), err
    Campaign.create(tmp_path / "c", {"ranks": 2}).append(LaunchLine.model_validate({"id": "begun"}))
    before = sorted(path.name for path in (tmp_path / "c").iterdir())
    code, _, err = outcome(*words, "--dry-run")
    assert (code, "already holds a campaign" in err) == (2, True), err
    # Its plan is kept: what --resume goes on with is no new campaign.
    for more in ((), ("--trust",), ("--submit", "slurm")):
        code, _, err = outcome("measure", "-o", tmp_path / "c", "--resume", "--dry-run", *more)
        assert (code, "`hockney status FOLDER`" in err) == (2, True), err
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == before


def test_a_dry_run_says_what_is_not_known_before(tmp_path: Path) -> None:
    words = ("measure", "-o", tmp_path / "c", "--ranks", "2", "--mpi", tmp_path, "--operation", "pingpong")
    code, out, err = outcome(*words, "--dry-run", "--json", "--variant", "all-transports")
    assert code == 0, err
    assert any("all-transports is counted as one variant" in text for text in json.loads(out)["warnings"])
    code, out, err = outcome(*words, "--dry-run", "--submit", "slurm")
    assert code == 0, err
    assert "are those of this host" in " ".join(out.split())


@pytest.mark.parametrize(
    "option",
    [
        "--operation",
        "--bytes",
        "--algorithm",
        "--rank-counts",
        "--segment",
        "--locality",
        "--hosts",
        "--time",
    ],
)
@pytest.mark.parametrize("text", ["", " , "])
def test_an_empty_choice_is_not_the_default(refused: Run, option: str, text: str) -> None:
    assert refused(option, text).startswith(f"error: {option}: {text!r} ")


def test_an_unknown_operation_is_told_all_that_are_known_before_any_launch(refused: Run) -> None:
    told = refused("--operation", "pingpong,bogus", "--mpi", "/no/such/mpi")
    assert "unknown operation 'bogus'" in told
    for word in ("pingpong", "send_overhead", "collectives", "allreduce", "effects", "overlap"):
        assert word in told.partition("hint:")[2]


@pytest.mark.parametrize(
    ("option", "text"),
    [("--largest", "99999TiB"), ("--largest", "1025GiB"), ("--bytes", "8,1099511627777")],
)
def test_no_message_is_as_large_as_all_that(refused: Run, option: str, text: str) -> None:
    told = refused("--operation", "pingpong", option, text)
    assert option in told
    assert "larger than any message (1 TiB)" in told


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--time-limit", "abc"),
        ("--budget", "abc"),
        ("--time", "abc"),
        ("--largest", "-5"),
        ("--bytes", "8,abc"),
        ("--segment", "abc"),
    ],
)
def test_a_wrong_number_is_told_with_its_option(refused: Run, option: str, text: str) -> None:
    assert refused(option, text).startswith(f"error: {option}: ")


@pytest.mark.parametrize("option", ["--launches", "--visits", "--window"])
def test_more_than_anybody_waits_or_has_memory_for_is_refused(refused: Run, option: str) -> None:
    told = refused(option, "1000000000")
    assert option in told
    assert "less than or equal to" in told


def test_a_folder_without_a_name_is_not_the_present_one(refused: Run) -> None:
    assert "--output: '' names nothing" in refused("-o", "")


def test_that_there_is_no_campaign_to_resume_is_said_first(refused: Run) -> None:
    assert "x is not a campaign folder" in refused("--quick", "--resume")


def test_the_folder_of_a_study_names_its_campaign(tmp_path: Path) -> None:
    Campaign.create(tmp_path / "campaign", {})
    with pytest.raises(RequestError) as told:
        Campaign.open(tmp_path)
    assert str(tmp_path / "campaign") in told.value.hint


def test_a_host_file_that_is_not_there_is_told(refused: Run) -> None:
    assert "host file: nosuch does not exist" in refused("--hostfile", "nosuch")


def test_a_host_is_no_option_of_ssh(refused: Run) -> None:
    assert "'-oProxyCommand=id' is not a host" in refused("--hosts=-oProxyCommand=id")
