"""From the layer's notes (cpp/preload/watch.cpp) to a profile: sums over ranks, and what was waiting.

A note is a line of words with tabs between: `rank` begins those of a rank, `unseen` says what the layer could
not see, `began` how often and by what call the program began processes, `left` how many calls were left out and
their time. `on` begins those of a communicator, `call` has calls that are alike, `at` says when the rank came to
one of them and when it left, `end` how many lines come before.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from hockney._core import Direction
from hockney.errors import EnvironmentLack
from hockney.records.answers import first_problem
from hockney.records.keys import COLLECTIVES
from hockney.records.profile import Call, Communicator, Late, LeftOut, Profile, SizeCount
from hockney.runner.preload import Damaged, PreloadedRun
from hockney.runner.probe import capture
from hockney.units import counted, format_time

ADDRESS_LIMIT_S = 60.0
_S = 1e-9


@dataclass(frozen=True)
class _Where:
    """A kind of communicator, an operation and a call site."""

    name: str
    ranks: int
    operation: str
    site: str


@dataclass
class _Sum:
    calls: int = 0
    bytes: int = 0
    time_s: float = 0.0
    by_rank_s: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    sizes: Counter[int] = field(default_factory=Counter)
    sampled: int = 0
    sampled_s: float = 0.0
    waited_s: float = 0.0
    late: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True)
class _RankVisit:
    """One rank's part in one call: its numbers in the communicator and in the world, when it came and left."""

    rank: int
    world_rank: int
    root: int
    start_s: float
    end_s: float
    where: _Where


@dataclass
class _Notes:
    """All that the lines say, before it is summed."""

    elapsed_s: float = 0.0
    ranks: int = 0
    unseen: str = ""
    """Calls of the program that the layer cannot tell from the library's own."""
    began: Counter[str] = field(default_factory=Counter)
    """How often the program began processes, by what it called."""
    left_out_calls: int = 0
    left_out_s: float = 0.0
    """Of calls beyond the kinds that a process notes."""
    is_whole: bool = False
    """Whether the last line was read, which says how many there are before it."""
    sums: dict[_Where, _Sum] = field(default_factory=lambda: defaultdict(_Sum))
    groups: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    visits: dict[tuple[str, str, int, int], list[_RankVisit]] = field(default_factory=lambda: defaultdict(list))


def watched(outcome: PreloadedRun, mpi: str) -> Profile | None:
    """The profile of a launch of `mpi`; None where the layer wrote none, or, with a warning, a damaged one."""
    if outcome.report is None:
        return None
    try:
        return profiled(outcome.report, mpi)
    except Damaged as damaged:
        outcome.said.append(f"{damaged.message}; no profile was written")
        return None


def profiled(text: str, mpi: str) -> Profile:
    """The profile of a run of `mpi`. Damaged where the notes are not as the layer writes them."""
    try:
        notes = _read(text.splitlines())
        if not notes.ranks:
            raise ValueError("there is no rank in them")
        return _profile(notes, mpi)
    # Numbers that no run has, and operations that nobody knows, are found where they are put together.
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        why = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise Damaged(f"the layer's notes are damaged: {why}") from error


def _profile(notes: _Notes, mpi: str) -> Profile:
    apart = 0
    for (_, _, ranks, _), visits in notes.visits.items():
        # Ranks that count differently: of threads, or where one was in a call that the library refused.
        if len({(visit.where.operation, visit.root) for visit in visits}) > 1:
            apart += 1
        elif len(visits) == ranks:
            _part(visits, notes.sums)
    warn = logging.getLogger(__name__).warning
    if apart:
        warn(
            "note: %d of %d kept calls were not the same on all ranks, and say nothing of waiting",
            apart,
            len(notes.visits),
        )
    if notes.unseen:
        warn("note: not seen are %s", notes.unseen)
    if notes.began:
        calls_of = ", ".join(f"{name}: {counted(calls, 'call')}" for name, calls in notes.began.items())
        warn("note: not seen are processes begun by %s", calls_of)
    if notes.left_out_calls:
        warn(
            "note: %d calls (%s) are left out: a process notes so many kinds of calls and no more",
            notes.left_out_calls,
            format_time(notes.left_out_s),
        )
    kinds = sorted(notes.groups)
    lines = source_lines({where.site for where in notes.sums})
    calls = [
        _call(where, total, kinds.index((where.name, where.ranks)), lines) for where, total in notes.sums.items()
    ]
    return Profile(
        mpi=mpi,
        ranks=notes.ranks,
        elapsed_s=notes.elapsed_s,
        communicators=[Communicator(name=name, ranks=n, groups=len(notes.groups[name, n])) for name, n in kinds],
        calls=sorted(calls, key=lambda call: -call.time_s),
        left_out=LeftOut(calls=notes.left_out_calls, time_s=notes.left_out_s) if notes.left_out_calls else None,
    )


def _read(lines: Iterable[str]) -> _Notes:
    notes = _Notes()
    rank, members, place, ranks, name, alike = 0, "", 0, 0, "", ""
    records: dict[int, _Where] = {}
    for number, line in enumerate(lines):
        kind, *words = line.split("\t")
        if notes.is_whole:
            raise ValueError(f"a line after the end: {line[:80]}")
        if kind == "rank":
            rank = int(words[0])
            notes.ranks = max(notes.ranks, rank + 1)
            notes.elapsed_s = max(notes.elapsed_s, int(words[1]) * _S)
        elif not notes.ranks:
            raise ValueError(f"no rank before {line[:80]}")
        elif kind == "unseen":
            notes.unseen = words[0]
        elif kind == "began":
            calls = int(words[1])
            if words[0] == "MPI_Comm_spawn":  # All ranks of a communicator spawn together.
                notes.began[words[0]] = max(notes.began[words[0]], calls)
            else:
                notes.began[words[0]] += calls
        elif kind == "left":
            notes.left_out_calls += int(words[0])
            notes.left_out_s += int(words[1]) * _S
        elif kind == "on":
            members, place, ranks, name = words[0], int(words[1]), int(words[2]), words[3]
            alike = words[4]
            records = {}
        elif kind == "call":
            where = records[int(words[0])] = _Where(name, ranks, words[1], words[2])
            size_B, calls, time_s = int(words[3]), int(words[4]), int(words[5]) * _S
            notes.groups[name, ranks].add(members)
            total = notes.sums[where]
            total.calls += calls
            total.bytes += size_B * calls
            total.time_s += time_s
            total.by_rank_s[rank] += time_s
            total.sizes[size_B] += calls
        elif kind == "at":
            sequence, root = int(words[0]), int(words[2])
            start_s, end_s = int(words[3]) * _S, int(words[4]) * _S
            visit = _RankVisit(place, rank, root, start_s, end_s, records[int(words[1])])
            notes.visits[f"{members} {alike}", name, ranks, sequence].append(visit)
        elif kind == "end":
            if int(words[0]) != number:
                raise ValueError(f"{number} lines of {words[0]}")
            notes.is_whole = True
        else:
            raise ValueError(f"no note: {line[:80]}")
    if not notes.is_whole:
        raise ValueError("their end is missing")
    return notes


def _part(visits: list[_RankVisit], sums: Mapping[_Where, _Sum]) -> None:
    """Add what each rank of one call waited: until the last one had come that it needs."""
    last = max(visits, key=lambda visit: visit.start_s)
    came_s = {visit.rank: visit.start_s for visit in visits}
    for visit in visits:
        direction = COLLECTIVES[visit.where.operation].direction
        needed_s = last.start_s
        if direction == Direction.outward:
            # A root that the library refuses is none of them.
            needed_s = came_s.get(visit.root, last.start_s)
        elif direction == Direction.inward and visit.rank != visit.root:
            needed_s = visit.start_s
        total = sums[visit.where]
        total.sampled += 1
        total.sampled_s += visit.end_s - visit.start_s
        total.waited_s += max(0.0, min(needed_s, visit.end_s) - visit.start_s)
        total.late[last.world_rank] += 1


def _call(where: _Where, total: _Sum, communicator: int, lines: Mapping[str, str]) -> Call:
    waiting_s = total.time_s * total.waited_s / total.sampled_s if total.sampled_s > 0 else None
    late = total.late.most_common(1)
    return Call(
        operation=where.operation,
        site=lines.get(where.site, where.site),
        communicator=communicator,
        calls=total.calls,
        bytes=total.bytes,
        time_s=total.time_s,
        least_rank_time_s=min(total.by_rank_s.values()),
        most_rank_time_s=max(total.by_rank_s.values()),
        sizes=[SizeCount(bytes=size_B, calls=calls) for size_B, calls in sorted(total.sizes.items())],
        sampled=total.sampled,
        waiting_s=waiting_s,
        transferring_s=None if waiting_s is None else total.time_s - waiting_s,
        late=Late(rank=late[0][0], share=late[0][1] / total.sampled) if late else None,
    )


def source_lines(sites: Iterable[str]) -> dict[str, str]:
    """`file.c:12 (function)` for each site `program+0x1234` whose file says where its lines are."""
    tool = shutil.which("addr2line")
    by_file: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for site in sites:
        if found := re.match(r"(.+)\+0x([0-9a-f]+)", site):
            by_file[found[1]].append((site, int(found[2], 16)))
    named: dict[str, str] = {}
    for file, places in by_file.items():
        if tool is None or not Path(file).is_file():
            continue
        # The call is before where it returns to.
        addresses = [f"{address - 1:#x}" for _, address in places]
        try:
            done = capture([tool, "-f", "-s", "-e", file, *addresses], {}, ADDRESS_LIMIT_S)
        except EnvironmentLack:
            # The addresses say it too.
            continue
        answers = done.stdout.splitlines()
        for (site, _), function, line in zip(places, answers[::2], answers[1::2], strict=False):
            if not line.startswith("?"):
                named[site] = f"{line.partition(' ')[0].removesuffix(':?')} ({function})"
    return named
