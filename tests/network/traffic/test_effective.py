"""Effective bisection bandwidth, against networks on which every pair can be counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import succeeded
from tests.factories import holds

from hockney.errors import RequestError
from hockney.machine.congestion import MeasuredShare
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.base import Allocated, Links
from hockney.network.traffic.effective import effective_bisection, effective_share, pair_fractions
from hockney.network.traffic.study import EffectiveShare, redrawn, study
from hockney.report.effective import ComputedShare, findings


def whole(spec: str) -> Allocated:
    network = parse_spec(spec)
    return Allocated(Links.of(network), np.arange(network.nodes))


def effective_share_of(
    among: Allocated, routing: str, samples: int, traffic: str = "random_halves"
) -> EffectiveShare:
    first = study(among, traffic=traffic, routing=routing, size_B=1.0)
    return effective_bisection(redrawn(first, samples), samples)


@pytest.mark.parametrize(("spec", "routing"), [("single-switch:16", "up_down"), ("complete:9", "shortest")])
def test_without_shared_links_every_pair_has_its_own(spec: str, routing: str) -> None:
    found = effective_share_of(whole(spec), routing, samples=4)
    assert found.fraction == 1.0
    assert (found.low, found.high) == (1.0, 1.0)


def test_one_link_between_two_leaves() -> None:
    """Of n pairs across the only link each gets 1/n; pairs below one leaf have theirs to themselves."""
    among = whole("fat-tree:nodes=8,leaf-ports=4:1,spines=1,spine-ports=2")
    for seed in range(5):
        for traffic in ("random_bisection", "random_halves"):
            drawn = study(among, traffic=traffic, routing="up_down", size_B=1.0, seed=seed)
            out, into = (drawn.demand.source < 4), (drawn.demand.target < 4)
            # The link has two directions: those that cross it share one with those that go the same way.
            with_it = np.where(out & ~into, (out & ~into).sum(), (~out & into).sum())
            share = np.where(out != into, 1 / np.maximum(1, with_it), 1.0)
            assert pair_fractions(drawn) == pytest.approx(share)


def test_one_way_is_told_from_both_ways() -> None:
    """Of a 4 × 4 × 4 torus, counted by an independent program: 0.960 one way, 0.895 both ways."""
    for traffic, ways, wanted in (
        ("random_halves", "one way", 0.960),
        ("random_bisection", "both ways", 0.895),
    ):
        found = effective_share_of(whole("torus:4x4x4"), "shortest", samples=20, traffic=traffic)
        assert found.ways == ways
        # The mean of 20 draws scatters by 0.003.
        assert found.fraction == pytest.approx(wanted, abs=0.012)
    assert MeasuredShare(4, 0.5, None, None).ways == "one way"


def test_the_mean_over_pairs_is_more_than_the_worst_link_leaves() -> None:
    """A full fat tree with fixed routes: the worst pair of a bisection gets less than the mean of all."""
    among = whole("fat-tree:nodes=16,leaf-ports=4:4,spines=4,spine-ports=4")
    found = effective_share_of(among, "d_mod_k", samples=10)
    worst = [
        study(among, traffic="random_halves", routing="d_mod_k", size_B=1.0, seed=seed).fraction
        for seed in range(10)
    ]
    assert found.fraction > np.mean(worst)
    assert found.fraction < 1.0
    assert holds(found, found.fraction)


def test_too_many_pairs_are_refused() -> None:
    with pytest.raises(RequestError, match="pairs"):
        effective_share_of(whole("torus:16x16x16"), "shortest", samples=1000)


def test_the_curve_and_its_figure(tmp_path: Path) -> None:
    figure = tmp_path / "e.svg"
    words = ("--topology", "torus:4x4", "--nodes", "4,16", "--figure", str(figure), "--json")
    out = succeeded("network", "effective-bisection", *words)
    told = json.loads(out)
    few, many = told["computed"]
    # Of a torus 4 × 4, 8 links for 8 pairs; a ring of its first row among them has itself.
    assert (few["nodes"], many["nodes"]) == (4, 16)
    assert many["bisection_share"] == 1.0
    assert 0 < many["worst_permutation_share"] <= many["fraction"] <= 1
    assert "full bisection" in figure.read_text()


def test_findings_have_their_number_and_interval() -> None:
    share = effective_share(64, np.array([0.8, 0.9, 1.0]), "one way")
    computed = ComputedShare(**vars(share), bisection_share=1.0, worst_permutation_share=None)
    measured, alone = findings([computed], [MeasuredShare(32, 0.5, 0.4, 0.6)]), findings([], [])
    assert [finding.weight for finding in measured] == [0.6, 0.4]
    assert "32 ranks" in measured[0].text
    assert "50 % (95 %: 40 % to 60 %)" in measured[0].text
    # Student's t with two degrees of freedom: 4.303 · 0.1/√3, and no more than all.
    assert "90 % (95 %: 65 % to 100 %)" in measured[1].text
    assert alone == []
