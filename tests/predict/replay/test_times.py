"""Times of small runs, calculated by hand: a message of n B takes 10 + (n − 1)/1000 µs, a rank nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.predict.replay.encoding import ANY, KB, US, RankTrace, finish_us, played, traces, write

from hockney import _core
from hockney._core import Network, Problem, Recording, Replay, TraceFault
from hockney.predict.costs import TERMS, LoggopsParameters, per_byte


def test_a_message_and_its_answer(tmp_path: Path) -> None:
    a, b = traces(2)
    a.compute(5 * US)
    a.send(1, KB)
    a.recv(1, KB)
    b.recv(0, KB)
    b.compute(7 * US)
    b.send(0, KB)
    b.compute(3 * US)
    # 5 + 11 + 7 + 11; rank 1 computes once more.
    assert finish_us(tmp_path, [a, b]) == pytest.approx([34, 26])


def test_what_the_layer_takes_is_taken_off_and_the_processor_counts(tmp_path: Path) -> None:
    ranks = traces(2, has_cpu=True)
    for one in ranks:
        one.overhead = 700, 300
    ranks[0].compute(5 * US, cpu_s=2 * US)
    ranks[0].send(1, KB)
    ranks[1].recv(0, KB)
    assert finish_us(tmp_path, ranks) == pytest.approx([2, 13])
    trace = Recording(str(tmp_path / "run.trace"))
    assert [wall_s for _, wall_s, _ in trace.per_rank] == pytest.approx([5 * US, 0])


def test_what_a_rank_sends_itself_is_copied_and_crosses_nothing(tmp_path: Path) -> None:
    """However it is received, and though a message of that size would wait for its receiver."""
    (a,) = traces(1)
    early = a.irecv(None, KB)
    sent = a.isend(0, KB)
    a.wait((early, 0, 0), sent)
    a.sendrecv(0, KB, 0, KB)
    again = a.isend(0, KB)
    a.probe(0)
    a.recv(0, KB)
    a.wait(again)
    assert finish_us(tmp_path, [a], waits_above_B=100, copy_s_per_B=2e-9) == pytest.approx([3 * 2e-3 * KB])


def test_receives_are_waited_for_together(tmp_path: Path) -> None:
    """In the order in which their messages come, whatever the order of the requests."""
    a, b, c = traces(3)
    first, second = a.irecv(1, KB), a.irecv(2, KB)
    a.compute(2 * US)
    a.wait(first, second)
    b.compute(20 * US)
    b.send(0, KB)
    c.send(0, KB)
    assert finish_us(tmp_path, [a, b, c]) == pytest.approx([31, 20, 0])


def test_what_came_long_before_is_taken_in_when_it_came(tmp_path: Path) -> None:
    """Waited for in another order than they were posted in, also by a receive that is posted and waited for."""
    a, b, c = traces(3)
    early, late = a.irecv(1, KB), a.irecv(2, KB)
    a.wait(late)
    a.wait(early)
    again = a.irecv(1, KB)
    a.recv(2, KB)
    a.wait(again)
    b.send(0, KB)
    b.send(0, KB)
    c.compute(100 * US)
    c.send(0, KB)
    c.compute(100 * US)
    c.send(0, KB)
    # A message is a microsecond on the way into its rank, where one that came before is no more.
    assert finish_us(tmp_path, [a, b, c]) == pytest.approx([211, 0, 200])


def test_a_long_message_waits_for_its_receiver(tmp_path: Path) -> None:
    """Request and answer take 10 µs each; an isend is free until it is waited for."""
    a, b = traces(2)
    sent = a.isend(1, KB)
    a.compute(4 * US)
    a.wait(sent)
    b.compute(30 * US)
    b.recv(0, KB)
    # It has been asked for long before; the answer goes back at 30.
    assert finish_us(tmp_path, [a, b], waits_above_B=100) == pytest.approx([51, 51])


def test_what_relies_on_buffers_runs_as_long_as_there_are(tmp_path: Path) -> None:
    def exchange() -> list[RankTrace]:
        ranks = traces(2)
        for one in ranks:
            one.send(1 - one.rank, KB)
            one.recv(1 - one.rank, KB)
        return ranks

    # The eager limit of another size makes it none of those that wait.
    assert finish_us(tmp_path, exchange(), waits_above_B=2000) == pytest.approx([11, 11])
    with pytest.raises(TraceFault, match=r"rank 0 waits for ever in app\.c:1"):
        played(tmp_path, exchange(), waits_above_B=100)


def test_wildcards_are_what_they_got(tmp_path: Path) -> None:
    """Posted in this order: anybody's, then rank 1's; waited for the other way round."""
    a, b, c = traces(3)
    anybody, known = a.irecv(ANY, 10**6, ANY), a.irecv(1, 10**6, 7)
    a.wait(known)
    a.compute(1 * US)
    a.wait((anybody, 1, 7))
    a.wait((a.irecv(ANY, 9, 7), 2, 7))
    b.send(0, KB, 7)
    b.compute(40 * US)
    b.send(0, 2 * KB - 1, 7)
    c.compute(100 * US)
    c.send(0, 1, 7)
    # The first message of rank 1 is anybody's, at 11; the second comes at 52. Rank 2's at 110.
    assert finish_us(tmp_path, [a, b, c]) == pytest.approx([110, 40, 100])
    a, b, c = traces(3)
    anybody, known = a.irecv(ANY, 10**6, ANY), a.irecv(1, 10**6, 7)
    a.wait(known)
    a.compute(1 * US)
    a.wait((anybody, 1, 7))
    b.send(0, KB, 7)
    b.compute(40 * US)
    b.send(0, 2 * KB - 1, 7)
    assert finish_us(tmp_path, [a, b, c]) == pytest.approx([53, 40, 0])


def test_a_receive_that_was_cancelled_takes_no_message(tmp_path: Path) -> None:
    a, b = traces(2)
    a.dropped(a.irecv(1, 1), 1)
    a.recv(1, KB)
    # One of anybody's that is freed: nobody says whose it was.
    a.dropped(a.irecv(ANY, 1), 0)
    freed = b.isend(0, KB)
    b.dropped(freed, 0)
    assert finish_us(tmp_path, [a, b]) == pytest.approx([11, 0])
    assert played(tmp_path, [a, b]).alone == ""


def test_sendrecv_is_both_at_once(tmp_path: Path) -> None:
    ranks = traces(3)
    for one in ranks:
        one.compute(one.rank * US)
        one.sendrecv((one.rank + 1) % 3, KB, (one.rank - 1) % 3, KB)
    assert finish_us(tmp_path, ranks, waits_above_B=None) == pytest.approx([13, 11, 12])
    a, b = traces(2)
    a.sendrecv(1, KB, -1, 0)
    b.sendrecv(-1, 0, 0, KB)
    assert finish_us(tmp_path, [a, b]) == pytest.approx([0, 11])


def test_persistent_requests(tmp_path: Path) -> None:
    a, b = traces(2)
    give, take = a.send_init(1, KB), b.recv_init(ANY, 5 * KB, ANY)
    for _ in range(3):
        a.compute(20 * US)
        a.wait(*a.start(give))
        b.wait(*((number, 0, 0) for number in b.start(take)))
    assert finish_us(tmp_path, [a, b]) == pytest.approx([60, 71])


@pytest.mark.parametrize("takes", [False, True])
def test_probed_messages_are_waited_for_at_the_probe(tmp_path: Path, takes: bool) -> None:
    a, b = traces(2)
    a.probe(1, takes=takes)
    a.compute(6 * US)
    a.event(27) if takes else a.recv(1, KB)
    a.recv(1, KB)
    b.send(0, KB)
    b.compute(30 * US)
    b.send(0, KB)
    assert finish_us(tmp_path, [a, b]) == pytest.approx([41, 30])
    assert played(tmp_path, [a, b]).alone == ""


def test_ranks_are_those_of_the_communicator(tmp_path: Path) -> None:
    """Members in another order than in the world; the same members twice are two communicators."""
    ranks = traces(4)
    others = [2, 0, 3]
    for one in ranks:
        if one.rank in others:
            first, second = one.communicator(others), one.communicator(others, 1)
            mine = others.index(one.rank)
            if mine == 0:
                one.send(2, KB, comm=first)  # to rank 3
                one.compute(50 * US)
                one.send(2, 1, comm=second)
            if mine == 2:
                # The other communicator's comes later, and is no match for the first.
                one.recv(0, 1, comm=second)
                one.recv(0, KB, comm=first)
    assert finish_us(tmp_path, ranks) == pytest.approx([0, 0, 50, 60])


def test_a_collective_is_the_schedule_that_is_asked_for(tmp_path: Path) -> None:
    def run() -> list[RankTrace]:
        ranks = traces(4)
        for one in ranks:
            one.compute(one.rank * US)
            one.collective("bcast", KB, root=1)
        return ranks

    # From rank 1 at 1: one after another to ranks 2, 3 and 0, whose heads leave 1 µs apart.
    assert finish_us(tmp_path, run(), asked={"bcast": "linear"}) == pytest.approx([14, 1, 12, 13])


PROBLEMS = [
    (
        one.collective,
        one.name,
        Problem(ranks=ranks, bytes=0 if one.collective == "barrier" else 24 * 1024, root=root),
    )
    for one in _core.algorithms()
    for ranks in (2, 5, 8)
    for root in (0, ranks - 1)
]


@pytest.mark.parametrize(
    ("operation", "algorithm", "problem"),
    [asked for asked in PROBLEMS if not _core.refusal(*asked)],
    ids=lambda word: word if isinstance(word, str) else f"{word.ranks}-{word.root}",
)
@pytest.mark.parametrize("waits_above_B", [None, 100])
def test_a_collective_that_all_enter_at_once_takes_what_it_takes_alone(
    tmp_path: Path, operation: str, algorithm: str, problem: Problem, waits_above_B: float | None
) -> None:
    """Also on a communicator that has its ranks in another order."""
    members = [*range(1, problem.ranks, 2), *range(0, problem.ranks, 2)]
    ranks = traces(problem.ranks)
    for one in ranks:
        place = one.communicator(members, 1)
        one.collective(operation, problem.bytes, root=problem.root, comm=place)
    done = played(tmp_path, ranks, waits_above_B=waits_above_B, asked={operation: algorithm})
    costs = LoggopsParameters(10 * US, 0.0, 0.0, 1e-9, rendezvous_above_B=waits_above_B).at([0]).curves()
    levels, network = np.zeros((0, 0), np.int32), Network(node_of_rank=[])
    alone = _core.simulate([(operation, algorithm, problem)], costs, levels=levels, network=network)
    assert done.finish_s.max() == pytest.approx(alone.finish_s.max())
    if algorithm != "linear_sync":
        # Of its messages that are ready at once that of the lower rank leaves first.
        assert done.finish_s[members] == pytest.approx(alone.finish_s)
    assert done.messages == alone.messages


def test_a_collective_that_returns_goes_on_where_it_is_waited_for(tmp_path: Path) -> None:
    def run(work_s: float) -> list[RankTrace]:
        ranks = traces(2)
        for one in ranks:
            request = one.collective("barrier", 0, returns=True)
            one.compute(work_s * (1 + one.rank))
            one.wait(request)
        return ranks

    # Messages without data take 10 µs less a byte's.
    assert finish_us(tmp_path, run(2 * US)) == pytest.approx([10, 10], rel=1e-3)
    assert finish_us(tmp_path, run(30 * US)) == pytest.approx([30, 60])


def test_two_collectives_under_way_do_not_take_each_others_messages(tmp_path: Path) -> None:
    ranks = traces(2)
    for one in ranks:
        early = one.collective("bcast", KB, root=0, returns=True)
        late = one.collective("bcast", 30 * KB - 29, root=0, returns=True)
        one.wait(late)
        one.compute(1 * US)
        one.wait(early)
    # The long one leaves the port behind the short one: 1 + 10 + 30; the short one has come long before.
    assert finish_us(tmp_path, ranks, asked={"bcast": "linear"}) == pytest.approx([1, 42])


def test_parts_of_many_sizes(tmp_path: Path) -> None:
    a, b, c = traces(3)
    a.collective("gatherv", 0, vectors=[a.vector([0, KB, 5 * KB - 4])])
    b.collective("gatherv", KB)
    c.collective("gatherv", 5 * KB - 4)
    # Both begin to come at 10, and rank 0 takes in one after the other.
    assert finish_us(tmp_path, [a, b, c]) == pytest.approx([16, 0, 0])

    ranks = traces(3)
    for one in ranks:
        # What r sends to s has r + 1 kB; nothing to itself and nothing between 0 and 1.
        out = [0 if {one.rank, to} in ({one.rank}, {0, 1}) else 1 + 1000 * (one.rank + 1) for to in range(3)]
        into = [0 if {one.rank, of} in ({one.rank}, {0, 1}) else 1 + 1000 * (of + 1) for of in range(3)]
        one.collective("alltoallv", 0, vectors=[one.vector(out), one.vector(into)])
    # Rank 2 sends 3 kB to rank 0, then to 1; it takes in 1 kB and 2 kB.
    assert finish_us(tmp_path, ranks) == pytest.approx([13, 16, 13])

    ranks = traces(3)
    for one in ranks:
        one.collective("allgatherv", 0, vectors=[one.vector([KB, 1, 1])])
    # Round the ring: rank 0's block is at rank 2 after two messages of it.
    assert finish_us(tmp_path, ranks)[2] == pytest.approx(22)

    ranks = traces(3)
    for one in ranks:
        one.collective("scan", KB)
    # Rank 0 sends to 1, then behind it to 2.
    assert finish_us(tmp_path, ranks) == pytest.approx([0, 11, 12])


def test_neighbours_exchange_at_once(tmp_path: Path) -> None:
    """In a line of three: the middle one has two neighbours."""
    ranks = traces(3)
    for one in ranks:
        near = [rank for rank in (one.rank - 1, one.rank + 1) if 0 <= rank < 3]
        place = one.communicator(range(3), 1, sources=near, destinations=near)
        one.compute(3 * US * one.rank)
        one.collective("neighbor_allgather", KB, comm=place)
    # The middle one sends to 0 first, then to 2; rank 2 comes last, at 6.
    assert finish_us(tmp_path, ranks) == pytest.approx([14, 17, 15])


def test_a_communicator_that_is_made_synchronises_its_parent(tmp_path: Path) -> None:
    ranks = traces(2)
    for one in ranks:
        one.compute(30 * US * one.rank)
        one.made(0, 0, one.communicator([0, 1], 1))
    first, second = finish_us(tmp_path, ranks)
    assert first == pytest.approx(40, rel=1e-3)
    assert second == pytest.approx(30, rel=1e-3)


def test_the_critical_path_and_the_waiting_add_up(tmp_path: Path) -> None:
    a, b = traces(2)
    a.compute(5 * US)
    a.send(1, KB, site="a.c:3 (f)")
    b.recv(0, KB, site="a.c:7 (g)")
    done = played(tmp_path, [a, b], overhead_s=1 * US)
    spots = {(done.spots[i][0], done.spots[i][1]): row for i, row in enumerate(done.of_spots_s)}
    trace = Recording(str(tmp_path / "run.trace"))
    send, receive = trace.sites.index("a.c:3 (f)"), trace.sites.index("a.c:7 (g)")
    # 5 computing before the send; 1 of the sender, 11 on the way, 1 of the receiver.
    assert spots[send, -1] == pytest.approx([5 * US, 0, 0, 0])
    assert spots[send, 0] == pytest.approx([0, 12 * US, 0, 0])
    # From the start until the message is there it is idle; the sender came to it at 5.
    assert spots[receive, 0] == pytest.approx([0, 1 * US, 17 * US, 5 * US])
    assert done.worked_s == pytest.approx(5 * US)


@pytest.mark.parametrize("shares", [False, True])
def test_its_graph_takes_as_long_also_where_messages_share_links(tmp_path: Path, shares: bool) -> None:
    """In a ring of nodes, where rank 0's messages to rank 2 pass what the others send."""
    ranks = traces(4)
    for turn in range(3):
        for one in ranks:
            one.compute((5 + 3 * one.rank + turn) * US)
            near, far = one.irecv((one.rank - 1) % 4, 40 * KB, 1), one.irecv((one.rank + 2) % 4, 40 * KB, 2)
            sent = one.isend((one.rank + 1) % 4, 30 * KB, 1), one.isend((one.rank + 2) % 4, 20 * KB, 2)
            one.compute(4 * US)
            one.wait(far)
            one.wait(near, *sent)
    trace = Recording(str(write(tmp_path / "run.trace", ranks)))
    replay = Replay(trace, [])
    costs = LoggopsParameters(10 * US, 1 * US, 0.0, 1e-9, rendezvous_above_B=25 * KB).at([0])
    if shares:
        costs.messages[0][TERMS.index("network_link")] = per_byte(3e-9)
    network = Network(node_of_rank=range(4) if shares else (), torus=(4,) if shares else ())
    _core.write_goal(replay, str(tmp_path / "run.goal"), costs.curves())
    graph = _core.Graph(str(tmp_path / "run.goal"))
    levels = np.zeros((0, 0), np.int32)
    done = _core.simulate([replay], costs.curves(), levels=levels, network=network)
    ticks = replace(costs, reduce=per_byte(1e-9)).curves()
    again = _core.simulate([graph], ticks, levels=levels, network=network)
    assert again.finish_s == pytest.approx(done.finish_s)
    # A link takes 3 ns for a byte: shared, it is what the run waits for.
    assert (done.finish_s.max() > 500 * US) == shares
