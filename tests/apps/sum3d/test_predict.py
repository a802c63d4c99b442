"""`hockney predict sum3d`, as a user runs it."""

from __future__ import annotations

import json

import pytest
from tests.command_line import Run
from tests.factories import VERSION_1 as MACHINE
from tests.factories import verb

MEMORY = ("--memory-bandwidth", "10GB/s")

run = verb("predict", "sum3d", "--machine", str(MACHINE))


def test_parts_by_hand(run: Run) -> None:
    code, out, err = run("512", "1", "1", "--ranks", "2", *MEMORY, "--locality", "package", "--json")
    assert (code, err) == (0, "")
    made = json.loads(out)
    # The file's 0.2 µs + 2048 B / 10 GB/s, and rank 0's copy of its own 2048 B, read and written.
    served_s = 0.2e-6 + 2048 / 10e9 + 4096 / 10e9
    assert made["scatter_s"] == pytest.approx(2 * served_s)
    assert made["gather_s"] == pytest.approx(served_s)
    assert made["compute_s"] == pytest.approx(256 * 24 / 10e9)
    assert made["time_s"] == pytest.approx(3 * served_s + 256 * 24 / 10e9)
    assert sum(made["shares"].values()) == pytest.approx(1)
    assert (made["elements"], made["block_B"], made["grid"]) == ([256, 256], 2048, "2x1x1")


def test_one_rank_is_one(run: Run) -> None:
    out = run.prints("512", "1", "1", "--ranks", "1", *MEMORY, "--locality", "package")
    assert "on 1 rank, grid 1x1x1" in out


def test_text_says_loads_and_shares(run: Run) -> None:
    code, out, err = run(
        "1200", "200", "100", "--grid", "8x3x1", "--split", "cartesian", "--locality", "package", *MEMORY
    )
    assert code == 0
    assert "P. 2,5,8,11,14,17,20,23: 990000" in out
    assert "scatter" in out
    # 8 MB messages; the file's largest are smaller.
    assert "extrapolated" in err


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("5", "5", "5", "--ranks", "2"), "needs --memory-bandwidth"),
        (("5", "5", "5", *MEMORY), "needs --ranks or --grid"),
        (("5", "5", "0", "--ranks", "2", *MEMORY), "has no elements"),
        (("5", "5", "5", "--ranks", "0", *MEMORY), "not 0"),
        (("5", "5", "5", "--ranks", "4", "--grid", "2x1x1", *MEMORY), "2 processes, not 4"),
        (("5", "5", "5", "--grid", "6x1x1", "--split", "cartesian", *MEMORY), "would get nothing"),
        (("5", "5", "5", "--ranks", "2", "--split", "rows", *MEMORY), "unknown --split"),
        (("5", "5", "5", "--ranks", "2", "--locality", "numa", *MEMORY), "no messages of locality 'numa'"),
        (("5", "5", "5", "--ranks", "2", "--algorithm", "ring", *MEMORY), "unknown --algorithm 'ring'"),
        (("5", "5", "5", "--ranks", "2", "--memory-bandwidth", "10 parsecs"), "not a rate"),
        (("5", "5", "5", "--ranks", "2", "--memory-bandwidth", "0B/s"), "without bandwidth"),
    ],
)
def test_wrong_requests(run: Run, words: tuple[str, ...], what: str) -> None:
    code, out, _ = run(*words, "--json")
    assert code == 2
    assert what in json.loads(out)["error"]["message"]
