"""Predicted against measured in a report: points left out, what is said, when nothing is drawn."""

from __future__ import annotations

import pandas as pd
import pytest
from tests.factories import not_none, row

from hockney.errors import RequestError
from hockney.predict.points import points
from hockney.report import predicted as module
from hockney.report.predicted import judged, split_of


def table(ranks: range | tuple[int, ...], sizes: tuple[int, ...] = (8, 1024), system: str = "s") -> pd.DataFrame:
    """Broadcasts whose times are straight lines in the number of ranks."""
    rows = [
        row(size, count, (2 + slope * count * (1 + size / 1e4)) * 1e-6, system=system, algorithm=algorithm)
        for algorithm, slope in (("linear", 0.3), ("binomial", 0.1))
        for count in ranks
        for size in sizes
    ]
    return pd.DataFrame(rows)


def test_more_ranks_than_were_trained_are_asked_for() -> None:
    made = judged(table(range(2, 18)), "bcast", lambda _: None)
    assert made.drawing is not None
    result = not_none(made.result)
    # Sixteen numbers of ranks, half of them; two algorithms and two sizes.
    assert (result.train, result.test) == ("ranks <= 9", "ranks > 9")
    assert (result.n_train, result.n_test) == (32, 32)
    assert "32 points (ranks <= 9)" in made.drawing.caption
    # A straight line predicts straight lines, and its interval closes on them.
    assert (result.judged["linear_in_ranks"].median_relative_error or 0) < 1e-9
    assert "linear_in_ranks median < 0.01 % and P95 < 0.01 %" in made.drawing.alt


def test_of_few_numbers_of_ranks_half_of_the_points_are_left_out() -> None:
    frame = table((4, 8, 16), sizes=tuple(2**power for power in range(20)))
    train, test = split_of(points(frame, "bcast").frame)
    assert (train, test) == ("sample(0.5, seed=1)", "not sample(0.5, seed=1)")


def test_who_predicts_nothing_is_said() -> None:
    # One number of ranks has no line.
    made = judged(table((8,), sizes=tuple(2**power for power in range(20))), "bcast", lambda _: None)
    assert "linear_in_ranks predicted none of these points" in made.note
    assert "linear_in_ranks" not in not_none(made.drawing).alt


def test_of_many_points_some_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 40)
    made = judged(table(range(2, 66), sizes=(8, 64, 512)), "bcast", lambda _: None)
    # Each point by a hash of its own: of 192 with probability 40/192, so three deviations are 17.
    assert made.result is not None
    assert min(made.result.n_train, made.result.n_test) >= 23
    assert max(made.result.n_train, made.result.n_test) <= 57
    assert "of 384 in all" in not_none(made.drawing).caption


def test_of_several_systems_the_one_with_most_points() -> None:
    frame = pd.concat([table(range(2, 18), system="many"), table(range(2, 10), system="few")])
    made = judged(frame, "bcast", lambda _: None)
    assert "points of many (" in not_none(made.drawing).caption
    assert made.result is not None
    assert made.result.n_train + made.result.n_test == 64


@pytest.mark.parametrize("ranks", [(2, 4), (2, 4, 8)])
def test_too_few_points_are_said_and_not_drawn(ranks: tuple[int, ...]) -> None:
    made = judged(table(ranks), "bcast", lambda _: None)
    assert made.drawing is None
    assert "too few" in made.note


def test_one_side_with_too_few_points() -> None:
    known = points(table((2, 3, 4, 64, 128)), "bcast").frame
    with pytest.raises(RequestError, match="one side"):
        split_of(known[(known["ranks"] < 64) | (known["bytes"] == 8)])
