"""`hockney tune --verify` with launches of a real Open MPI: what is planted there is the campaign alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import outcome
from tests.factories import not_none
from tests.tune.planted import record

from hockney.campaign.plan import Plan
from hockney.records import table
from hockney.records.folder import Campaign
from hockney.records.verification import find
from hockney.runner.mpi import Mpi

SIZE_B = 1 << 17
DEFAULT_S = 1e-3


def planted(folder: Path, mpi: Mpi) -> Path:
    """A campaign that calls segments of 64 B a gain."""
    plan = Plan(
        ranks=2,
        operations=["bcast"],
        budget_s=0.05,
        mpi=str(mpi.wrapper),
        bind_to="none",
        variants=["yielding: OMPI_MCA_mpi_yield_when_idle=1"],
    )
    made = Campaign.create(folder, plan.model_dump())
    shared = {"ranks": 2, "nodes": 1, "ppn": 2, "mpi": mpi.describe(), "system": "here", "variant": "yielding"}
    made.append_all(
        record(SIZE_B, time_s, algorithm=name, segment_bytes=segment_B, **shared)
        for name, segment_B, time_s in [
            ("default", None, DEFAULT_S),
            ("tuned:pipeline", 64, 0.5 * DEFAULT_S),
        ]
    )
    table.write(table.from_records(made.records()), made.table)
    return folder


# `make test` verifies against a planted machine (test_tune.py), and loads rules into libraries (test_loaded.py).
@pytest.mark.thorough
def test_a_rule_takes_effect_and_what_it_slows_down_goes_back(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.kind != "openmpi":
        pytest.skip("an observable on two ranks of one host that any machine shows is Open MPI's segments")
    rules = tmp_path / "rules"
    code, out, err = outcome(
        *("tune", planted(tmp_path / "c", mpi), "--for", "openmpi-classic", "-o", rules),
        *("--verify", "--trust", "--mpi", mpi.wrapper, "--launches", "4", "--json"),
    )
    assert code == 0, out + err
    told = json.loads(out)
    # 2,048 messages in the place of one: the campaign's claim is wrong by far. How far intervals reach on a busy
    # machine, and so whether the effect counts as proven, is not this test's business.
    (cell,), (proof,) = told["verification"]["cells"], told["verification"]["proofs"]
    assert proof["effect"] != "none"
    # On a machine that changed its level from variant to variant it could not be timed, and goes back as well.
    assert cell["verdict"] in ("slower", "not told", "not timed")
    assert cell["gain"] < 1 if cell["verdict"] != "not timed" else not cell["is_kept"]
    assert told["rules"] == []
    assert "verified" in rules.read_text()
    found = not_none(find(tmp_path / "rules.verified"))
    assert [cell.bytes for cell in found.gone_back] == [SIZE_B]
    launches = Campaign.open(tmp_path / "rules.verified").launches()
    # In turn; on a busy machine a launch may fail to start.
    turns = [(launch.index, launch.variant) for launch in launches]
    assert turns == sorted(turns)
    assert {variant for _, variant in turns} == {"default", "tuned"}
    assert {launch.environment.get("OMPI_MCA_mpi_yield_when_idle") for launch in launches} == {"1"}
