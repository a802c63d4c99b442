"""`hockney measure` and `hockney merge` through the command line, on every MPI found."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.campaign.fake_campaign import fake_launch
from tests.command_line import answer, campaign_answer, run_hockney

from hockney import writing
from hockney.api import measuring
from hockney.records import table
from hockney.records.folder import Campaign
from hockney.runner.mpi import Mpi

TINY = ["--quick", "--budget", "0.02s", "--visits", "1", "--ranks", "2"]


def measured(*arguments: str) -> Any:
    return campaign_answer(run_hockney("measure", *arguments, "--json"))


@pytest.mark.one_mpi
def test_the_whole_hallway(mpi: Mpi, tmp_path: Path) -> None:
    campaign, machine, page = tmp_path / "demo", tmp_path / "machine.json", tmp_path / "report.html"
    # What loggp needs, too.
    operations = "pingpong,bandwidth,send_overhead,receive_overhead"
    words = ("--operation", operations, "--mpi", str(mpi.wrapper), "-o", str(campaign))
    done = measured(*TINY, *words)
    assert done["measured"] == done["records"] > 20
    assert done["failures"] == []
    assert min(done["prepare_s"], done["measure_s"]) > 0
    fitted = answer("fit", str(campaign), "-o", str(machine))
    assert fitted
    shown = answer("show", str(machine))
    assert {entry["operation"] for entry in shown["entries"]} >= {"pingpong", "bandwidth"}
    predicted = answer("predict", "pingpong", "--machine", str(machine), "--bytes", "64KiB")
    assert predicted
    reported = answer("report", str(campaign), "-o", str(page))
    assert reported["report"] == str(page)
    assert page.stat().st_size > 10_000
    errors = answer("evaluate", str(campaign), "--operation", "pingpong")
    assert set(errors["models"]) >= {"least_squares", "asymptotic", "hockney", "piecewise", "loggp"}
    assert errors["models"]["piecewise"]["nonphysical"] == 0


@pytest.mark.one_mpi
def test_variants_and_caches_stay_apart(mpi: Mpi, tmp_path: Path) -> None:
    """In one launch of each variant: buffers outside the caches take seconds for each visit."""
    campaign = tmp_path / "c"
    words = [
        "--variant",
        "plain:",
        "--variant",
        "named: HOCKNEY_TEST_SETTING=1",
        "--off-cache",
        "--launches",
        "1",
    ]
    sizes = ["--bytes", "1KiB", "--operation", "pingpong"]
    measured(*TINY, *words, *sizes, "--mpi", str(mpi.wrapper), "-o", str(campaign))
    keys = set(product(("plain", "named"), ("warm", "off")))
    assert {(record.variant, record.cache) for record in Campaign.open(campaign).records()} == keys
    launches = Campaign.open(campaign).launches()
    assert [(launch.index, launch.variant) for launch in launches][:2] == [(0, "plain"), (0, "named")]
    assert launches[1].argv[-1] == launches[0].argv[-1], "one build serves all variants"
    frame = table.load(campaign)
    assert set(zip(frame["variant"], frame["cache"], strict=True)) == keys


def test_more_ranks_than_cores_is_said_and_marked(mpi: Mpi, tmp_path: Path) -> None:
    campaign = tmp_path / "c"
    ranks = str(len(os.sched_getaffinity(0)) + 1)
    words = ["--ranks", ranks, "--bytes", "8", "--operation", "pingpong", "--budget", "0.02s"]
    answer = measured(*words, "--mpi", str(mpi.wrapper), "-o", str(campaign))
    assert any("oversubscribed" in text for text in answer["warnings"])
    assert all(record.oversubscribed for record in Campaign.open(campaign).records())
    assert Campaign.open(campaign).launches()[0].bind_to == "none"


def test_merge_joins_two_measurements(mpi: Mpi, tmp_path: Path) -> None:
    for name in ("a", "b"):
        words = ["--bytes", "8", "--operation", "pingpong", "--mpi", str(mpi.wrapper)]
        measured(*TINY, *words, "-o", str(tmp_path / name))
    merged = answer("merge", str(tmp_path / "a"), str(tmp_path / "b"), "-o", str(tmp_path / "c"))
    a, b, both = (Campaign.open(tmp_path / name).records() for name in "abc")
    assert merged["records"] == len(both) == len(a) + len(b) >= 2
    # Records, not the table: where the two met different levels, that tells of one.
    assert {record.repetition for record in a + b} == {0}
    assert {record.repetition for record in both} == {0, 1}


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have `hockney measure` launch the fake runner, which misbehaves as its arguments say."""

    def launch(*arguments: str) -> None:
        monkeypatch.setattr(measuring, "prepare", lambda _: [fake_launch(*arguments)])

    return launch


PING = ["measure", "-o", "c", "--ranks", "2", "--operation", "pingpong"]


def test_rules_are_looked_at_before_there_is_a_folder(
    runner: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner("good")
    seen: list[bool] = []

    def traps_of(*_: object) -> list[str]:
        seen.append((tmp_path / "c").exists())
        return ["the rules of r could not be checked"]

    monkeypatch.setattr(measuring, "traps_of", traps_of)
    done = run_hockney(*PING, "--bytes", "8", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the rules of r could not be checked" in done.stderr
    assert seen == [False]


def test_a_time_that_vanishes_is_told_and_is_no_failure(runner: Callable[..., None], tmp_path: Path) -> None:
    runner("vanishes", "8", "99")
    done = run_hockney(*PING, "--bytes", "0,8,64", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "first: pingpong cache, 8 B: vanishes in the noise" in done.stdout
    told = answer("measure", "-o", str(tmp_path / "c"), "--resume")
    assert (told["vanished"], told["failures"]) == (["pingpong cache, 8 B: vanishes in the noise"], [])


def test_where_every_time_vanishes_nothing_was_measured(runner: Callable[..., None], tmp_path: Path) -> None:
    runner("vanishes", "8", "99")
    done = run_hockney(*PING, "--bytes", "8", cwd=tmp_path)
    assert done.returncode == 4
    assert "nothing could be measured into c: pingpong cache, 8 B: vanishes in the noise" in done.stderr


@pytest.mark.usefixtures("wide", "undrawn")
def test_what_failed_keeps_nobody_from_a_fit_and_a_report(runner: Callable[..., None], tmp_path: Path) -> None:
    runner("refuses")
    done = run_hockney(*PING, "--bytes", "0,8,64,512,2000", cwd=tmp_path)
    assert done.returncode == 4
    assert "`hockney measure -o c --resume` tries the rest again" in done.stderr
    assert run_hockney("fit", "c", cwd=tmp_path).returncode == 0
    reported = run_hockney("report", "c", cwd=tmp_path)
    assert reported.returncode == 0
    assert reported.stderr.endswith("warnings: on the page\n")
    page = (tmp_path / "c" / "report.html").read_text(encoding="utf-8")
    assert re.search(r"[Nn]ot measured: pingpong cache, 2000.B", page), re.findall(r"2000.{200}", page)


def _fill(monkeypatch: pytest.MonkeyPatch, written: Mapping[str, int]) -> None:
    """The disk is full when each of these files has been written so many times."""
    times: Counter[str] = Counter()
    for function in ("append", "replace", "replacing_text"):
        original = getattr(writing, function)

        def full(path: Path, *words: Any, original: Callable[..., Any] = original) -> Any:
            times[path.name] += 1
            is_full = times[path.name] > written.get(path.name, times[path.name])
            return original(Path("/dev/full") if is_full else path, *words)

        monkeypatch.setattr(writing, function, full)


@pytest.mark.parametrize(
    ("written", "records"),
    [
        ({"records.jsonl": 0}, 0),
        ({"launches.jsonl": 0}, 0),
        ({"samples.csv": 0}, 2),
        ({"records.jsonl": 1, "samples.csv": 0}, 1),
    ],
    ids=str,
)
def test_a_full_disk_names_the_file_and_what_is_kept(
    runner: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    written: dict[str, int],
    records: int,
) -> None:
    runner("good")
    assert run_hockney(*PING, "--bytes", "8", cwd=tmp_path).returncode == 0
    _fill(monkeypatch, written)
    again = run_hockney(*PING[:2], "d", *PING[3:], "--visits", "1", "--bytes", "8,64", cwd=tmp_path)
    assert again.returncode == 4
    error, _, hint = " ".join(again.stderr.split()).rpartition(" hint: ")
    kept = f"{records} record{'s' * (records != 1)}"
    all_is = "all is measured and " if records == 2 else ""
    said = f"cannot write /dev/full: No space left on device; {all_is}kept in d: {kept}"
    assert error.endswith(f"error: {said}")
    goes_on = "writes it" if records == 2 else "continues, and writes it"
    assert hint == f"make room; `hockney measure -o d --resume` {goes_on}"
