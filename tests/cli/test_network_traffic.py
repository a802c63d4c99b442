"""`hockney network traffic` and `hockney network map` through the command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tests.command_line import answer, run_hockney
from tests.factories import written

run, told = partial(run_hockney, "network"), partial(answer, "network")


def test_the_worst_pairing_of_hoefler_2010() -> None:
    found = told("traffic", "--topology", "torus:8x8x8", "--pattern", "worst-pairing")
    # Section 3: congestion 3k/2 = 12 with six streams; a twelve-hop way for each.
    assert found["beta_factor"] == {"low": 1.0, "high": 12.0, "streams": 6}
    assert found["mean_hops"] == 12.0
    assert found["routing"]["name"] == "shortest"


def test_only_the_worst_permutation_is_called_a_bound() -> None:
    text = {}
    for traffic in ("worst-pairing", "worst-permutation"):
        done = run("traffic", "--topology", "torus:8", "--pattern", traffic)
        assert done.returncode == 0, done.stderr
        text[traffic] = " ".join(done.stdout.split())
    # 4 hops by both ways: 8 · 4 links over 16, two streams; 3 further all the same way: 3 on a link, two streams.
    assert "≤ T(S); of this pairing, worst by distance and not a bound, α + β·S·4," in text["worst-pairing"]
    assert "≤ T(S) ≤ α + β·S·6," in text["worst-permutation"]


def test_allocation_and_words_in_text() -> None:
    done = run("traffic", "--topology", "torus:8,link=80Gbit/s", "--pattern", "bisection", "--allocation", "0-3")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "4 of 8 nodes" in text
    # Nodes 0 ↔ 2 and 1 ↔ 3: both cross the link from 1 to 2, half a link for each = 5 GB/s.
    assert "congestion: 2 messages on the most loaded link" in text
    assert "at most 0.5 of one of its links = 5 GB/s" in text
    assert "node 1 → node 2" in text


@pytest.mark.usefixtures("wide")
def test_a_map_of_ones_own_beside_the_others(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.txt", "".join(f"{rank} {rank ^ rank // 2}\n" for rank in range(8)))
    done = run("map", "--pattern", "ring:8", "--topology", "hypercube:3", "--mapping", str(path))
    assert done.returncode == 0, done.stderr
    assert "is best: linear, the default, has" in done.stdout
    # Gray's code of its own gives every neighbour one hop: 16 messages, 16 hops.
    found = told("map", "--pattern", "ring:8", "--topology", "hypercube:3", "--mapping", str(path))
    assert next(one for one in found["placements"] if one["placement"] == str(path))["hop_bytes"] == 16


def test_an_option_without_text_asks_for_nothing() -> None:
    case = ("map", "--pattern", "ring:16", "--topology", "torus:4x4")
    assert told(*case, "--mapping", "", "--bytes", "") == told(*case)
