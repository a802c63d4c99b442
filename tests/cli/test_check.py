"""`hockney check`: text, JSON and exit codes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.campaign.fake_campaign import fake_launch
from tests.check.planted import Made, consistent, frame
from tests.command_line import campaign_answer, outcome, refused, run_hockney, succeeded
from tests.factories import VERSION_1 as MACHINE
from tests.faults.tool import fake_launches

from hockney.campaign import further
from hockney.records import table


def slow(operation: str, ranks: int, size_B: int) -> float:
    return consistent(operation, ranks, size_B) * (2.0 if (operation, size_B) == ("gather", 4096) else 1.0)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tables, to which tests add files of their own names."""
    folder = tmp_path_factory.mktemp("tables")
    named = {("gather", "linear"): 0.5}
    for name, truth, launches, seed in (
        ("slow", slow, 5, 1),
        ("again", slow, 5, 2),
        ("good", consistent, 5, 3),
        ("few", slow, 2, 4),
    ):
        made = frame(truth, launches, Made(own=0.02), seed, named=named if truth is slow else None)
        table.write(made, folder / f"{name}.csv")
    return folder


@pytest.fixture
def tables(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written)
    monkeypatch.setenv("COLUMNS", "200")


def answer(*words: str) -> tuple[int, Any]:
    code, out, _ = outcome("check", *words, "--json")
    return code, json.loads(out)


@pytest.mark.usefixtures("tables")
def test_violations_are_named_with_what_mends_them() -> None:
    code, out, _ = outcome("check", "slow.csv", "--guidelines", "gather_as_allgather")
    assert code == 1
    rows = [line for line in out.splitlines() if line.strip().startswith("gather ")]
    assert len(rows) == 3
    assert out.startswith("3 calls violate a guideline, the worst by × ")
    assert all("allgather 4 KiB" in row and "linear" in row for row in rows)
    assert "This run would have noticed × " in out
    assert "Chance of any false alarm: at most 5 % (Holm)." in out


@pytest.mark.usefixtures("tables")
def test_a_library_that_keeps_the_guidelines_passes() -> None:
    code, data = answer("good.csv")
    assert (code, data["violations"]) == (0, [])
    assert data["kept"] > 0
    power = data["power"]
    assert 1.05 < power["median_factor"] < power["worst_factor"]
    assert (power["factor"], power["probability"]) == (1.3, 0.95)
    # Where the worst comparison finds more than 1.3 alone, it takes further launches, and the other way round.
    assert (power["worst_factor"] > 1.3) == (power["launches"] > data["launches"])


@pytest.mark.usefixtures("tables")
def test_few_launches_are_no_alarm_and_said() -> None:
    code, out, err = outcome("check", "few.csv")
    assert code == 0
    assert "fewer than 5 launches" in out
    assert "--launches 10" in out
    assert answer("few.csv")[1]["power"] is None
    assert "too few or differ too much" in " ".join(err.split())


@pytest.mark.usefixtures("tables")
def test_a_second_campaign_confirms_or_refutes() -> None:
    code, data = answer("slow.csv", "--confirm", "again.csv")
    assert code == 1
    assert {violation["again"]["verdict"] for violation in data["violations"]} == {"confirmed"}
    out = succeeded(
        "check", "slow.csv", "--confirm", "good.csv", "--guidelines", "gather_as_allgather,split_in_parts"
    )
    assert "not confirmed" in out


@pytest.mark.usefixtures("tables")
def test_against_an_older_table() -> None:
    code, data = answer("slow.csv", "--against", "good.csv", "--guidelines", "barrier_as_allreduce")
    assert code == 1
    assert data["violations"] == []
    assert {change["where"].split(",")[0] for change in data["against"]["slower"]} == {"gather"}
    assert answer("good.csv", "--against", "slow.csv")[0] == 0
    code, out, _ = outcome("check", "slow.csv", "--against", "good.csv")
    assert " became slower (up to × " in out.splitlines()[0]
    assert "within the noise between launches" in out


@pytest.mark.usefixtures("tables")
def test_what_no_guideline_compares_is_compared_with_an_older_table() -> None:
    for name in ("slow", "good"):
        made = table.load(Path(f"{name}.csv"))
        table.write(made[(made["operation"] == "gather") & (made["bytes"] == 4096)], Path(f"{name}-one.csv"))
    refused("check", "slow-one.csv", "--guidelines", "barrier_as_allreduce")
    words = ("slow-one.csv", "--guidelines", "barrier_as_allreduce", "--against", "good-one.csv")
    code, data = answer(*words)
    assert (code, data["compared"]) == (1, 0)
    assert data["against"]["slower"]


@pytest.mark.usefixtures("tables")
def test_machine_files_are_compared_only() -> None:
    assert "machine file" in refused("check", MACHINE)
    code, data = answer(str(MACHINE), "--against", str(MACHINE))
    assert code == 0
    assert data["against"]["compared"] > 0
    assert data["violations"] is None


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing-there"], "nothing-there"),
        (["slow.csv", "--family-error", "2 in 100"], "is no share"),
        (["slow.csv", "--family-error", "0"], "--family-error"),
        (["slow.csv", "--least-factor", "0.9"], "--least-factor"),
        (["slow.csv", "--confirm", "fresh"], "is a table, with no plan"),
        (["slow.csv", "--trust"], "--trust means nothing without --confirm"),
        (["slow.csv", "--against", "nothing-there"], "nothing-there"),
    ],
)
def test_what_it_refuses(words: list[str], said: str) -> None:
    err = refused("check", *words)
    assert said in err


def test_what_launches_of_a_fake_do_not_show_is_not_confirmed(tmp_path: Path) -> None:
    """Its times grow with the bytes."""
    with fake_launches(), patch.object(further, "prepare", lambda _: [fake_launch("good")]):
        _not_confirmed(tmp_path)


def _not_confirmed(tmp_path: Path, *which: str) -> None:
    campaign, again = tmp_path / "c", tmp_path / "again"
    words = ("--operation", "bcast", "--ranks", "2", "--bytes", "8,256", "--launches", "5")
    fast = (*which, "--budget", "0.02s", "--visits", "1")
    campaign_answer(run_hockney("measure", *words, *fast, "-o", str(campaign), "--json"))
    path = campaign / "records.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for record in records:
        # However busy this machine is: 8 B take ten times as long as 256 B, which in truth no library needs.
        time_s = 1e-5 if record["bytes"] == 8 else 1e-6
        record |= {"value": time_s, "low": 0.99 * time_s, "high": 1.01 * time_s}
        if "reference_s" in record:
            record["reference_s"] = [1e-7] * len(record["reference_s"])
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    code, data = answer(str(campaign))
    assert code == 1
    assert [(one["guideline"], one["bytes"]) for one in data["violations"]] == [("monotone_in_bytes", 8)]
    # Chance would call it confirmed once in 10,000 times.
    code, data = answer(str(campaign), "--confirm", str(again), "--family-error", "0.01%")
    assert data["violations"][0]["again"]["verdict"] == "not confirmed"
    assert code == 0
    launches = (again / "launches.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(launches) >= 10
    # The plan of another user's campaign is not run unasked.
    plan = json.loads((campaign / "plan.json").read_text(encoding="utf-8"))
    (campaign / "plan.json").write_text(json.dumps(plan | {"variants": ["x: --mca evil 1"]}), encoding="utf-8")
    err = refused("check", campaign, "--confirm", tmp_path / "third")
    assert "--trust" in err
    assert not (tmp_path / "third").exists()
