"""Which algorithms campaigns of collectives call the fastest, told apart or equal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.repeatability import winners
from bench.repeatability.winners import CollectiveTime, Far, call, far_points, outcome


def collective(time_s: float, share: float = 0.01, *marks: str) -> CollectiveTime:
    """A time with an interval of ± that share."""
    return CollectiveTime(time_s, time_s * (1 - share), time_s * (1 + share), frozenset(marks))


def test_two_algorithms_are_called_by_the_interval_of_their_ratio() -> None:
    assert call(collective(1.01), collective(1.0)) == "equal"
    # Near, but the interval of the ratio reaches beyond 5 %; it is the root of the sum of squares.
    assert call(collective(1.025, 0.02), collective(1.0, 0.02)) == "cannot be told"
    assert call(collective(1.03, 0.01), collective(1.0, 0.01)) == "equal"
    assert call(collective(1.2), collective(1.0)) == "differs"
    assert call(CollectiveTime(1.2, None, None), collective(1.0)) == "cannot be told"
    # Told apart, but by less than what counts as equal.
    assert call(collective(1.02, 0.001), collective(1.0, 0.001)) == "equal"
    # Wide intervals, and visits beside each other that do not differ.
    visits = {str(launch): [0.01 * launch] for launch in range(12)}
    one, other = (replace(collective(1.0, 0.2), visits=visits) for _ in range(2))
    assert call(one, other) == "equal"
    later = {launch: [time + 0.2] for launch, (time,) in visits.items()}
    assert call(replace(one, visits=later), other) == "differs"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}, "same winner"),
        ({"x": 1.0, "y": 1.01}, {"x": 1.01, "y": 1.0}, "equal"),
        ({"x": 1.0, "y": 1.3}, {"x": 1.3, "y": 1.0}, "differs"),
        ({"x": 1.0, "y": 1.01}, {"x": 1.3, "y": 1.0}, "differs"),
        # An algorithm that one of them lacks wins nothing.
        ({"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0, "z": 0.1}, "same winner"),
    ],
)
def test_winners_of_a_cell(a: dict[str, float], b: dict[str, float], expected: str) -> None:
    times = [{name: collective(time_s) for name, time_s in each.items()} for each in (a, b)]
    assert outcome(*times) == expected


def test_algorithms_of_one_schedule_are_equal() -> None:
    a = {"x": CollectiveTime(1.0, 0.99, 1.01, schedule=7), "y": CollectiveTime(1.2, 1.19, 1.21, schedule=7)}
    assert outcome(a, {"x": a["y"], "y": a["x"]}) == "equal"
    unknown = {name: collective(time.time_s) for name, time in a.items()}
    assert outcome(unknown, {"x": unknown["y"], "y": unknown["x"]}) == "differs"


def test_what_one_campaign_cannot_tell_is_not_told() -> None:
    a = {"x": collective(1.0), "y": collective(1.3)}
    b = {"x": collective(1.1, 0.2), "y": collective(1.0, 0.2)}
    assert outcome(a, b) == outcome(b, a) == "cannot be told"


def test_winners_are_counted_by_cell() -> None:
    cell = {"x": collective(1.0), "y": collective(1.3)}
    other = {"x": collective(1.3), "y": collective(1.0)}
    a = {("bcast", size): cell for size in range(20)}
    b = {**a, ("bcast", 0): other, ("bcast", 99): cell}
    pair = winners.winners(("a", "b"), a, b)
    assert (pair.cells, pair.only_in_one) == (20, 1)
    assert pair.outcomes == {"same winner": 19, "differs": 1}
    assert pair.share("same winner", "equal") == 0.95
    assert winners.verdict([pair], [])[0].holds
    b[("bcast", 1)] = other
    worse = winners.winners(("a", "b"), a, b)
    assert not winners.verdict([pair, worse], [])[0].holds


def test_without_cells_no_bar_on_winners_holds() -> None:
    none = winners.winners(("a", "b"), {("bcast", 1): {"x": collective(1)}}, {})
    assert [bar.holds for bar in winners.verdict([none], [])[:2]] == [False, False]


def test_far_points_are_those_outside_all_quiet_ones() -> None:
    cell = ("bcast", 8)
    quiet = [{cell: {"x": collective(1.0), "y": collective(1.0)}}, {cell: {"x": collective(2.0)}}]
    loaded = {
        cell: {"x": collective(2.2), "y": collective(1.2), "z": collective(9.0)},
        ("bcast", 16): {"x": collective(9.0)},
    }
    (far,) = far_points(quiet, loaded)
    assert (far.cell, far.algorithm) == (cell, "y")
    assert far.ratio == pytest.approx(1.2)
    assert not far_points(quiet, {cell: {"x": collective(0.9)}})
    assert far_points(quiet, {cell: {"x": collective(0.8)}})


def test_a_far_point_needs_a_mark() -> None:
    def holds(*marks: str) -> bool:
        return winners.verdict([], [Far(("bcast", 8), "x", 2.0, frozenset(marks))])[2].holds

    assert holds("wide")
    assert not holds()
