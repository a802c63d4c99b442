"""`hockney import` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import outcome

from hockney.importers.base import importers
from hockney.records.folder import Campaign

DATA = Path(__file__).parents[1] / "importers" / "data"


def run(*arguments: str | Path) -> tuple[int, str, str]:
    return outcome("import", *arguments)


def test_json(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("Done\n")
    files = [DATA / "osu_latency_5.txt", DATA / "imb_rates.txt", tmp_path / "notes"]
    code, out, err = run(*files, "-o", tmp_path / "c", "--json", "--system", "s")
    answer: dict[str, Any] = json.loads(out)
    assert (code, err) == (0, "")
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
    assert "imb_parallel.txt:41: not a row of this table" in err
    assert "one-sided" in err


@pytest.mark.parametrize(
    ("name", "verb"), [("osu_latency_5.txt", "fit"), ("osu_allreduce_7.4_full.txt", "report")]
)
def test_the_next_step_works(tmp_path: Path, name: str, verb: str) -> None:
    folder = tmp_path / "c"
    _, out, _ = run(DATA / name, "-o", folder)
    assert out.splitlines()[-1] == f"next: `hockney {verb} {folder}`"
    output = tmp_path / ("machine.json" if verb == "fit" else "page.html")
    assert outcome(verb, folder, "-o", output)[0] == 0


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_nothing_to_import(tmp_path: Path, flags: list[str]) -> None:
    code, out, err = run(tmp_path / "gone.txt", "-o", tmp_path / "c", *flags)
    assert code == 2
    assert not (tmp_path / "c").exists()
    if flags:
        assert json.loads(out)["error"]["kind"] == "request"
    else:
        assert "gone.txt does not exist" in err
        assert "Traceback" not in err


def test_an_existing_campaign_is_kept(tmp_path: Path) -> None:
    source = DATA / "osu_latency_5.txt"
    assert run(source, "-o", tmp_path / "c")[0] == 0
    before = {p.name: p.read_bytes() for p in (tmp_path / "c").iterdir()}
    code, _, err = run(DATA / "osu_bw_7.1.txt", "-o", tmp_path / "c")
    assert code == 2
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
    code, _, err = run(DATA / "osu_latency_5.txt", "-o", tmp_path / "c", *flags)
    assert code == 2
    assert word in err
    assert not (tmp_path / "c").exists()


def test_a_statistic_that_is_not_used_is_told(tmp_path: Path) -> None:
    header = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,time_us,repetition"
    row = "s,m,pingpong,default,,1,2,2,8,1.5,0"
    bare, full = tmp_path / "bare.csv", tmp_path / "full.csv"
    bare.write_text(f"{header}\n{row}\n")
    full.write_text(f"{header},statistic\n{row.replace(',8,', ',16,')},completion\n")
    files, flag = [bare, full, DATA / "osu_latency_5.txt"], ["--statistic", "one_way"]
    note = (
        "--statistic one_way was not used for 2 of 3 files, which say themselves which times they hold: "
        f"{full}, {files[2]}"
    )
    code, _, err = run(*files, "-o", tmp_path / "c", *flag)
    assert (code, err) == (0, f"{note}\n")
    assert json.loads(run(*files, "-o", tmp_path / "d", *flag, "--json")[1])["notes"] == [note]
    assert run(bare, "-o", tmp_path / "e", *flag)[2] == ""
    assert run(files[2], "-o", tmp_path / "f")[2] == ""
