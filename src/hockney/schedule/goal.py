"""GOAL text read: a user's own graph of messages and computations (Hoefler, Siebert and Lumsdaine, ICPP 2009).

    num_ranks 2
    rank 0 { l1: calc 500  l2: send 8192b to 1 tag 7  l2 requires l1 }
    rank 1 { l1: recv 8192b from 0 tag 7 }

`a requires b`: a starts after b has ended; `a irequires b`: after b has started. Steps of a rank that do not
depend on each other have no order. One tick of `calc` is a nanosecond by convention.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from pathlib import Path

from hockney import reading
from hockney._core import Kind, RankSchedule, Region, Schedule, Step
from hockney.errors import RequestError

MOST_RANKS = 2**20
MOST_STEPS = 2**20
"""Of all ranks together: a gigabyte."""
MOST_EDGES = 2**22
"""Dependencies of a rank, with those that follow from `irequires`."""
MOST_B = 64 * 2**20
"""Of a file: some 60 bytes a step."""
MOST_AMOUNT = 2**53
"""Bytes of a message and ticks of a computation: whole numbers that times hold exactly."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(r"\s+")
_NUMBER, _LABEL = r"(\d{1,18})", r"([A-Za-z_]\w*)"
_OPTIONS = r"((?:\s+(?:tag|cpu|nic)\s+-?\d{1,9})*)"
_HEADER = re.compile(rf"num_ranks\s+{_NUMBER}\b")
_OPEN = re.compile(rf"rank\s+{_NUMBER}\s*\{{")
_CLOSE = re.compile(r"\}")
_MESSAGE = re.compile(rf"(?:{_LABEL}\s*:\s*)?(send|recv)\s+{_NUMBER}b\s+(?:to|from)\s+(-?\d{{1,10}})\b{_OPTIONS}")
_CALC = re.compile(rf"(?:{_LABEL}\s*:\s*)?calc\s+{_NUMBER}\b{_OPTIONS}")
_NEEDS = re.compile(rf"{_LABEL}\s+(i?requires)\s+{_LABEL}")
_OPTION = re.compile(r"(tag|cpu|nic)\s+(-?\d+)")


Message = Callable[[int], tuple[float, bool]]
"""Of a size in bytes: seconds one way, and whether the send ends only after its receive starts (rendezvous)."""


@dataclass
class Operation:
    """`amount`: bytes of a message, ticks of a computation; `after` and `with_`: those that must end, start."""

    kind: Kind
    amount: int
    peer: int = -1
    tag: int = 0
    label: str = ""
    after: list[int] = field(default_factory=list)
    with_: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Graph:
    """The operations of each rank, in the order of the file; messages are matched, sizes at both ends equal.

    `partner` is, by (rank, operation), the other end of a message.
    """

    ranks: list[list[Operation]]
    partner: dict[tuple[int, int], tuple[int, int]]

    @property
    def messages(self) -> int:
        """How many there are."""
        return len(self.partner) // 2

    @property
    def largest_B(self) -> int:
        """The largest message."""
        return max((each.amount for rank in self.ranks for each in rank if each.kind != Kind.reduce), default=0)

    def schedule(self, message: Message, tick_s: float) -> Schedule:
        """The graph as it is simulated: a computation is a reduction of as many bytes as it has ticks.

        The simulator starts a rank's steps in their order, the graph has none: they are ordered by the earliest
        time at which each could start if no port and no processor were shared. RequestError where operations wait
        for each other in a circle.
        """
        order = self._in_time(message, tick_s)
        tags: dict[tuple[int, int], int] = {}
        counts: dict[tuple[int, int], int] = {}
        for rank, numbers in enumerate(order):
            for number in numbers:
                if self.ranks[rank][number].kind == Kind.send:
                    pair = rank, self.ranks[rank][number].peer
                    tags[rank, number] = tags[self.partner[rank, number]] = counts.get(pair, 0)
                    counts[pair] = tags[rank, number] + 1
        return Schedule(self._program(rank, numbers, tags) for rank, numbers in enumerate(order))

    def _program(self, rank: int, order: list[int], tags: dict[tuple[int, int], int]) -> RankSchedule:
        at: dict[int, int] = {}
        needed: dict[int, set[int]] = {}
        steps, edges = [], 0
        for number in order:
            operation = self.ranks[rank][number]
            # Whoever starts with another waits for what the other waits for, and stands behind it.
            needed[number] = set(operation.after).union(*(needed[other] for other in operation.with_))
            edges += len(needed[number])
            if edges > MOST_EDGES:
                raise RequestError(
                    f"rank {rank} has more than {MOST_EDGES} dependencies",
                    "leave out those that follow from others",
                )
            region, after = Region(length_B=operation.amount), sorted(at[before] for before in needed[number])
            peer, tag = operation.peer, tags.get((rank, number), 0)
            if operation.kind == Kind.send:
                steps.append(Step(Kind.send, peer=peer, tag=tag, source=region, after=after))
            else:
                steps.append(Step(operation.kind, peer=peer, tag=tag, target=region, after=after))
            at[number] = len(at)
        return RankSchedule(steps)

    def _in_time(self, message: Message, tick_s: float) -> list[list[int]]:
        """Each rank's operations by their earliest start; of equal ones whoever is waited for comes first."""
        begin = [0]
        for program in self.ranks:
            begin.append(begin[-1] + len(program))
        count = begin[-1]
        # Node i: operation i starts; count + i: it ends.
        follows: list[list[tuple[int, float]]] = [[] for _ in range(2 * count)]
        waits = [0] * (2 * count)

        def edge(first: int, then: int, later_s: float) -> None:
            follows[first].append((then, later_s))
            waits[then] += 1

        for rank, operations in enumerate(self.ranks):
            for number, operation in enumerate(operations):
                i = begin[rank] + number
                edge(i, count + i, tick_s * operation.amount if operation.kind == Kind.reduce else 0.0)
                for before in operation.after:
                    edge(count + begin[rank] + before, i, 0.0)
                for other in operation.with_:
                    edge(begin[rank] + other, i, 0.0)
                if operation.kind == Kind.send:
                    to, at = self.partner[rank, number]
                    one_way_s, meets = message(operation.amount)
                    edge(i, count + begin[to] + at, one_way_s)
                    if meets:
                        edge(begin[to] + at, count + i, 0.0)
        start_s, level = [0.0] * (2 * count), [0] * (2 * count)
        ready = [(0.0, 0, node) for node in range(2 * count) if not waits[node]]
        heapify(ready)
        done: list[tuple[float, int, int]] = []
        while ready:
            at_s, depth, node = heappop(ready)
            done.append((at_s, depth, node))
            for then, later_s in follows[node]:
                start_s[then] = max(start_s[then], at_s + later_s)
                level[then] = max(level[then], depth + 1)
                waits[then] -= 1
                if not waits[then]:
                    heappush(ready, (start_s[then], level[then], then))
        if len(done) < 2 * count:
            stuck = next(node % count for node in range(2 * count) if waits[node])
            rank = next(rank for rank in range(len(self.ranks)) if begin[rank + 1] > stuck)
            name = self.ranks[rank][stuck - begin[rank]].label or f"operation {stuck - begin[rank] + 1}"
            raise RequestError(
                f"the graph is a deadlock: {name} of rank {rank} waits, by way of others, for itself",
                "remove one of the dependencies, or post the receives earlier",
            )
        order: list[list[int]] = [[] for _ in self.ranks]
        of_rank = [rank for rank, operations in enumerate(self.ranks) for _ in operations]
        for _, _, node in sorted(done):
            if node < count:
                order[of_rank[node]].append(node - begin[of_rank[node]])
        return order


def read_goal(path: Path) -> Graph:
    """The graph of a file of GOAL text.

    RequestError, with the line, for what is no GOAL, for more than MOST_RANKS ranks or MOST_STEPS operations, for
    several processors of a rank, for messages from anybody (−1), and where sends and receives do not match.
    """
    try:
        text = reading.content(path, most_B=MOST_B).decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(f"{path} is no text: {error.reason}", "GOAL is ASCII text") from error
    # What comments hid keeps its lines.
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n") or " ", text)
    return _matched(_Reader(path, text).ranks(), path)


class _Reader:
    """Reads one file from its beginning to its end."""

    def __init__(self, path: Path, text: str) -> None:
        self._path, self._text, self._at, self._steps = path, text, 0, 0

    def ranks(self) -> list[list[Operation]]:
        header = self._expect(_HEADER, "`num_ranks N`")
        ranks = int(header[1])
        if not 1 <= ranks <= MOST_RANKS:
            raise self._wrong(f"{ranks} ranks: 1 to {MOST_RANKS} are read")
        programs: list[list[Operation]] = []
        for rank in range(ranks):
            opened = self._expect(_OPEN, f"`rank {rank} {{`")
            if int(opened[1]) != rank:
                raise self._wrong(f"rank {int(opened[1])} where rank {rank} is next")
            programs.append(self._rank(rank, ranks))
        if self._next() is not None:
            raise self._wrong(f"something stands behind the last of {ranks} ranks")
        return programs

    def _rank(self, rank: int, ranks: int) -> list[Operation]:
        operations: list[Operation] = []
        labels: dict[str, int] = {}
        while not self._take(_CLOSE):
            if message := self._take(_MESSAGE):
                kind = Kind.send if message[2] == "send" else Kind.receive
                options = self._options(message[5])
                peer = int(message[4])
                if peer < 0 or options["tag"] < 0:
                    raise self._wrong("a message from anybody or with any tag (−1): which one comes is not known")
                if peer >= ranks or peer == rank:
                    raise self._wrong(f"rank {rank} {message[2]}s with rank {peer} of {ranks}")
                added = Operation(kind, self._amount(message[3]), peer, options["tag"], message[1] or "")
            elif calc := self._take(_CALC):
                self._options(calc[3])
                added = Operation(Kind.reduce, self._amount(calc[2]), label=calc[1] or "")
            elif needs := self._take(_NEEDS):
                for name in (needs[1], needs[3]):
                    if name not in labels:
                        raise self._wrong(f"rank {rank} has no {name} before this line")
                waiting, before = operations[labels[needs[1]]], labels[needs[3]]
                (waiting.after if needs[2] == "requires" else waiting.with_).append(before)
                continue
            else:
                raise self._wrong("no operation (send, recv, calc), dependency or }")
            if added.label:
                if added.label in labels:
                    raise self._wrong(f"rank {rank} has two operations {added.label}")
                labels[added.label] = len(operations)
            operations.append(added)
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise self._wrong(f"more than {MOST_STEPS} operations")
        return operations

    def _options(self, text: str) -> dict[str, int]:
        given = {"tag": 0, "cpu": 0, "nic": 0} | {name: int(value) for name, value in _OPTION.findall(text)}
        if given["cpu"] or given["nic"]:
            raise self._wrong("a rank has one processor and one port here: cpu and nic must be 0")
        return given

    def _amount(self, digits: str) -> int:
        if int(digits) > MOST_AMOUNT:
            raise self._wrong(f"{digits} bytes or ticks are more than {MOST_AMOUNT}")
        return int(digits)

    def _next(self) -> str | None:
        if space := _SPACE.match(self._text, self._at):
            self._at = space.end()
        return self._text[self._at] if self._at < len(self._text) else None

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self._next()
        if found := pattern.match(self._text, self._at):
            self._at = found.end()
        return found

    def _expect(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        found = self._take(pattern)
        if found is None:
            raise self._wrong(f"{what} is expected")
        return found

    def _wrong(self, what: str) -> RequestError:
        line = self._text.count("\n", 0, self._at) + 1
        there = self._text[self._at : self._at + 40].partition("\n")[0].strip()
        near = f" near {there!r}" if there else ""
        return RequestError(
            f"{reading.printable(self._path)}, line {line}{near}: {what}",
            "docs/how-to/schedules.md has the format; `hockney schedule export --format goal` writes it",
        )


def _matched(ranks: list[list[Operation]], path: Path) -> Graph:
    """Sends with their receives: of equal ends and tags, in the order of the file."""
    waiting: dict[tuple[int, int, int], Iterator[tuple[int, int]]] = {}
    receives: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for rank, operations in enumerate(ranks):
        for number, operation in enumerate(operations):
            if operation.kind == Kind.receive:
                receives.setdefault((operation.peer, rank, operation.tag), []).append((rank, number))
    partner: dict[tuple[int, int], tuple[int, int]] = {}
    for rank, operations in enumerate(ranks):
        for number, operation in enumerate(operations):
            if operation.kind != Kind.send:
                continue
            key = (rank, operation.peer, operation.tag)
            other = next(waiting.setdefault(key, iter(receives.get(key, []))), None)
            what = f"rank {rank} sends {operation.amount} B to {operation.peer} with tag {operation.tag}"
            if other is None:
                raise RequestError(f"{path}: {what}, and nobody receives it", "add a recv of that rank and tag")
            received_B = ranks[other[0]][other[1]].amount
            if received_B != operation.amount:
                raise RequestError(f"{path}: {what}, which receives {received_B} B", "give both the same size")
            partner[rank, number], partner[other] = other, (rank, number)
    for (source, rank, tag), ends in receives.items():
        if left := [end for end in ends if end not in partner]:
            raise RequestError(
                f"{path}: rank {rank} receives {len(left)} messages of tag {tag} from {source} that nobody sends",
                "add a send of that rank and tag",
            )
    return Graph(ranks, partner)
