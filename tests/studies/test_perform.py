"""A study from its steps to its page: on a runner that answers by a known law, interrupted, resumed, failing."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import answer, outcome, refused, succeeded
from tests.factories import written
from tests.studies.conftest import TWO

from hockney.campaign.outcome import Outcome
from hockney.errors import EnvironmentLack
from hockney.machine.file import load
from hockney.records.folder import Campaign
from hockney.runner.inventory import inventory
from hockney.runner.mpi import Mpi
from hockney.runner.session import Refused
from hockney.studies import perform

pytestmark = pytest.mark.usefixtures("undrawn")

IMPORTED = Path(__file__).parents[1] / "importers" / "data"


def anchors(html: str) -> set[str]:
    return set(re.findall(r' id="([^"]+)"', html))


def test_a_study_leaves_a_campaign_a_machine_a_page_and_its_answers(two: Path, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    said = answer("study", two, "--ranks", "2", "-o", folder)
    assert [step["state"] for step in said["steps"]] == ["done", "done"]
    assert {record.operation for record in Campaign.open(folder / "campaign").records()} == {
        "pingpong",
        "bandwidth",
    }
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert "What does a message cost?" in html
    assert "Half a study" not in html
    findings = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    assert said["findings"] == findings
    assert 0 < len(findings) <= 5
    assert [finding["weight"] for finding in findings] == sorted((f["weight"] for f in findings), reverse=True)
    for finding in findings:
        assert finding["anchor"] in anchors(html)
        assert re.search(r"\d", finding["text"])
    assert (folder / "machine.json").is_file()
    assert (folder / "study.toml").read_text(encoding="utf-8") == TWO


@pytest.mark.usefixtures("wide")
def test_an_interrupted_study_has_half_a_page_and_goes_on(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, asked = tmp_path / "s", []
    measure = perform._measure

    def interrupted(path: Path, *given: Any) -> Outcome:
        asked.append(path.name)
        if "2-measure" in path.name and len(asked) == 2:
            from hockney.terminal.signals import Interrupted

            raise Interrupted("SIGTERM")
        return measure(path, *given)

    monkeypatch.setattr(perform, "_measure", interrupted)
    err = refused("study", two, "--ranks", "2", "-o", folder, code=4)
    assert "--resume" in err
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert "Half a study: 2-measure-core is not done" in html
    succeeded("study", two, "-o", folder, "--resume")
    # The first step was not measured again.
    assert asked == ["1-measure-core", "2-measure-core", "2-measure-core"]
    assert "Half a study" not in (folder / "report.html").read_text(encoding="utf-8")
    err = refused("study", two, "-o", folder, "--resume", "--ranks", "3")
    assert "--ranks cannot be changed with --resume" in err
    err = refused("study", two, "-o", folder)
    assert "already holds a study" in err


def test_a_step_whose_time_was_over_is_gone_on_with(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, asked = tmp_path / "s", []
    measure = perform._measure

    def cut(path: Path, *given: Any) -> Outcome:
        outcome = measure(path, *given)
        asked.append(path.name)
        outcome.left_out = 3 if asked == ["1-measure-core"] else 0
        return outcome

    monkeypatch.setattr(perform, "_measure", cut)
    # As of a campaign whose --time is over: that is no failure, and the page says it.
    first = answer("study", two, "--ranks", "2", "-o", folder)
    assert [step["state"] for step in first["steps"]] == ["partly", "done"]
    assert first["steps"][0]["why"] == "its time (--time) was over"
    (said,) = [text for text in first["warnings"] if "The time of 1-measure-core" in text]
    assert "about 3 visits of points were left out; --resume continues" in said
    second = answer("study", two, "-o", folder, "--resume")
    assert [step["state"] for step in second["steps"]] == ["done", "done"]
    assert asked == ["1-measure-core", "2-measure-core", "1-measure-core"]


def test_a_step_of_which_nothing_came_is_never_done(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*_: Any) -> Outcome:
        return Outcome(left_out=5)

    monkeypatch.setattr(perform, "_measure", nothing)
    err = refused("study", two, "--ranks", "2", "-o", tmp_path / "s", code=4)
    assert "nothing could be measured: its time (--time) was over" in err
    state = json.loads((tmp_path / "s" / "study.json").read_text(encoding="utf-8"))
    assert {done["state"] for done in state["steps"].values()} == {"failed"}


def test_a_study_of_somebody_else_is_trusted_first(two: Path, tmp_path: Path) -> None:
    folder, mpi = tmp_path / "s", tmp_path / "mpicc"
    mpi.write_text("#!/bin/sh\n", encoding="utf-8")
    succeeded("study", two, "--ranks", "2", "--mpi", mpi, "-o", folder)
    # This user's own, until somebody changes what it would run.
    succeeded("study", two, "-o", folder, "--resume")
    changed = (folder / "study.json").read_text(encoding="utf-8").replace(str(mpi), "/elsewhere/mpicc")
    (folder / "study.json").write_text(changed, encoding="utf-8")
    err = refused("study", two, "-o", folder, "--resume")
    assert "/elsewhere/mpicc" in err
    succeeded("study", two, "-o", folder, "--resume", "--trust")


def test_a_step_that_fails_leaves_the_others_alone(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = perform._measure

    def failing(path: Path, *given: Any) -> Outcome:
        if "1-measure" in path.name:
            raise Refused("it needs 8 GiB", "--size 228 fits")
        return measure(path, *given)

    monkeypatch.setattr(perform, "_measure", failing)
    err = refused("study", two, "--ranks", "2", "-o", tmp_path / "s", code=4)
    html = (tmp_path / "s" / "report.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    assert "Half a study: 1-measure-core failed: it needs 8 GiB; --size 228 fits." in html
    assert "--size 228 fits" in err
    assert 'id="bandwidth"' in html


def test_without_an_mpi_nothing_is_tried_twice(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def lacking(path: Path, *_: Any) -> Outcome:
        tried.append(path.name)
        raise EnvironmentLack("there is no MPI", "install one")

    monkeypatch.setattr(perform, "_measure", lacking)
    err = refused("study", two, "--ranks", "2", "-o", tmp_path / "s", code=3)
    assert "there is no MPI" in err
    assert tried == ["1-measure-core"]


def test_more_ranks_than_slots_names_the_number_that_fits(two: Path, tmp_path: Path) -> None:
    err = refused("study", two, "--hosts", "n1:2,n2:2", "--ranks", "8", "-o", tmp_path / "s")
    assert "--ranks 4 fits" in err
    err = refused("study", two, "--ranks", "100000", "-o", tmp_path / "s")
    assert f"--ranks {inventory().cores} has a core for each" in err
    assert not (tmp_path / "s").exists()


def test_results_of_osu_make_the_same_page(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    source = IMPORTED / "osu_latency_7.4_percentiles.txt"
    said = answer("study", "point_to_point", "--from", source, "-o", folder)
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert any("Half a study" in warning and "bandwidth" in warning for warning in said["warnings"])
    assert said["findings"]
    assert all(finding["anchor"] in anchors(html) for finding in said["findings"])


def test_a_campaign_elsewhere_stays_as_it_is(campaign: Path, tmp_path: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in campaign.iterdir()}
    said = answer("study", "point_to_point", "--from", campaign, "-o", tmp_path / "new" / "s")
    # The truth of its pingpong is 2 µs + n / 1 GB/s.
    assert any("latency is 2 µs" in finding["text"] for finding in said["findings"])
    assert (tmp_path / "new" / "s" / "report.html").is_file()
    assert {path.name: path.stat().st_mtime_ns for path in campaign.iterdir()} == before


def tidy(tmp_path: Path, *sizes_B: int) -> Path:
    """A table of four algorithms; the chain is best up to 64 B, the binary tree above; the default is no good."""
    rows = ["system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition"]
    for size in sizes_B:
        best = {"chain": 1.0, "binary": 2.0} if size < 100 else {"chain": 2.0, "binary": 1.0}
        for name, factor in {**best, "linear": 3.0, "default": 1.5}.items():
            rows.append(f"s,m,bcast,{name},core,1,8,8,{size},max_over_ranks,{factor * (10 + size / 1000)},0")
    return written(tmp_path / "tidy.csv", "\n".join(rows) + "\n")


def test_a_tidy_table_of_collectives_says_what_the_default_costs(tmp_path: Path) -> None:
    table = tidy(tmp_path, 8, 64, 4096, 32768)
    shown = ("--statistic", "max_over_ranks", "--bytes", "64")
    said = answer("study", "collectives", "--from", table, *shown, "-o", tmp_path / "s")
    texts = [finding["text"] for finding in said["findings"]]
    assert any("chain is 1.50 × faster than the default (" in text for text in texts)
    assert any(
        "chain is fastest from 8 B to 64 B, binary is fastest from 4 KiB to 32 KiB" in text for text in texts
    )


def test_a_folder_is_read_and_what_is_not_read_of_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "measured"
    folder.mkdir()
    rows = tidy(tmp_path, *(2**power for power in range(3, 9))).read_text(encoding="utf-8").splitlines()
    means = [row.replace("max_over_ranks", "mean_over_ranks") for row in rows[1:]]
    (folder / "tidy.csv").write_text("\n".join([*rows, *means]) + "\n", encoding="utf-8")
    others = ["bcast_core.csv", *(f"notes{number}.txt" for number in range(5))]
    for number, name in enumerate(others):
        (folder / name).write_text(f"algorithm,cores,size\n0,8,{number}\n", encoding="utf-8")
    (folder / "empty.txt").touch()
    words = ("--statistic", "mean_over_ranks", "-o", tmp_path / "s", "--json")
    # A folder that is written `.` has its name all the same.
    monkeypatch.chdir(folder)
    out = succeeded("study", "collectives", "--from", ".", *words)
    (lacking,) = [text for text in json.loads(out)["warnings"] if text.startswith("The page would also show")]
    assert "; measured holds none" in lacking
    (said,) = [text for text in json.loads(out)["warnings"] if "were not read" in text]
    assert said == (
        "Of measured, 7 of 8 files were not read: notes0.txt, notes1.txt, notes2.txt and 2 more "
        "(no benchmark result); bcast_core.csv (not a tidy table); empty.txt (empty)."
    )
    skipped = {Path(one["file"]).name: one["reason"] for one in json.loads(out)["skipped"]}
    assert set(skipped) == {*others, "empty.txt"}
    assert "formats known: imb, " in skipped["notes4.txt"]
    # The machine file has the models that the page shows, and says where their points are.
    machine = load(tmp_path / "s" / "machine.json")
    assert {model.statistic for model in machine.collectives} == {"mean_over_ranks"}
    assert len(Campaign.open(tmp_path / "s" / "campaign").records()) == 2 * len(means)


@pytest.mark.usefixtures("wide")
def test_a_folder_that_lacks_all_that_a_study_needs_says_what(tmp_path: Path) -> None:
    source = IMPORTED / "osu_latency_7.4_percentiles.txt"
    err = refused("study", "ring", "--from", source, "-o", tmp_path / "s")
    assert "holds nothing that the study ring is about (ring); it holds pingpong" in err
    assert "column `operation`" in err
    assert not (tmp_path / "s").exists()


def test_a_page_that_is_refused_leaves_nothing_and_can_be_asked_for_again(tmp_path: Path) -> None:
    table, words = tidy(tmp_path, 8, 64), ("study", "collectives", "--from", tmp_path / "tidy.csv")
    for wrong in (("--statistic", "completion"), ("--bytes", "1MiB")):
        refused(*words, *wrong, "-o", tmp_path / "s")
        assert not (tmp_path / "s").exists()
    succeeded(*words, "-o", tmp_path / "s")
    # What was imported before is replaced, not added to.
    table.write_text("\n".join(table.read_text(encoding="utf-8").splitlines()[:-1]) + "\n", encoding="utf-8")
    succeeded(*words, "-o", tmp_path / "s")
    assert len(Campaign.open(tmp_path / "s" / "campaign").records()) == 7


def test_from_replaces_nothing_that_was_measured(campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    there = shutil.copytree(campaign, tmp_path / "s" / "campaign")
    before = (there / "records.jsonl").read_bytes()
    err = refused("study", "collectives", "--from", tidy(tmp_path, 8), "-o", tmp_path / "s")
    assert "choose another folder" in err
    assert (there / "records.jsonl").read_bytes() == before


def test_only_what_the_steps_measure_makes_half_a_study(tmp_path: Path) -> None:
    table = tidy(tmp_path, 8)
    rows = table.read_text(encoding="utf-8").splitlines()
    for name in ("scatter", "allreduce"):
        rows += [row.replace("bcast", name) for row in rows[1:5]]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    warnings = answer("study", "collectives", "--from", table, "-o", tmp_path / "s")["warnings"]
    assert not any("Half a study" in text for text in warnings)
    assert any("gather, allgather" in text and "holds none" in text for text in warnings)


def test_from_measures_nothing(tmp_path: Path) -> None:
    source = IMPORTED / "osu_latency_7.4_percentiles.txt"
    err = refused("study", "ring", "--from", source, "--quick", "-o", tmp_path / "s")
    assert "--quick" in err


@pytest.mark.thorough
@pytest.mark.one_mpi
def test_a_quick_ring_on_a_real_mpi(mpi: Mpi, tmp_path: Path) -> None:
    code, out, err = outcome(
        "study", "ring", "--quick", "--ranks", "2", "--mpi", mpi.wrapper, "-o", tmp_path / "s", "--json"
    )
    # A machine that leaves its level for long ends a campaign with 4.
    assert code in (0, 4), err
    said = json.loads(out)
    assert {step["state"] for step in said["steps"] if "ring" in step["name"]} == {"done"}
    html = (tmp_path / "s" / "report.html").read_text(encoding="utf-8")
    assert 'id="app-ring"' in html
    assert len({run.ranks for run in Campaign.open(tmp_path / "s" / "campaign").apps()}) == 2
