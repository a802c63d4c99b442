"""The page of exercises is what its script makes, and a difference says what it means."""

from __future__ import annotations

import math

import pytest
from bench.exercises import networks, programs
from bench.exercises.page import PAGE, page
from bench.exercises.rows import DRAWS, Row


def test_the_page_is_made_by_its_script() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run bench/exercises"


@pytest.mark.parametrize(
    ("printed", "ours", "difference"),
    [
        (5.2, 5.2857142857, "+1.6 %"),
        (1000.0, 512.0, "−49 %"),
        (2.0, 5.0, "+150 %"),
        # Alike to the six digits that are shown.
        (0.95, 0.95 + 1e-9, "none"),
        ("a", "b", "differs"),
        ("a", "a", "none"),
        # No number to compare with is no agreement.
        (1.0, "–", "–"),
        ("no number", 1.0, "–"),
    ],
)
def test_a_difference_is_hockneys(printed: float | str, ours: float | str, difference: str) -> None:
    assert Row("x", printed, ours, "formula").difference == difference


def test_a_printed_number_that_is_wrong_shows() -> None:
    """The tree over 14 processes: 13 messages, one to each other process, not the 15 in print."""
    given = {"broadcast": {"size_B": 16384, "segments": 4, "rows": [
        {"algorithm": "tree", "ours": "halving_tree", "ranks": 14, "critical": 4, "all": 15},
    ]}}  # fmt: skip
    rows = {row.what: row for row in networks.broadcast(given).rows}
    assert rows["tree (`halving_tree`), 14 ranks: in all"].ours == 13
    assert rows["tree (`halving_tree`), 14 ranks: in all"].difference == "−13 %"


def test_planted_latencies_of_a_ring_come_back() -> None:
    planted = [1e-6, 3e-6, 5e-6]
    found, broke = programs._planted_ring([2 * one for one in planted], [12, 24, 48], 9)
    # Twenty curves with 1 % noise, lines through twelve points and more.
    assert found == pytest.approx(planted, rel=0.03)
    assert broke == DRAWS
    assert not any(map(math.isnan, found))
