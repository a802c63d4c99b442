"""A process that fuzzes: parsers take turns; inputs that take a new branch are kept and changed further."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import cycle
from pathlib import Path
from random import Random
from typing import BinaryIO
from unittest.mock import patch

import typer
from tests.fuzz import branches
from tests.fuzz.parser import Parser, command_of, judged, keep, limit_memory, minimised, parsers, written

LEAST_ACCEPTED = 0.4
"""Below this share of inputs that pass the first check, changes are gentle."""
MOST_KEPT_B = 200_000
MOST_KEPT = 3000


@dataclass
class Count:
    """What became of the inputs of one parser. `branches`: names of those that were taken."""

    inputs: int = 0
    accepted: int = 0
    used: int = 0
    cpu_s: float = 0.0
    branches: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)


class Fuzzed:
    """One parser while it is fuzzed: its inputs follow from the seed, whatever the others do.

    `folder` is empty, and each input is read in it.
    """

    def __init__(self, name: str, parser: Parser, seed: str, folder: Path) -> None:
        self.folder = folder
        self.name, self.parser = name, parser
        self.chance = Random(f"{seed} {name}")
        self.count = Count()
        self.taken = bytearray(len(branches.TAKEN))
        self.todo = [*parser.seeds()]
        self.accepted: list[bytes] = []
        self.refused: list[bytes] = []

    def turn(self, present: BinaryIO) -> None:
        """Judge as many inputs as a turn has; `present` is a file that holds the input that is being judged."""
        began_s = time.process_time()
        branches.TAKEN[:] = self.taken
        for _ in range(self.parser.turn):
            data = self.todo.pop() if self.todo else self._next()
            command = command_of(self.parser, self.chance)
            present.seek(0)
            present.truncate()
            present.write(self.name.encode() + b"\n" + written(command, data))
            before = branches.TAKEN.count(1, 0, len(branches.NAMES))
            result = judged(self.parser, data, self.folder, command)
            self.count.inputs += 1
            self.count.accepted += result.accepted
            self.count.used += bool(result.accepted and command)
            if result.failure is not None and result.failure.place not in self.count.failures:
                self._keep(data, result.failure.place, result.failure.trace, command)
            if branches.TAKEN.count(1, 0, len(branches.NAMES)) > before and len(data) <= MOST_KEPT_B:
                kept = self.accepted if result.accepted else self.refused
                kept.append(data)
                del kept[:-MOST_KEPT]
        self.taken[:] = branches.TAKEN
        self.count.cpu_s += time.process_time() - began_s
        self.count.branches = [name for name, taken in zip(branches.NAMES, self.taken, strict=False) if taken]

    def _next(self) -> bytes:
        is_poor = self.count.accepted < LEAST_ACCEPTED * self.count.inputs
        gentle = self.chance.random() < (0.95 if is_poor else 0.5)
        pool = self.accepted if gentle or self.chance.random() < 0.6 else self.refused
        pool = pool or self.accepted or [*self.parser.seeds()]
        return self.parser.format.changed(self.chance.choice(pool), self.chance, gentle)

    def _keep(self, data: bytes, place: str, trace: str, command: str) -> None:
        """Write a failure down, as small as it gets, where the tests replay it."""
        print(f"{self.name}: {place} {command}\n{trace}", file=sys.stderr)
        small = minimised(self.parser, data, place, self.folder, command)
        path = keep(self.name, written(command, small))
        self.count.failures[place] = path.name
        print(f"{self.name}: {place}: {path}", file=sys.stderr)


def fuzz(seed: str, time_s: float, folder: Path, only: list[str]) -> None:
    """Fuzz for so long, one turn at least; `folder` gets the counts after each turn, and the input in flight."""
    limit_memory()
    inputs = folder / "inputs"
    inputs.mkdir()
    work = [Fuzzed(name, parser, seed, inputs) for name, parser in parsers if not only or name in only]
    # Processes begin with different parsers, so that a short run gets to all of them.
    Random(seed).shuffle(work)
    until_s = time.monotonic() + time_s
    # Typer makes all verbs from their functions anew for each command, which takes longer than most of them run.
    made_once = patch.object(typer.main, "get_command", cache(typer.main.get_command))
    with made_once, (folder / "present").open("wb", buffering=0) as present:
        for fuzzed in cycle(work):
            fuzzed.turn(present)
            counts = folder / "counts.part"
            counts.write_text(json.dumps({fuzzed.name: asdict(fuzzed.count) for fuzzed in work}))
            counts.replace(folder / "counts.json")
            if time.monotonic() > until_s:
                return
