"""`hockney import` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import Run, answer, outcome

from hockney.importers.base import importers
from hockney.records.folder import Campaign

pytestmark = pytest.mark.usefixtures("undrawn")

DATA = Path(__file__).parents[1] / "importers" / "data"


run = Run("import")


def test_json(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("Done\n")
    files = [DATA / "osu_latency_5.txt", DATA / "imb_rates.txt", tmp_path / "notes"]
    code, out, err = run(*files, "-o", tmp_path / "c", "--json", "--system", "s")
    answer: dict[str, Any] = json.loads(out)
    assert (code, err) == (0, "")
    assert ["far apart" in note for note in answer["notes"]] == [True]
    assert answer["campaign"] == str(tmp_path / "c")
    # 4 rows of OSU and 7 values of IMB, counted by hand in the fixtures.
    assert answer["records"] == 11
    assert [(f["file"], f["format"], f["records"], f["warnings"]) for f in answer["files"]] == [
        (str(files[0]), "osu", 4, []),
        (str(files[1]), "imb", 7, []),
    ]
    assert answer["files"][1]["operations"] == {"bandwidth": 5, "bidirectional": 2}
    assert answer["skipped"] == [
        {"file": str(files[2]), "reason": f"no benchmark result; formats known: {', '.join(importers.names())}"}
    ]
    assert {r.system for r in Campaign.open(tmp_path / "c").records()} == {"s"}


def test_text(tmp_path: Path) -> None:
    files = [DATA / "imb_parallel.txt", DATA / "osu_put_latency_5.txt"]
    code, out, err = run(*files, "-o", tmp_path / "c")
    assert code == 0
    # Sendrecv has three rows and Exchange one, with three times each.
    assert f"{tmp_path / 'c'}: 12 records from 1 file, 1 skipped" in out
    assert "imb_parallel.txt:41: not a row" in " ".join(err.split())
    told = answer("import", *files, "-o", tmp_path / "again")
    assert any("imb_parallel.txt:41: not a row of this table" in text for text in told["files"][0]["warnings"])
    assert "one-sided" in told["skipped"][0]["reason"]


@pytest.mark.parametrize(
    ("name", "verb"), [("osu_latency_5.txt", "fit"), ("osu_allreduce_7.4_full.txt", "report")]
)
def test_the_next_step_works(tmp_path: Path, name: str, verb: str) -> None:
    folder = tmp_path / "c"
    _, out, _ = run(DATA / name, "-o", folder)
    assert out.splitlines()[-1] == f"next: `hockney {verb} {folder}`"
    output = tmp_path / ("machine.json" if verb == "fit" else "page.html")
    assert outcome(verb, folder, "-o", output)[0] == 0


@pytest.mark.usefixtures("wide")
def test_an_existing_campaign_is_kept(tmp_path: Path) -> None:
    source = DATA / "osu_latency_5.txt"
    assert run(source, "-o", tmp_path / "c")[0] == 0
    before = {p.name: p.read_bytes() for p in (tmp_path / "c").iterdir()}
    err = run.refuses(DATA / "osu_bw_7.1.txt", "-o", tmp_path / "c")
    assert "already holds a campaign" in err
    assert {p.name: p.read_bytes() for p in (tmp_path / "c").iterdir()} == before


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (["--format", "oso"], "did you mean 'osu'"),
        (["--locality", "near"], "network"),
        (["--format", "imb"], "no result"),
        ([""], "FILE…: '' names nothing"),
    ],
)
def test_wrong_requests(tmp_path: Path, flags: list[str], word: str) -> None:
    err = run.refuses(DATA / "osu_latency_5.txt", "-o", tmp_path / "c", *flags)
    assert word in err
    assert not (tmp_path / "c").exists()


def test_a_statistic_that_no_record_has_is_told(tmp_path: Path) -> None:
    header = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,time_us,repetition"
    bare, flag = tmp_path / "bare.csv", ["--statistic", "completion"]
    bare.write_text(f"{header}\ns,m,pingpong,default,,1,2,2,8,1.5,0\n")
    code, _, err = run(DATA / "osu_latency_5.txt", "-o", tmp_path / "c", *flag)
    assert code == 0
    assert "--statistic completion: no record has it" in err
    assert "--statistic" not in run(bare, "-o", tmp_path / "e", *flag)[2]


def test_advice_on_where_ranks_were_is_none_that_was_given(tmp_path: Path) -> None:
    """64 ranks on two nodes: which of them made a pair hangs on the mapping."""
    file = DATA.parents[2] / "examples/alaska/ib/osu_mbw_mr_64.txt"
    _, _, err = run(file, "-o", tmp_path / "c", "--nodes", "2")
    assert "of 64 ranks: no system is described" in " ".join(err.split())
    assert ("--nodes 2" in err, "`hockney import --mapping core --ppn 32`" in " ".join(err.split())) == (
        False,
        True,
    )
    _, _, err = run(file, "-o", tmp_path / "d", "--nodes", "2", "--mapping", "core", "--ppn", "32")
    assert err == ""


def test_what_changes_nothing_or_lacks_is_named(tmp_path: Path) -> None:
    file = DATA / "osu_latency_5.txt"
    _, _, err = run(file, "-o", tmp_path / "c", "--ranks", "8", "--nodes", "2", "--ppn", "32")
    assert "--ranks 8: no record has it" in err
    assert "far apart" in err
    _, _, err = run(file, "-o", tmp_path / "d", "--ranks", "8", "--nodes", "8", "--ppn", "1")
    assert "far apart" not in err
    assert {record.locality for record in Campaign.open(tmp_path / "d").records()} == {"network"}
