"""Rings that ran: by what they have in common, the statistics of their processes, and lines of text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hockney.apps.ring.answer import RingAnswer
from hockney.apps.ring.model import around
from hockney.machine.locality import domains
from hockney.machine.placement import Placement
from hockney.models.over_ranks.boundaries import Boundary, Domains, boundaries
from hockney.models.over_ranks.segments import Segments, segments
from hockney.records.app_record import AppRecord
from hockney.records.record import Locality
from hockney.units import counted

STATISTICS = ("rank", "P", "t_mean", "t_xmsg", "var", "s2", "N", "dev", "s")
"""Columns of the statistics of a process; µs and µs²."""


@dataclass(frozen=True)
class RingRun:
    """One ring: `order` has the ranks of the launch around it, `localities` those of each and its right one."""

    record: AppRecord
    order: list[int]
    localities: list[Locality]

    @cached_property
    def answer(self) -> RingAnswer:
        """What the program said."""
        return self.record.answer.read_as(RingAnswer)


class RingName(NamedTuple):
    """What rings of one curve have in common."""

    system: str = ""
    mpi: str = ""
    mapping: str = ""
    variant: str = ""
    topology: str = ""
    exchange: str = ""

    @classmethod
    def of(cls, record: AppRecord) -> RingName:
        """That of a run; another program's runs lack some of it."""
        asked = record.parameters
        exchange = str(asked.get("exchange", asked.get("algorithm", "")))
        return cls(
            record.system, record.mpi, record.mapping, record.variant, str(asked.get("topology", "")), exchange
        )


@dataclass(frozen=True)
class RingSeries:
    """Rings of one name, by number of processes."""

    name: RingName
    runs: list[RingRun]
    boundaries: Sequence[Boundary] = ()

    @property
    def title(self) -> str:
        """What it is, in words."""
        return ", ".join(word for word in self.name if word not in ("", "default"))

    def title_among(self, others: Sequence[RingSeries]) -> str:
        """The words in which it differs from one of the others, all of them where it is alone."""
        names = zip(self.name, *(series.name for series in others), strict=True)
        differing = [word for word, *further in names if {word} != {*further}]
        return ", ".join(word or "unknown" for word in differing) or self.title or "measured"

    def fitted(self) -> Segments | None:
        """Lines between breaks. A ring of one process is left out: its messages go nowhere."""
        runs = [run for run in self.runs if run.record.ranks > 1]
        if not runs:
            return None
        at = np.array([run.record.ranks for run in runs], dtype=np.float64)
        return segments(at, np.array([run.record.time_s for run in runs]), self.boundaries)


def of_records(
    records: Sequence[AppRecord], place_of: Callable[[AppRecord], Placement | None]
) -> list[RingSeries]:
    """Measured rings by what they have in common, in the order of the first of each."""
    runs: dict[RingName, list[RingRun]] = {}
    places: dict[RingName, dict[int, Placement | None]] = {}
    for record in records:
        name, place, order = RingName.of(record), place_of(record), around_of(record)
        localities = [] if place is None else around(place, order or None)
        runs.setdefault(name, []).append(RingRun(record, order, localities))
        places.setdefault(name, {})[record.ranks] = place
    return [
        RingSeries(name, sorted(rings, key=lambda run: run.record.ranks), _boundaries(places[name]))
        for name, rings in runs.items()
    ]


def _boundaries(places: Mapping[int, Placement | None]) -> list[Boundary]:
    def at(ranks: int) -> Domains | None:
        place = places[ranks]
        return None if place is None else domains(place)

    return boundaries(places, at)


def around_of(record: AppRecord) -> list[int]:
    """The ranks in the order of the ring; none where the record does not say it: then that is 0, 1, …"""
    positions = record.answer.read_as(RingAnswer).positions
    return sorted(range(record.ranks), key=positions.__getitem__) if len(positions) == record.ranks else []


def statistics(run: RingRun) -> list[dict[str, float | int | None]]:
    """A row per process: mean of N cycles, per hop, variance, sample variance and their roots; µs and µs².

    `s2` = var·N/(N − 1), None of one cycle.
    """
    answer, ranks = run.answer, run.record.ranks
    count = answer.cycles or 1
    rows: list[dict[str, float | int | None]] = []
    for process, rank in enumerate(run.order):
        mean, variance = 1e6 * answer.means_s[rank], 1e12 * answer.variances_s2[rank]
        sample = variance * count / (count - 1) if count > 1 else None
        values = (
            process, ranks, mean, mean / ranks, variance, sample, count,
            math.sqrt(variance), None if sample is None else math.sqrt(sample),
        )  # fmt: skip
        rows.append(dict(zip(STATISTICS, values, strict=True)))
    return rows


def statistics_csv(curves: Sequence[RingSeries]) -> str:
    """Of every ring, with its curve's words in further columns; an empty field where there is no value."""
    lines = [",".join((*STATISTICS, *RingName._fields[2:]))]
    for curve in curves:
        for run in curve.runs:
            for row in statistics(run):
                fields = ["" if value is None else f"{value:.7g}" for value in row.values()]
                lines.append(",".join((*fields, *curve.name[2:])))
    return "\n".join(lines) + "\n"


def process_lines(run: RingRun, form: str) -> list[str]:
    """Lines of each process: `messages` counts both messages of a hop, `hops` counts hops."""
    answer = run.answer
    cycles = answer.cycles or 1
    lines = []
    for process, rank in enumerate(run.order):
        received, mean_s = answer.received[rank], answer.means_s[rank]
        left_tag, right_tag = answer.left_tags[rank], answer.right_tags[rank]
        left, right = answer.left_values[rank], answer.right_values[rank]
        head = f"I am process {process} and I have received"
        if form == "hops":
            final = f"My final messages have tag {left_tag} and value msg-left {left}, msg-right {right}"
            lines.append(f"{head} {received // 2} messages. {final}")
            continue
        final = f"My final messages have tags {left_tag}, {right_tag}; values {left}, {right}"
        lines += [
            f"{head} {counted(received, 'message')}. {final}",
            f"# walltime on processor {process} after {cycles} iterations {cycles * mean_s:.8f}. "
            f"Average: {mean_s:.8f}",
        ]
    return lines
