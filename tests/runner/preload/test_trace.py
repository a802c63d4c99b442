"""The trace beside a profile has each call, in its order, as the format says: decoded by no code of ours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.runner.preload.conftest import RANKS, Kept, recorded
from tests.runner.preload.programs import answer, compiled, hockney, launch_line
from tests.runner.preload.test_profile import sums

from hockney.records.profile import load
from hockney.runner.mpi import Mpi
from hockney.runner.traced import HEADER, MAGIC, found

BLOCKS_B = (4, 8, 12)
"""Of rank 0, 1 and 2, where sizes differ."""


def test_messages(kept: Kept) -> None:
    """Of all modes, by wildcards, whose source, tag and size are those of what came; none to nobody."""
    first, second, third = kept("messages")[0]
    assert first.of("send", "recv") == [
        (0, 1, 1, 10, 0),
        (0, 1, 2, 16, 1),
        (0, 1, 3, 12, 2),
        (0, 1, 4, 0),
        (0, 1, 5, 13, 3),
    ]
    assert second.of("recv", "irecv", "send", "wait") == [
        (0, 0, 1, 10),
        (0, 0, 2, 16),
        (0, 0, 3, 12),
        (0, 0, 5, 13),
        (0, 0, 4, 0, 0),
        ((0,),),
    ]
    assert third.of("sendrecv") == [(0, 0, 7, 30, 1, 7, 30), (0, 0, 8, 32, 1, 8, 32)]
    assert first.of("sendrecv")[2:] == [(0, 1, 9, 31, -1, 0, 0)]
    assert second.of("sendrecv")[2:] == [(0, -1, 0, 0, 0, 9, 31)]
    for rank, one in enumerate((first, second, third)):
        assert (one.rank, one.state, one.events[-1].kind) == (rank, 1, "finalize")
        assert (one.comms[0].members, one.comms[1].members) == ([0, 1, 2], [rank])
        assert all("+0x" in event.site for event in one.events)


def test_requests_complete_in_any_order(kept: Kept) -> None:
    """A message to nobody has none; what is cancelled never was, what is freed nobody waits for."""
    for one in kept("later")[0]:
        next_, before = (one.rank + 1) % 3, (one.rank + 2) % 3
        assert [(event.kind, event.said) for event in one.events[:-1]] == [
            ("irecv", (0, None, 6, 20)),
            ("irecv", (0, before, None, 24)),
            ("isend", (0, next_, 6, 20, 0)),
            ("isend", (0, next_, 11, 21, 1)),
            ("wait", ((3,),)),
            ("wait", ((1, before, 11),)),
            ("wait", ((0, before, 6),)),
            ("wait", ((2,),)),
            ("wait", ()),
            ("irecv", (0, before, 12, 20)),
            ("wait", ()),
            ("dropped", (4, 1)),
            ("irecv", (0, before, 12, 20)),
            ("dropped", (5, 1)),
            ("isend", (0, next_, 13, 23, 0)),
            ("dropped", (6, 0)),
            ("recv", (0, before, 13, 23)),
        ]


def test_calls_that_fail_are_no_messages(kept: Kept) -> None:
    for one in kept("failing")[0]:
        assert one.of("other") == [(f"MPI_{name}",) for name in ("Send", "Irecv", "Bcast", "Ibcast")]
        assert [event.kind for event in one.events[4:]] == ["isend", "recv", "wait", "finalize"]
        assert one.of("recv")[0][:3] == (0, (one.rank + 2) % 3, 2)


def test_persistent_requests(kept: Kept) -> None:
    """A profile counts each start as the call that it stands for, to nobody too."""
    recorded_by, path = kept("persistent")
    profile = load(path)
    assert {call.operation for call in profile.calls} == {"irecv", "isend", "issend", "wait", "waitall"}
    assert sums(profile, "irecv") == (RANKS * 5, RANKS * 5 * 20)
    assert sums(profile, "isend") == (RANKS * 5, RANKS * (3 * 10 + 2 * 12))
    assert sums(profile, "issend") == (RANKS * 2, RANKS * 2 * 11)
    for one in recorded_by:
        next_, before = (one.rank + 1) % 3, (one.rank + 2) % 3
        assert [(event.kind, event.said) for event in one.events[:-1]] == [
            ("recv_init", (0, None, 1, 20)),
            ("send_init", (0, next_, 1, 10, 0)),
            ("send_init", (0, next_, 2, 11, 1)),
            ("recv_init", (0, before, 2, 20)),
            ("start", (0, 1, 2, 3)),
            ("wait", ((0, before, 1), (1,), (2,), (3,))),
            ("start", (0, 1, 2, 3)),
            ("wait", ((4, before, 1), (5,), (6,), (7,))),
            ("start", (1,)),
            ("start", (0,)),
            ("wait", ((9, before, 1),)),
            ("wait", ((8,),)),
        ]


def test_probes(kept: Kept) -> None:
    """Those that find nothing are not kept."""
    for one in kept("probes")[0]:
        next_, before = (one.rank + 1) % 3, (one.rank + 2) % 3
        sent = [("isend", (0, next_, tag, 9 + tag, 0)) for tag in (1, 2, 3, 4)]
        assert [(event.kind, event.said) for event in one.events[:-1]] == [
            sent[0],
            *(("probe", (0, before, 1)), ("recv", (0, before, 1, 10)), ("wait", ((0,),))),
            sent[1],
            *(("probe", (0, before, 2)), ("recv", (0, before, 2, 11)), ("wait", ((1,),))),
            sent[2],
            *(("mprobe", (0, before, 3)), ("mrecv", ()), ("wait", ((2,),))),
            sent[3],
            *(("mprobe", (0, before, 4)), ("imrecv", ()), ("wait", ((3,), (4,)))),
        ]


def test_a_polling_loop_is_the_wait_that_it_is(kept: Kept) -> None:
    """A millisecond before each of five polls is computing; the many after it wait, though a few were passed."""
    _, *others = kept("polls")[0]
    for one in others:
        assert [event.kind for event in one.events] == ["irecv", "send", "wait"] * 5 + ["finalize"]
        assert one.of("wait") == [((way, 0, way),) for way in range(5)]
        for sends, waits in zip(one.events[1::3], one.events[2::3], strict=False):
            # Others may have the core for some of it.
            assert sends.gap_ns > 4.9e6
            assert sends.cpu_ns <= sends.gap_ns
            # Rank 0 computes for 200 ms, which this rank waits for, less what it is late itself: so long that it
            # polls often on a shared core, too. What interrupts the loop looks like computing: 1 or 2 % of it.
            assert waits.cpu_ns < 5e6
            assert waits.gap_ns < 100e6
            assert sends.inside_ns + waits.gap_ns + waits.inside_ns > 100e6


def sizes(operation: str, flags: int, root: int, size_B: int, element_B: int = 1) -> tuple[object, ...]:
    return (operation, flags, 0, root, size_B, element_B)


def test_collectives(kept: Kept) -> None:
    """Bytes as the tidy table has them; blocks of different sizes as vectors."""
    for one in kept("collectives")[0]:
        rank, is_root = one.rank, one.rank == 1
        own, blocks = BLOCKS_B[rank], BLOCKS_B
        assert one.of("collective") == [
            sizes("barrier", 0, 0, 0),
            sizes("bcast", 0, 1, 100),
            sizes("scatter", 2 if rank == 2 else 0, 2, 8),
            sizes("gather", 2 if is_root else 0, 1, 12),
            sizes("reduce", 0, 0, 32, 8),
            sizes("allreduce", 2, 0, 40, 8),
            sizes("allgather", 0, 0, 4),
            sizes("reduce_scatter", 0, 0, 8, 4),
            sizes("reduce_scatter", 0, 0, 8, 4),
            (*sizes("reduce_scatter", 8, 0, own, 4), blocks),
            sizes("alltoall", 0, 0, 3),
            sizes("scan", 0, 0, 8, 4),
            sizes("exscan", 0, 0, 12, 4),
            (*sizes("allgatherv", 8, 0, own), blocks),
            (*sizes("allgatherv", 10, 0, own), blocks),
            (*sizes("gatherv", 8 if is_root else 0, 1, own), *([blocks] if is_root else [])),
            (*sizes("scatterv", 8 if is_root else 0, 1, own), *([blocks] if is_root else [])),
            (*sizes("alltoallv", 8, 0, 3 * own), (own,) * 3, blocks),
            (*sizes("alltoallv", 8, 0, 12), (4, 4, 4), (4, 4, 4)),
        ]
        # Each vector once.
        assert len(one.vectors) == len({tuple(vector) for vector in one.vectors.values()})


def test_collectives_that_do_not_block(kept: Kept) -> None:
    blocks = BLOCKS_B
    for one in kept("non_blocking")[0]:
        is_root, own = one.rank == 1, blocks[one.rank]
        assert one.of("collective") == [
            sizes("barrier", 1, 0, 0),
            sizes("bcast", 1, 1, 100),
            sizes("scatter", 1, 2, 8),
            sizes("gather", 1, 1, 12),
            sizes("reduce", 1, 0, 32, 8),
            sizes("allreduce", 1, 0, 40, 8),
            sizes("allgather", 1, 0, 4),
            sizes("reduce_scatter", 1, 0, 8, 4),
            (*sizes("reduce_scatter", 9, 0, own, 4), blocks),
            sizes("alltoall", 1, 0, 3),
            sizes("scan", 1, 0, 8, 4),
            sizes("exscan", 1, 0, 12, 4),
            (*sizes("allgatherv", 9, 0, own), blocks),
            (*sizes("gatherv", 9 if is_root else 1, 1, own), *([blocks] if is_root else [])),
            (*sizes("scatterv", 9 if is_root else 1, 1, own), *([blocks] if is_root else [])),
            (*sizes("alltoallv", 9, 0, 12), (4, 4, 4), (4, 4, 4)),
            (*sizes("alltoallv", 9, 0, 12), (4, 4, 4), (4, 4, 4)),
        ]
        assert one.of("wait") == [tuple((number,) for number in range(17))]


def test_neighbours(kept: Kept) -> None:
    """A chain of three: its ends have one neighbour, and only blocks of those that are there."""
    for one in kept("neighbours")[0]:
        rank = one.rank
        next_, before = (rank + 1) % 3, (rank + 2) % 3
        assert one.of("made") == [(0, 3, 2), (0, 3, 3)]
        assert one.of("freed") == [(2,), (3,)]
        chain, ring = one.comms[2], one.comms[3]
        there = [other for other in (rank - 1, rank + 1) if 0 <= other < 3]
        assert (chain.flags, chain.sources, chain.targets) == (2, there, there)
        assert (ring.flags, ring.sources, ring.targets) == (2, [before], [next_])
        out = tuple(4 if other < rank else 8 for other in there)
        into = tuple(8 if other < rank else 4 for other in there)
        kinds = one.of("collective")
        assert kinds[0] == ("neighbor_allgather", 0, 2, 0, 4, 1)
        assert kinds[1] == ("neighbor_alltoall", 0, 2, 0, 8, 1)
        assert kinds[2] == kinds[3] == ("neighbor_alltoall", 8, 2, 0, sum(out), 1, out, into)
        assert kinds[4] == ("neighbor_alltoall", 1, 2, 0, 12, 1)
        block_B = 4 * (rank + 1)
        assert kinds[5] == ("neighbor_allgather", 8, 3, 0, block_B, 1, (block_B,), (4 * (before + 1),))


def test_communicators(kept: Kept) -> None:
    """The same members in the same order and the same ordinal name a communicator alike on all ranks."""
    found = kept("communicators")[0]
    named: dict[tuple[tuple[tuple[int, ...], ...], int], set[int]] = {}
    for one in found:
        for comm in one.comms.values():
            mine = comm.others if comm.flags & 1 and one.rank not in comm.members else comm.members
            assert mine[comm.rank] == one.rank
            groups = (
                sorted([tuple(comm.members), tuple(comm.others)]) if comm.flags & 1 else [tuple(comm.members)]
            )
            named.setdefault((tuple(groups), comm.ordinal), set()).add(one.rank)
    for (sides, _), ranks in named.items():
        assert ranks == {rank for side in sides for rank in side}, named
    first, second, third = found
    half = third.of("made")[1]
    assert half == (2, 1, -1)
    # Ranks 1 and 0 by their keys, of whom rank 0 is number 1.
    assert (first.comms[3].members, first.comms[3].rank) == ([1, 0], 1)
    # MPI_Comm_idup is a duplicate whose barrier is on it.
    duplicate = first.of("made")[2]
    assert duplicate == (0, 0, 4)
    assert first.comms[4].members == [0, 1, 2]
    assert [said[2] for said in first.of("collective")][:3] == [2, 3, 4]
    # A broadcast between groups: the root, another of its group, and the other group, which names the root.
    roots = [one.of("collective")[-1][3] for one in found]
    assert roots == [1, 2, 3]
    between = second.comms[int(str(second.of("collective")[-1][2]))]
    assert (between.flags, between.members, between.others) == (1, [0, 1], [2])
    assert second.of("recv")[-1][1:] == (0, 6, 9)
    assert [said[1] for said in first.of("made")] == [0, 1, 0, 0, 2, 2, 1, 1, 4, 4, 3, 1]
    assert len(first.of("freed")) == 4


def test_counts_that_may_be_larger(mpi: Mpi, tmp_path: Path) -> None:
    ranks = recorded(mpi, tmp_path, "large")[0]
    if float(mpi.standard) < 4:
        pytest.skip(lacking(f"counts of MPI 4 of {mpi.describe()}", f"it is MPI {mpi.standard}"))
    for one in ranks:
        next_, before, own = (one.rank + 1) % 3, (one.rank + 2) % 3, BLOCKS_B[one.rank]
        assert [(event.kind, event.said) for event in one.events[:-1]] == [
            ("isend", (0, next_, 1, 20, 0)),
            ("recv", (0, before, 1, 20)),
            ("wait", ((0,),)),
            ("collective", sizes("bcast", 0, 1, 100)),
            ("collective", (*sizes("reduce_scatter", 8, 0, own, 4), BLOCKS_B)),
            ("collective", (*sizes("allgatherv", 9, 0, own), BLOCKS_B)),
            ("wait", ((1,),)),
        ]


@pytest.mark.one_mpi
@pytest.mark.parametrize("kind", ["file", "device"])
def test_a_trace_that_cannot_be_kept(mpi: Mpi, tmp_path: Path, kind: str) -> None:
    """What is in its place is named before anything runs; a profile that goes to a device has none."""
    program = compiled(mpi, tmp_path, "traced.c", "-g", "-Wno-stringop-overread")
    (tmp_path / "p.trace").write_text("mine", encoding="utf-8")
    output = tmp_path / "p.json" if kind == "file" else Path("/dev/null")
    done = hockney("profile", "-o", str(output), "--", *launch_line(mpi, RANKS, program, "messages"))
    assert done.returncode == (2 if kind == "file" else 0), done.stdout + done.stderr
    assert (f"cannot write {tmp_path / 'p.trace'}" in done.stderr) == (kind == "file")
    assert (tmp_path / "p.trace").read_text(encoding="utf-8") == "mine"
    assert not Path("/dev/null.trace").exists()


def test_what_ranks_do_not_have_is_named(tmp_path: Path) -> None:
    """Of four ranks two wrote, one of which another program's file is beside."""
    folder = tmp_path / "p.trace"
    folder.mkdir()
    said: list[str] = []
    for rank in (0, 2):
        head = HEADER.pack(MAGIC, 1, rank, 4, 0, 0, 0, 0, b"", b"", 7, 1, 0)
        (folder / f"{rank}.events").write_bytes(head + b"\0" * 44)
    (folder / "3.events").write_text("none", encoding="utf-8")
    trace = found(folder, 2**30, said)
    assert trace is not None
    assert (trace.ranks, trace.events, trace.bytes) == (2, 14, 600)
    assert said == [f"the trace lacks 2 ranks (1, 3): their nodes do not have {folder}, or cannot write there"]


def test_what_is_no_message_is_named(kept: Kept) -> None:
    window = ["Win_create", "Win_fence", "Put", "Get_accumulate", "Win_fence", "Win_free"]
    for one in kept("others")[0]:
        said = [name for (name,) in one.of("other")]
        assert said[:6] == [f"MPI_{name}" for name in window]
        assert said[6:] in ([], ["MPI_File_open"], ["MPI_File_open", "MPI_File_close"])


def test_two_threads_at_once_are_refused_by_name(mpi: Mpi, tmp_path: Path) -> None:
    found, done = recorded(mpi, tmp_path, "threads")
    text = "MPI_Barrier while another thread was in MPI_Recv"
    for one in found:
        assert one.events[-1].kind == "refused"
        assert one.of("refused") == [(text,)]
        assert [event.kind for event in one.events[:-1]] == ["collective"]
        assert (one.state, one.text_B) == (3, len(text))
    assert f"of 3 ranks (0, 1, 2) ends early: {text}" in done.stderr


def test_threads_in_turn_are_kept(mpi: Mpi, tmp_path: Path) -> None:
    """Each of the three computes 10 ms, by the clock of its own."""
    for one in recorded(mpi, tmp_path, "in_turn", options="--clock cpu")[0]:
        events = [event for event in one.events if event.kind == "collective"]
        assert [1e6 < event.cpu_ns <= event.gap_ns for event in events] == [True] * 3


def test_a_killed_program_leaves_what_was_written(mpi: Mpi, tmp_path: Path) -> None:
    found, done = recorded(mpi, tmp_path, "killed", code=None)
    assert done.returncode != 0
    assert not (tmp_path / "p.json").exists()
    assert [one.rank for one in found] == [0, 1, 2]
    for one in found:
        # The last barrier is not over.
        kinds = [said[0] for said in one.of("collective")]
        assert kinds[:1001] == ["allreduce"] * 1000 + ["barrier"]
        assert len(kinds) <= 1002
        assert one.state == 0
    assert "of 3 ranks (0, 1, 2) ends where the process did" in done.stderr
    assert f"the trace is in {tmp_path / 'p.trace'}" in done.stdout
    # What has a trace did call this MPI.
    assert f"`hockney predict {tmp_path / 'p.trace'}` replays the trace" in done.stderr
    assert "calls no MPI" not in done.stderr


@pytest.mark.one_mpi
def test_the_limit_is_of_all_ranks_and_told(mpi: Mpi, tmp_path: Path) -> None:
    limit_B = 3 * 100_000
    found, done = recorded(mpi, tmp_path, "many", "20000", options=f"--trace-limit {limit_B}")
    assert sum(one.size_B for one in found) <= limit_B
    for one in found:
        assert one.size_B > 90_000
        assert (one.events[-1].kind, one.state) == ("limit", 2)
    assert "of 3 ranks (0, 1, 2) ends early: at the limit of 300000 B" in done.stderr


@pytest.mark.one_mpi
def test_no_trace_where_none_is_asked_for(mpi: Mpi, tmp_path: Path) -> None:
    """One from before goes, but for what is not ours."""
    recorded(mpi, tmp_path, "messages")
    (tmp_path / "p.trace" / "mine.txt").touch()
    _, done = recorded(mpi, tmp_path, "messages", options="--trace-limit 0")
    assert [path.name for path in (tmp_path / "p.trace").iterdir()] == ["mine.txt"]
    assert "the trace" not in done.stdout + done.stderr


@pytest.mark.one_mpi
def test_an_event_takes_few_bytes(mpi: Mpi, tmp_path: Path) -> None:
    """In more than one window of each file."""
    found, done = recorded(mpi, tmp_path, "many", "25000", options="--json --clock cpu")
    said = answer(done.stdout)["trace"]
    assert said["ranks"] == RANKS
    assert said["events"] == sum(len(one.events) for one in found) == RANKS * (25000 * 5 + 2500 + 1)
    assert said["bytes"] == sum(one.size_B for one in found)
    assert said["bytes"] / said["events"] <= 40
    for one in found:
        assert one.size_B > 2**20
        latest = [event for event in one.events if event.kind == "wait"][-1]
        assert latest.said == tuple((4 * 24999 + i,) for i in range(4))


@pytest.mark.one_mpi
@pytest.mark.parametrize("clock", ["wall", "cpu"])
def test_computing_is_what_runs_between_two_calls(mpi: Mpi, tmp_path: Path, clock: str) -> None:
    """50 ms of work and 50 ms asleep: by the processor's clock only the former."""
    for one in recorded(mpi, tmp_path, "computes", options=f"--clock {clock}")[0]:
        _, works, sleeps = (event for event in one.events if event.kind == "collective")
        assert one.flags == (1 if clock == "cpu" else 0)
        assert works.gap_ns > 49e6
        assert sleeps.gap_ns > 49e6
        if clock == "cpu":
            assert works.cpu_ns > 5 * sleeps.cpu_ns
            assert sleeps.cpu_ns < 5e6


def test_the_processors_clock_counts_where_ranks_share_cores(kept: Kept) -> None:
    """Of three ranks that may use one processor, or as many as they are."""
    for one in kept("messages")[0]:
        assert one.flags == (1 if len(os.sched_getaffinity(0)) < RANKS else 0)
