"""`hockney fit`: a campaign becomes a machine file that the other verbs read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import Run, outcome, refused
from tests.factories import campaign as campaign_of
from tests.factories import messages, verb

from hockney.machine.file import load
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign

run = verb("fit")


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Pingpong at 0.2 µs + n / 10 GB/s, and over tcp with more ranks than cores five times that."""
    known: dict[str, Any] = {"most_B": 2**16, "locality": "cache", "cache": "warm", "pair": "0-1"}
    ours = messages(0.2e-6, 10e9, variant="default", oversubscribed=False, **known)
    tcp = messages(1e-6, 2e9, variant="tcp", oversubscribed=True, **known)
    return campaign_of(tmp_path / "demo", [*ours, *tcp])


@pytest.mark.usefixtures("wide")
def test_it_writes_a_machine_and_prints_what_was_measured(run: Run, campaign: Path) -> None:
    code, out, err = run(campaign)
    assert code == 0
    # 64 KiB in 0.2 µs + 6.5536 µs are 9.70 GB/s, the fastest of all; tcp takes five times as long.
    (ours, tcp) = (line.split() for line in out.splitlines() if line.startswith(" pingpong"))
    assert " ".join(ours[:9]) == "pingpong, cache, default 0.2 µs 9.7 GB/s, 64 KiB"
    assert " ".join(tcp[:9]) == "pingpong, cache, tcp 1 µs 1.94 GB/s, 64 KiB"
    file = campaign / "machine.json"
    assert out.splitlines()[-1].startswith(f"wrote {file}")
    assert re.fullmatch(rf"\d warnings: `hockney show {file} --warnings`\n", err)
    # The only campaign here that has one.
    _, said, _ = outcome("show", "--warnings")
    assert "pingpong, locality cache, variant tcp, cache warm: measured with more ranks" in said
    assert len(load(campaign).point_to_point) == 2


def test_json(run: Run, campaign: Path) -> None:
    data = run.answers(campaign, "-o", "other.json")
    assert data["machine"] == "other.json"
    assert [entry["variant"] for entry in data["entries"]] == ["default", "tcp"]
    fit = data["entries"][0]["models"]["hockney"]
    assert fit["latency_s"]["value"] == pytest.approx(0.2e-6, rel=1e-6)
    assert data["warnings"][-1].startswith("pingpong, locality cache, variant tcp")


def test_another_file_is_never_overwritten(run: Run, campaign: Path) -> None:
    Path("results.json").write_text("precious", encoding="utf-8")
    err = run.refuses(campaign, "-o", "results.json")
    assert "results.json exists and is not a machine file" in err
    assert Path("results.json").read_text(encoding="utf-8") == "precious"


def test_a_machine_file_is_for_show(run: Run, campaign: Path) -> None:
    run(campaign, "-o", "m.json")
    err = run.refuses("m.json", "-o", "again.json")
    assert "m.json is a machine file" in err
    assert "hockney show m.json" in err


def test_damaged_lines_are_said(run: Run, campaign: Path) -> None:
    with (campaign / "records.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"source": "hock\n')
    assert run(campaign)[0] == 0
    assert "damaged line skipped" in outcome("show", campaign, "--warnings")[1]


def test_a_topology_is_kept_or_refused_before_fitting(run: Run, campaign: Path) -> None:
    assert run(campaign, "--topology", "torus:4x4,link=10Gbit/s")[0] == 0
    kept = json.loads((campaign / "machine.json").read_text(encoding="utf-8"))["topology"]
    assert kept.startswith("torus:")
    assert "4x4" in kept
    (campaign / "plan.json").write_text('{"topology": "hypercube:3"}', encoding="utf-8")
    assert run(campaign)[0] == 0
    kept = json.loads((campaign / "machine.json").read_text(encoding="utf-8"))["topology"]
    assert kept == "hypercube:3", "what it was measured with"
    err = run.refuses(campaign, "--topology", "torus:0x4")
    assert "without nodes" in err


@pytest.mark.parametrize("verb", ["fit", "evaluate"])
@pytest.mark.usefixtures("wide")
def test_runs_alone_are_named_with_what_to_do(verb: str, tmp_path: Path) -> None:
    made = Campaign.create(tmp_path / "runs", {})
    run = {"operation": "jacobi", "ranks": 4, "parameters": {}, "time_s": 1e-3, "answer": {}}
    made.append(AppRecord.model_validate(run))
    output = ["-o", str(tmp_path / "m.json")] if verb == "fit" else []
    err = refused(verb, str(tmp_path / "runs"), *output)
    assert "holds runs of jacobi alone" in err
    assert "hockney scaling fit" in err
