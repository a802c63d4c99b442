"""What `hockney measure` refuses, and tells, before it looks for an MPI: wrong choices, and a dry run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.command_line import outcome, succeeded
from tests.factories import refusing

from hockney.records.folder import Campaign
from hockney.records.journal import LaunchLine


def test_a_dry_run_tells_points_estimate_and_bound_without_an_mpi(tmp_path: Path) -> None:
    words = f"measure -o {tmp_path / 'x'} --ranks 2 --mpi {tmp_path} --operation bcast".split()
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
    out = succeeded(*words, "--visits", "1", "--budget", "50ms", "--time", "10min", "--dry-run")
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


@pytest.mark.usefixtures("wide")
def test_a_dry_run_refuses_what_the_campaign_would_refuse(tmp_path: Path) -> None:
    words = ("measure", "-o", tmp_path / "c", "--ranks", "2", "--mpi", tmp_path, "--operation", "pingpong")
    code, _, err = outcome(*words, "--submit", "slurm", "--jobs", "3", "--launches", "2", "--dry-run")
    assert (code, "3 jobs cannot share 2 launches" in err) == (2, True), err
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
    out = succeeded(*words, "--dry-run", "--submit", "slurm")
    assert "are those of this host" in " ".join(out.split())


def test_the_folder_of_a_study_names_its_campaign(tmp_path: Path) -> None:
    Campaign.create(tmp_path / "campaign", {})
    with refusing("", str(tmp_path / "campaign")):
        Campaign.open(tmp_path)
