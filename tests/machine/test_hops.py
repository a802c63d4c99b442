"""Latency by hops in a machine file: a planted line comes back, and predicts messages of other distances."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import outcome

from hockney.machine.hops import hops_effects
from hockney.network.topologies.base import parse_spec
from hockney.records.folder import Campaign
from hockney.records.journal import LaunchLine
from hockney.records.record import Record

BASE_S, HOP_S = 1e-6, 2e-7


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Host 0 of a ring of 8 with three others, at three sizes: 1, 2 and 4 hops, 2.33 in the mean."""
    folder = Campaign.create(tmp_path / "c", {})
    folder.append(
        LaunchLine.model_validate({"id": "one", "ranks": [{"rank": i, "host": f"n{i}"} for i in range(8)]})
    )
    known: dict[str, Any] = {
        "source": "hockney",
        "operation": "pingpong",
        "statistic": "one_way",
        "locality": "network",
    }
    folder.append_all(
        [
            Record(
                **known, bytes=size_B, value=BASE_S + HOP_S * hops + 1e-9 * size_B, pair=f"0-{hops}", launch="one"
            )
            for hops in (1, 2, 4)
            for size_B in (8, 64, 512, 4096)
        ]
    )
    return folder.path


def test_a_planted_line_comes_back(campaign: Path) -> None:
    (effect,) = hops_effects(campaign, parse_spec("torus:8"))
    assert effect.parameters["per_hop_s"].value == pytest.approx(HOP_S)
    assert effect.parameters["base_s"].value == pytest.approx(BASE_S + 8e-9)
    assert effect.parameters["mean_hops"].value == pytest.approx(7 / 3)


def test_a_message_over_more_hops(campaign: Path, tmp_path: Path) -> None:
    """Fitted with its topology, the machine file adds (H − 7/3) hops; the median of the pairs crossed two."""
    machine = tmp_path / "m.json"
    code, _, err = outcome("fit", campaign, "-o", machine, "--topology", "torus:8")
    assert code == 0, err
    code, out, err = outcome("predict", "pingpong", "--machine", machine, "--bytes", "8", "--hops", "5", "--json")
    assert code == 0, err
    (answer,) = json.loads(out)["with_effects"]
    hops = next(term for term in answer["terms"] if term["effect"] == "hops")
    assert hops["time_s"] == pytest.approx((5 - 7 / 3) * HOP_S)
    assert hops["origin"] == "measured"
    assert answer["time_s"] == pytest.approx(sum(term["time_s"] for term in answer["terms"]))


def test_one_distance_is_said_to_tell_nothing(campaign: Path) -> None:
    (effect,) = hops_effects(campaign, parse_spec("complete:8"))
    assert effect.parameters == {}
    assert "1 hops apart" in effect.not_identified["per_hop_s"]


def test_a_table_has_no_hosts(tmp_path: Path) -> None:
    assert hops_effects(tmp_path / "t.csv", parse_spec("torus:8")) == []
