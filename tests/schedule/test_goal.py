"""GOAL text read: what it says is what is simulated, and what it cannot be is refused with its line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import refusing

from hockney import _core
from hockney._core import Graph, Kind
from hockney.errors import RequestError
from hockney.predict.costs import LoggopsParameters
from hockney.predict.simulation import read_goal, simulate, simulate_graph
from hockney.schedule.catalogue import ScheduleRequest, ask
from hockney.schedule.goal import goal

COSTS = LoggopsParameters(
    latency_s=2e-6, overhead_s=5e-7, receive_overhead_s=5e-7, gap_s=1e-6, gap_s_per_B=1e-9, reduce_s_per_B=1e-9
)
FREE = LoggopsParameters(latency_s=2e-6, overhead_s=0.0, receive_overhead_s=0.0, gap_s=0.0, gap_s_per_B=0.0)
"""No processor and no port is busy: times follow from what waits for what alone."""
TICK_S = 1e-9

Read = Callable[[str], Graph]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The graph of a text."""

    def graph(text: str) -> Graph:
        (tmp_path / "a.goal").write_text(text)
        return read_goal(tmp_path / "a.goal")

    return graph


def exported(request: ScheduleRequest, path: Path) -> Graph:
    path.write_text("\n".join(goal(request, 1.0)))
    return read_goal(path)


schedules = st.sampled_from([(one.collective, one.name) for one in _core.algorithms()])


@given(name=schedules, ranks=st.integers(2, 13), size_B=st.integers(0, 300), segment_B=st.sampled_from([0, 64]))
@settings(max_examples=60, deadline=None)
def test_what_is_exported_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, name: tuple[str, str], ranks: int, size_B: int, segment_B: int
) -> None:
    """Every operation, and when each rank ends by sizes, peers and dependencies alone."""
    try:
        request = ask(*name, ranks=ranks, size_B=size_B, segment_B=segment_B)
    except RequestError:
        return
    graph = exported(request, tmp_path_factory.getbasetemp() / "round_trip.goal")
    steps = [step for program in request.generate() for step in program.steps]
    assert graph.operations == len(steps)
    assert graph.messages == sum(step.kind == Kind.send for step in steps)
    if name != ("allreduce", "segmented_ring"):  # it waits for a receive that the graph may take later
        assert simulate_graph(graph, FREE, 0.0).finish_s == pytest.approx(
            simulate(request, FREE, by_class=False).finish_s
        )


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [("bcast", "binomial"), ("bcast", "pipeline"), ("allreduce", "recursive_doubling"), ("reduce", "binomial")],
)
def test_an_exported_schedule_takes_what_it_does_by_itself(
    collective: str, algorithm: str, tmp_path: Path
) -> None:
    request = ask(collective, algorithm, ranks=11, size_B=4096, segment_B=1024 if algorithm == "pipeline" else 0)
    graph = exported(request, tmp_path / "a.goal")
    told = simulate_graph(graph, COSTS, TICK_S)
    assert told.finish_s == pytest.approx(simulate(request, COSTS, by_class=False).finish_s)
    assert told.messages == graph.messages


def test_a_graph_by_hand(read: Read) -> None:
    """500 ticks, o, L, 99 further bytes and o: 0.5 + 0.5 + 2 + 0.099 + 0.5 µs."""
    graph = read(
        """num_ranks 2 // a comment
        rank 0 { l1: calc 500
        /* over
           lines */ l2: send 100b to 1 tag 7 cpu 0 nic 0
        l2 requires l1 }
        rank 1 { r: recv 100b from 0 tag 7
        c: calc 1000 }"""
    )
    assert simulate_graph(graph, COSTS, TICK_S).finish_s.tolist() == pytest.approx([1e-6, 3.599e-6])


def test_what_waits_holds_up_nothing_else(read: Read) -> None:
    """Rank 0 computes after what it receives; what it sends, written below, must leave first, or nobody ends."""
    graph = read(
        """num_ranks 2
        rank 0 {
        a: recv 8b from 1
        b: calc 100
        b requires a
        c: send 8b to 1 }
        rank 1 {
        a: recv 8b from 0
        b: send 8b to 0
        b requires a }"""
    )
    # There and back, each o + L + 7 G + o, and the computation.
    assert simulate_graph(graph, COSTS, TICK_S).finish_s.max() == pytest.approx(2 * 3.007e-6 + 1e-7)


def test_irequires_is_after_the_start(read: Read) -> None:
    text = "num_ranks 1 rank 0 {{ a: calc 100 b: calc 50 c: calc 10 b requires a c {} b }}"
    for word in ("requires", "irequires"):
        graph = read(text.format(word))
        # What rank 1 sends is there after 200 ticks; b waits for it, and c for b or for its start.
        assert simulate_graph(graph, FREE, TICK_S).finish_s[0] == pytest.approx(160e-9)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "num_ranks N"),
        ("num_ranks 0", "0 ranks"),
        ("num_ranks 2\nrank 1 {", "line 2"),
        ("num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\n}", "two operations a"),
        ("num_ranks 1\nrank 0 {\na: calc 1\na requires b\n}", "no b before"),
        ("num_ranks 1\nrank 0 {\nwait 3\n}", "line 3 near 'wait 3'"),
        ("num_ranks 1 rank 0 { } extra", "behind the last"),
        ("num_ranks 2 rank 0 { send 8b to 1 } rank 1 { }", "nobody receives"),
        ("num_ranks 2 rank 0 { } rank 1 { recv 8b from 0 }", "nobody sends"),
        ("num_ranks 2 rank 0 { send 8b to 1 } rank 1 { recv 9b from 0 }", "which receives 9 B"),
        ("num_ranks 2 rank 0 { recv 8b from -1 } rank 1 { send 8b to 0 }", "from anybody"),
        ("num_ranks 2 rank 0 { send 8b to 1 cpu 1 } rank 1 { recv 8b from 0 }", "one processor"),
        ("num_ranks 2 rank 0 { send 8b to 0 } rank 1 { }", "rank 0 sends to rank 0"),
        ("num_ranks 1 rank 0 { calc 99999999999999999 }", "are more than"),
        ("num_ranks 1 rank 0 { calc 9999999999999999999 }", "more than 18 digits"),
        ("num_ranks 2 rank 0 {\nrecv 8b from 1 tag -1\ncalc 1 } rank 1 { send 8b to 0 }", "line 2 near 'tag -1'"),
        (f"num_ranks 1 rank 0 {{ a: calc 1 a requires {'b' * 99} }}", f"no {'b' * 40} before"),
    ],
)
def test_refused(text: str, said: str, read: Read) -> None:
    with refusing(re.escape(said)):
        read(text)


@pytest.mark.parametrize("place", range(14))
def test_a_long_comment_stands_between_any_two_words(place: int, read: Read) -> None:
    """It is longer than what is held of the file at once."""
    words = ["num_ranks", "2", "rank", "0", "{", "a:", "calc", "7", "send", "8b", "to", "1", "tag", "3"]
    words.insert(place, f"/*{' ' * (1 << 19)}*/")
    graph = read(" ".join([*words, "} rank 1 { recv 8b from 0 tag 3 }"]))
    assert (graph.operations, graph.messages) == (3, 1)


def test_a_circle_is_named(read: Read) -> None:
    graph = read(
        """num_ranks 2
        rank 0 { r: recv 8b from 1  s: send 8b to 1  s requires r }
        rank 1 { r: recv 8b from 0  s: send 8b to 0  s requires r }"""
    )
    with pytest.raises(RequestError, match="deadlock"):
        simulate_graph(graph, COSTS, TICK_S)
