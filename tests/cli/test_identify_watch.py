"""`hockney identify --watch` as a user runs it, on real libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.command_line import answer, campaign_answer, outcome, refused, run_hockney, succeeded
from tests.factories import written
from tests.tune.planted import campaign

from hockney.records.defaults import FILE
from hockney.runner import library
from hockney.runner.mpi import Mpi


def answers(*words: str | Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer("identify", *words)["answers"]
    return found


@pytest.mark.one_mpi
def test_the_answer_without_a_campaign(mpi: Mpi) -> None:
    if mpi.kind not in library.COUNTING:
        pytest.skip(f"{mpi.describe()} cannot be watched")
    words = ("--watch", "--mpi", mpi.wrapper, "--operation", "bcast", "--ranks", "5", "--bytes", "64,16KiB")
    (found,) = answers(*words)
    assert (found["mpi"], found["way"]) == (mpi.describe(), "watching")
    assert {cell["bytes"] for cell in found["cells"]} >= {64, 2**14}
    assert all(cell["ranks"] == 5 and (cell["names"] or cell["why"]) for cell in found["cells"])
    for switch in found["switches"]:
        assert switch["first_bytes"] > switch["last_bytes"]
    out = succeeded("identify", *words)
    assert "watching" in out


@pytest.mark.one_mpi
def test_of_a_campaign_it_is_kept_and_used(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if mpi.kind != "openmpi":
        pytest.skip("other libraries are watched as if each rank had a node of its own")
    # The version would say otherwise, and nothing else knows of a rule in a file.
    rules = written(tmp_path / "rules.conf", "1\n7\n1\n1\n2\n0 1 0 0\n5001 3 0 0\n")
    monkeypatch.setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")
    monkeypatch.setenv("OMPI_MCA_coll_tuned_dynamic_rules_filename", str(rules))
    campaign = tmp_path / "c"
    asked = ("--operation", "bcast", "--algorithm", "default", "--ranks", "4", "--rank-counts", "4")
    few = ("--bytes", "1024,16KiB", "--budget", "0.02s", "--visits", "1", "--mpi", str(mpi.wrapper))
    campaign_answer(run_hockney("measure", *asked, *few, "-o", str(campaign), "--json"))
    (before,) = answer("identify", campaign)["answers"]
    assert {cell["names"] for cell in before["cells"]} == {None}
    assert all(str(rules) in cell["why"] for cell in before["cells"])
    (seen,) = answers(campaign, "--watch")
    assert [(switch["last_bytes"], switch["first_bytes"]) for switch in seen["switches"]] == [(5000, 5001)]
    assert (campaign / FILE).is_file()
    (after,) = answers(campaign)
    assert after["way"] == "watching"
    names = {cell["bytes"]: {name["schedules"][0] for name in cell["names"]} for cell in after["cells"]}
    # On so few ranks four chains are a star, too.
    assert "linear" in names[1024]
    assert "pipeline" in names[16_384]
    assert not names[1024] & names[16_384]
    monkeypatch.delenv("OMPI_MCA_coll_tuned_dynamic_rules_filename")
    err = refused("identify", campaign, "--watch")
    assert f"{rules} chose the algorithm when the campaign was launched, the library does now" in err


@pytest.mark.usefixtures("wide")
def test_what_it_refuses(tmp_path: Path) -> None:
    table = written(tmp_path / "table.csv", "operation\n")
    for words, said in (
        ((), "nothing to identify was given"),
        ((table, "--watch"), "does not say how its ranks were launched"),
        ((table, "--mpi", "mpich"), "--mpi means nothing without --watch"),
        (("--watch", "--evidence", "times"), "--evidence means nothing with --watch"),
        (("--watch", "--ranks", "1"), "2 ranks or more"),
        (("--watch", "--ranks", "0"), "--ranks 0: 2 ranks or more"),
        (("--watch", "--ranks", "-1"), "--ranks: '-1' is not a whole number"),
        (("--watch", "--operation", "pingpong"), "is not a collective"),
    ):
        err = refused("identify", *words)
        assert said in err


def test_the_default_of_two_mappings_is_not_watched_as_that_of_one(tmp_path: Path) -> None:
    campaign(tmp_path / "c", mappings=["core", "node"])
    assert "was launched by core and node" in refused("identify", tmp_path / "c", "--watch", "--trust")


@pytest.mark.one_mpi
def test_a_library_that_cannot_be_watched_says_so_in_a_line(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "COUNTING", {})
    code, _, err = outcome("identify", "--watch", "--mpi", mpi.wrapper)
    assert code == 3
    (line,) = [line for line in err.splitlines() if "cannot be watched" in line]
    assert mpi.describe() in line
