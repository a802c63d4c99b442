"""The ring: what is asked of the program, what it answers, per-rank statistics, lines of processes, the fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from hockney import writing
from hockney.apps.launched import Launched, repetitions
from hockney.apps.ring.answer import RingAnswer
from hockney.apps.ring.model import around
from hockney.apps.ring.ways import EXCHANGES, TOPOLOGIES
from hockney.campaign.loop import Asking
from hockney.errors import RequestError
from hockney.machine.placement import Placement
from hockney.machine.placement_of_launch import placement_of_launch
from hockney.models.over_ranks.boundaries import Boundary, Domains, boundaries, node_boundaries
from hockney.models.over_ranks.segments import Segments, segments
from hockney.records.app_record import AppRecord
from hockney.records.record import Locality
from hockney.report.places import domains
from hockney.runner.session import Refused

FORMATS = ("table", "messages", "hops")
MOST_ITERATIONS = 100_000_000
STATISTICS = ("rank", "P", "t_mean", "t_xmsg", "var", "s2", "N", "dev", "s")
"""Columns of the statistics of a process; µs and µs²."""


Entry = TypeVar("Entry")


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

    def of_processes(self, of_ranks: Sequence[Entry]) -> list[Entry]:
        """What is by rank, in the order of the ring's processes."""
        return [of_ranks[rank] for rank in self.order]


@dataclass
class RingSeries:
    """Rings of one mapping, variant, topology and exchange, by number of processes."""

    name: dict[str, str]
    runs: list[RingRun] = field(default_factory=list)
    boundaries: list[Boundary] = field(default_factory=list)

    @property
    def title(self) -> str:
        """What it is, in words."""
        return ", ".join(word for word in self.name.values() if word not in ("", "default"))

    def title_among(self, others: Sequence[RingSeries]) -> str:
        """The words in which it differs from one of the others, all of them where it is alone."""
        differing = [word for name, word in self.name.items() if any(one.name[name] != word for one in others)]
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
    """Measured rings by what they have in common, in the order of the first of each.

    Where nobody knows where ranks were, the numbers of nodes still tell where nodes are full.
    """
    curves: dict[tuple[str, ...], RingSeries] = {}
    places: dict[tuple[str, ...], dict[int, Placement | None]] = {}
    for record in records:
        parameters = record.parameters
        name = {
            "system": record.system,
            "mpi": record.mpi,
            "mapping": record.mapping,
            "variant": "" if record.variant == "default" else record.variant,
            "topology": str(parameters.get("topology", "")),
            "exchange": str(parameters.get("exchange", parameters.get("algorithm", ""))),
        }
        key, place = tuple(name.values()), place_of(record)
        order = around_of(record)
        localities = [] if place is None else around(place, order or None)
        curves.setdefault(key, RingSeries(name)).runs.append(RingRun(record, order, localities))
        places.setdefault(key, {})[record.ranks] = place
    for key, curve in curves.items():
        curve.runs.sort(key=lambda run: run.record.ranks)
        curve.boundaries = _boundaries(curve.runs, places[key])
    return list(curves.values())


def _boundaries(runs: Sequence[RingRun], places: Mapping[int, Placement | None]) -> list[Boundary]:
    def at(ranks: int) -> Domains | None:
        place = places[ranks]
        return None if place is None else domains(place)

    if any(place is not None for place in places.values()):
        return boundaries(places, at)
    nodes = {run.record.ranks: _nodes(run.record) for run in runs}
    return node_boundaries({ranks: count for ranks, count in nodes.items() if count is not None})


def _nodes(record: AppRecord) -> int | None:
    return -(-record.ranks // record.ppn) if record.nodes is None and record.ppn else record.nodes


def around_of(record: AppRecord) -> list[int]:
    """The ranks in the order of the ring; none where the record does not say it: then that is 0, 1, …"""
    positions = record.answer.read_as(RingAnswer).positions
    return sorted(range(record.ranks), key=positions.__getitem__) if len(positions) == record.ranks else []


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
        self._topologies = chosen(topologies, TOPOLOGIES, "--communicator")
        self._common: dict[str, object] = {
            "iterations": checked_iterations(iterations),
            **repetitions(1 if iterations is not None and repeated is None else repeated),
        }
        self._curves: dict[tuple[str, ...], RingSeries] = {}

    @property
    def curves(self) -> list[RingSeries]:
        """What was run, in the order of the first run of each."""
        return list(self._curves.values())

    def asking(self, launched: Launched) -> Asking[AppRecord]:
        """Every ring of the sweep, ways that are compared next to each other.

        Refused where a ring's values or tags are wrong; its record is kept and says so.
        """
        launch = {"ranks": [place.model_dump() for place in launched.placement]}
        places = {count: placement_of_launch(launch, count) for count in self._counts}
        between = boundaries(self._counts, lambda count: domains(places[count]))
        for count in self._counts:
            for topology in self._topologies:
                for exchange in self._exchanges:
                    parameters = {"exchange": exchange, "topology": topology, **self._common}
                    (record,) = yield launched.request("ring", parameters, count)
                    if not record.answer.verified:
                        raise Refused(
                            f"a ring of {count} processes ({exchange}, {topology}) has wrong values or tags",
                            "do not use this MPI; report it to the library",
                        )
                    self._add(record, places[count], between)

    def _add(self, record: AppRecord, place: Placement, between: list[Boundary]) -> None:
        name = {
            "mapping": record.mapping,
            "variant": record.variant,
            "topology": str(record.parameters["topology"]),
            "exchange": str(record.parameters["exchange"]),
        }
        curve = self._curves.setdefault((*name.values(), record.launch), RingSeries(name, boundaries=between))
        order = around_of(record)
        curve.runs.append(RingRun(record, order, around(place, order)))


def statistics(run: RingRun) -> list[dict[str, float | int | None]]:
    """A row per process: mean of N cycles, per hop, variance, sample variance and their roots; µs and µs².

    `s2` = var·N/(N − 1), None of one cycle.
    """
    answer, ranks = run.answer, run.record.ranks
    count = answer.cycles or 1
    rows: list[dict[str, float | int | None]] = []
    for rank, (mean_s, variance_s2) in enumerate(
        zip(run.of_processes(answer.means_s), run.of_processes(answer.variances_s2), strict=True)
    ):
        mean, variance = 1e6 * mean_s, 1e12 * variance_s2
        sample = variance * count / (count - 1) if count > 1 else None
        values = (
            rank, ranks, mean, mean / ranks, variance, sample, count,
            math.sqrt(variance), None if sample is None else math.sqrt(sample),
        )  # fmt: skip
        rows.append(dict(zip(STATISTICS, values, strict=True)))
    return rows


def statistics_csv(curves: Sequence[RingSeries]) -> str:
    """Of every ring, with its curve's words in further columns; an empty field where there is no value."""
    lines = [",".join((*STATISTICS, "mapping", "variant", "topology", "exchange"))]
    for curve in curves:
        for run in curve.runs:
            for row in statistics(run):
                fields = ["" if value is None else f"{value:.7g}" for value in row.values()]
                lines.append(",".join((*fields, *curve.name.values())))
    return "\n".join(lines) + "\n"


def write_processes(folder: Path, curves: Sequence[RingSeries], form: str) -> None:
    """npP.txt and npP.csv for each ring; in a folder for each curve where there are several."""
    for curve in curves:
        place = folder / "-".join(curve.title_among(curves).split(", ")) if len(curves) > 1 else folder
        writing.make_folder(place, "choose another folder")
        for run in curve.runs:
            lines = "\n".join(process_lines(run, form)) + "\n"
            writing.replace(place / f"np{run.record.ranks}.txt", lines)
            alone = RingSeries(curve.name, [run])
            writing.replace(place / f"np{run.record.ranks}.csv", statistics_csv([alone]))


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
            f"{head} {received} messages. {final}",
            f"# walltime on processor {process} after {cycles} iterations {cycles * mean_s:.8f}. "
            f"Average: {mean_s:.8f}",
        ]
    return lines
