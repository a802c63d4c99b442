"""Latency by hops in a machine file: a planted line comes back, and predicts messages of other distances."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.command_line import succeeded
from tests.factories import campaign as campaign_of
from tests.factories import record

from hockney.api.campaign import Campaign as MeasuredCampaign
from hockney.machine.hops import hops_effects
from hockney.network.topologies.base import parse_spec
from hockney.records.contents import Contents, read
from hockney.records.folder import Campaign

BASE_S, HOP_S = 1e-6, 2e-7


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Host 0 of a ring of 8 with three others, at three sizes: 1, 2 and 4 hops, 2.33 in the mean."""
    records = [
        record(size_B, BASE_S + HOP_S * hops + 1e-9 * size_B, locality="network", pair=f"0-{hops}", launch="one")
        for hops in (1, 2, 4)
        for size_B in (8, 64, 512, 4096)
    ]
    launch = {"id": "one", "ranks": [{"rank": i, "host": f"n{i}"} for i in range(8)]}
    return campaign_of(tmp_path / "c", records, launch)


def test_a_planted_line_comes_back(campaign: Path) -> None:
    (effect,) = hops_effects(read(campaign), parse_spec("torus:8"))
    assert effect.parameters["per_hop_s"].value == pytest.approx(HOP_S)
    assert effect.parameters["base_s"].value == pytest.approx(BASE_S + 8e-9)
    assert effect.parameters["mean_hops"].value == pytest.approx(7 / 3)


def test_ranks_without_a_host_are_named(tmp_path: Path) -> None:
    warm = record(8, 1e-6, locality="network", pair="0-1", launch="one")
    records = [warm.model_copy(update={"cache": cache}) for cache in ("warm", "off")]
    (effect,) = hops_effects(read(campaign_of(tmp_path / "c", records)), parse_spec("torus:8"))
    assert "where the ranks '0-1' were" in effect.not_identified["per_hop_s"]


def over(machine: Path, hops: int, size_B: int = 8, *more: str) -> dict[str, Any]:
    words = ("--machine", machine, "--bytes", f"{size_B}", "--hops", f"{hops}", "--json")
    out = succeeded("predict", "pingpong", *words, *more)
    answer = json.loads(out)
    (message,), (together,) = answer["predictions"], answer["with_effects"]
    assert all(term["time_s"] >= 0 for term in together["terms"])
    return {**message, "together_s": together["time_s"], "hops": answer["hops"]}


def test_a_message_over_more_hops(campaign: Path, tmp_path: Path) -> None:
    """The planted time at every distance; beyond the 1 to 4 measured it is marked, and its interval grows."""
    machine = tmp_path / "m.json"
    succeeded("fit", campaign, "-o", machine, "--topology", "torus:8")
    for hops in (1, 3, 4, 6):
        for size_B in (8, 100, 4096):
            found = over(machine, hops, size_B)
            assert found["time_s"] == pytest.approx(BASE_S + HOP_S * hops + 1e-9 * size_B, rel=1e-3)
            assert found["together_s"] == pytest.approx(found["time_s"])
            assert ("extrapolated: measured were 1 to 4" in found["hops"]) == (hops > 4)
    widths = [over(machine, hops)["high_s"] / over(machine, hops)["time_s"] for hops in (4, 6, 60)]
    assert widths == sorted(set(widths))


def test_a_collective_over_links_takes_each(campaign: Path, tmp_path: Path) -> None:
    """Of neighbours one, of rank 4 of a ring three more and the root's time for the three before it; larger sizes
    than those over links keep their bytes."""
    machine = tmp_path / "m.json"
    succeeded("fit", campaign, "-o", machine, "--topology", "torus:8")

    def took(ranks: int, size_B: int) -> Any:
        asked = ("--ranks", f"{ranks}", "--bytes", f"{size_B}", "--topology", "torus:8,link=1Tbit/s")
        out = succeeded("predict", "bcast", "--algorithm", "linear", "--machine", machine, *asked, "--json")
        (row,) = json.loads(out)["predictions"][0]["algorithms"]
        return row

    for size_B in (64, 65536):
        assert took(2, size_B)["time_s"] == pytest.approx(BASE_S + HOP_S + 1e-9 * size_B, rel=1e-2)
    row = took(5, 64)
    assert row["time_s"] == pytest.approx(BASE_S + 4 * HOP_S + 1e-9 * 64 + row["terms_s"]["gap"], rel=1e-2)


def test_sizes_of_the_nearest_pairs_alone_change_nothing(campaign: Path, tmp_path: Path) -> None:
    """Neighbours have more sizes, as an adaptive campaign gives them; a link costs more from 1 KiB on."""
    folder = Campaign.create(tmp_path / "more", {})
    folder.append_all([*Campaign.open(campaign).launches(), *Campaign.open(campaign).records()])
    (first,) = [record for record in folder.records() if (record.pair, record.bytes) == ("0-1", 8)]
    more = [first.model_copy(update={"bytes": b, "value": BASE_S + HOP_S + 1e-9 * b}) for b in (16, 32, 2048)]
    folder.append_all(more)
    for path in (campaign, folder.path):
        (effect,) = hops_effects(read(path), parse_spec("torus:8"))
        assert [row["per_hop_s"] for row in effect.points] == pytest.approx([HOP_S] * len(effect.points))
        means = [BASE_S + 7 / 3 * HOP_S + 1e-9 * float(row["size_B"] or 0) for row in effect.points]
        assert [row["mean_s"] for row in effect.points] == pytest.approx(means)


def test_one_distance_is_said_to_tell_nothing(campaign: Path) -> None:
    (effect,) = hops_effects(read(campaign), parse_spec("complete:8"))
    assert effect.parameters == {}
    assert "1 hops apart" in effect.not_identified["per_hop_s"]


def test_hosts_that_are_fewer_than_the_nodes_are_named(campaign: Path) -> None:
    fitted = [MeasuredCampaign.open(campaign).fitted(f"torus:{nodes}") for nodes in (8, 12)]
    said = [" ".join(machine.provenance.warnings) for machine in fitted]
    assert ["8 hosts are taken to be the first of the 12 nodes" in text for text in said] == [False, True]


def test_a_table_has_no_hosts(tmp_path: Path) -> None:
    assert hops_effects(Contents(tmp_path / "t.csv", pd.DataFrame()), parse_spec("torus:8")) == []
