"""The ring: what is asked of the program, what it answers, per-rank statistics, lines of processes, the fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hockney.apps.launched import Launched, repetitions
from hockney.apps.ring.model import EXCHANGES, around
from hockney.errors import RequestError
from hockney.machine.placement import Placement
from hockney.machine.placement_of_launch import placement_of_launch
from hockney.models.over_ranks.boundaries import Boundary, boundaries
from hockney.models.over_ranks.segments import Segments, segments
from hockney.records.app_record import AppRecord
from hockney.records.record import Locality
from hockney.report.places import domains
from hockney.runner.session import Refused

TOPOLOGIES = ("world", "cartesian", "cartesian-reorder")
FORMATS = ("table", "messages", "hops")
RENAMED_FORMATS = {"document-000": "messages", "document-001": "hops"}
"""Words that the command line accepts for one release more."""
MOST_ITERATIONS = 100_000_000
STATISTICS = ("rank", "P", "t_mean", "t_xmsg", "var", "s2", "N", "dev", "s")
"""Columns of the statistics of a process; µs and µs²."""


@dataclass(frozen=True)
class Run:
    """One ring: `order` has the ranks of the launch around it, `localities` those of each and its right one."""

    record: AppRecord
    order: list[int]
    localities: list[Locality]

    def of_process(self, name: str) -> list[Any]:
        """An array of the answer in the order of the ring's processes."""
        return [self.record.answer[name][rank] for rank in self.order]


@dataclass
class Curve:
    """Rings of one mapping, variant, topology and exchange, by number of processes."""

    name: dict[str, str]
    runs: list[Run] = field(default_factory=list)
    boundaries: list[Boundary] = field(default_factory=list)

    @property
    def title(self) -> str:
        """What it is, in words."""
        return ", ".join(word for word in self.name.values() if word not in ("", "default"))

    def fitted(self) -> Segments | None:
        """Lines between breaks. A ring of one process is left out: its messages go nowhere."""
        runs = [run for run in self.runs if run.record.ranks > 1]
        if not runs:
            return None
        at = np.array([run.record.ranks for run in runs], dtype=np.float64)
        return segments(at, np.array([run.record.time_s for run in runs]), self.boundaries)


def chosen(words: Sequence[str], known: Sequence[str], option: str) -> list[str]:
    """These words, each one of `known`; RequestError for another."""
    if unknown := [word for word in words if word not in known]:
        raise RequestError(f"{option}: unknown {unknown[0]!r}", f"known: {', '.join(known)}")
    return list(words)


def checked_iterations(iterations: int | None) -> int:
    """0: as many as the program chooses; RequestError for what it would refuse."""
    if iterations is None:
        return 0
    if not 1 <= iterations <= MOST_ITERATIONS:
        raise RequestError(
            f"--iterations {iterations} is none of 1 to {MOST_ITERATIONS}", "for example --iterations 10000"
        )
    return iterations


class Sweep:
    """Rings of several numbers of processes on one or more launches."""

    def __init__(
        self,
        counts: Sequence[int],
        exchanges: Sequence[str],
        topologies: Sequence[str],
        iterations: int | None,
        repeated: int | None,
    ) -> None:
        """RequestError for an unknown exchange or topology. A given number of cycles is run once."""
        self._counts = sorted(set(counts))
        self._exchanges = chosen(exchanges, EXCHANGES, "--exchange")
        self._topologies = chosen(topologies, TOPOLOGIES, "--topology")
        self._common: dict[str, object] = {
            "iterations": checked_iterations(iterations),
            **repetitions(1 if iterations is not None and repeated is None else repeated),
        }
        self._curves: dict[tuple[str, ...], Curve] = {}

    @property
    def curves(self) -> list[Curve]:
        """What was run, in the order of the first run of each."""
        return list(self._curves.values())

    def run(self, launched: Launched) -> list[AppRecord]:
        """Every ring of the sweep, ways that are compared next to each other.

        Refused where a ring's values or tags are wrong; its record is kept and says so.
        """
        records = []
        places = {count: placement_of_launch({"ranks": launched.placement}, count) for count in self._counts}
        between = boundaries(self._counts, lambda count: domains(places[count]))
        for count in self._counts:
            for topology in self._topologies:
                for exchange in self._exchanges:
                    asked = {"exchange": exchange, "topology": topology, **self._common}
                    record = launched.run("ring", asked, count)
                    records.append(record)
                    if not record.answer["verified"]:
                        raise Refused(
                            f"a ring of {count} processes ({exchange}, {topology}) has wrong values or tags",
                            "do not use this MPI; report it to the library",
                        )
                    self._add(record, places[count], between)
        return records

    def _add(self, record: AppRecord, place: Placement, between: list[Boundary]) -> None:
        name = {
            "mapping": record.mapping,
            "variant": record.variant,
            "topology": str(record.parameters["topology"]),
            "exchange": str(record.parameters["exchange"]),
        }
        curve = self._curves.setdefault((*name.values(), record.launch), Curve(name, boundaries=between))
        positions: list[int] = record.answer["positions"]
        order = sorted(range(record.ranks), key=lambda rank: positions[rank])
        curve.runs.append(Run(record, order, around(place, order)))


def statistics(run: Run) -> list[dict[str, float | int | None]]:
    """A row per process: mean of N cycles, per hop, variance, sample variance and their roots; µs and µs².

    `s2` = var·N/(N − 1), None of one cycle.
    """
    count, ranks = int(run.record.answer["cycles"]), run.record.ranks
    rows: list[dict[str, float | int | None]] = []
    for rank, (mean_s, variance_s2) in enumerate(
        zip(run.of_process("means_s"), run.of_process("variances_s2"), strict=True)
    ):
        mean, variance = 1e6 * mean_s, 1e12 * variance_s2
        sample = variance * count / (count - 1) if count > 1 else None
        values = (
            rank, ranks, mean, mean / ranks, variance, sample, count,
            math.sqrt(variance), None if sample is None else math.sqrt(sample),
        )  # fmt: skip
        rows.append(dict(zip(STATISTICS, values, strict=True)))
    return rows


def statistics_csv(curves: Sequence[Curve]) -> str:
    """Of every ring, with its curve's words in further columns; an empty field where there is no value."""
    lines = [",".join((*STATISTICS, "mapping", "variant", "topology", "exchange"))]
    for curve in curves:
        for run in curve.runs:
            for row in statistics(run):
                fields = ["" if value is None else f"{value:.7g}" for value in row.values()]
                lines.append(",".join((*fields, *curve.name.values())))
    return "\n".join(lines) + "\n"


def process_lines(run: Run, form: str) -> list[str]:
    """Lines of each process: `messages` counts both messages of a hop, `hops` counts hops."""
    names = ("received", "left_tags", "right_tags", "left_values", "right_values", "means_s")
    lines = []
    for rank, (received, left_tag, right_tag, left, right, mean_s) in enumerate(
        zip(*map(run.of_process, names), strict=True)
    ):
        head = f"I am process {rank} and I have received"
        if form == "hops":
            final = f"My final messages have tag {left_tag} and value msg-left {left}, msg-right {right}"
            lines.append(f"{head} {received // 2} messages. {final}")
            continue
        final = f"My final messages have tags {left_tag}, {right_tag}; values {left}, {right}"
        cycles = int(run.record.answer["cycles"])
        lines += [
            f"{head} {received} messages. {final}",
            f"# walltime on processor {rank} after {cycles} iterations {cycles * mean_s:.8f}. "
            f"Average: {mean_s:.8f}",
        ]
    return lines
