"""A collective under LogGOPS parameters: simulated, with where its time went and what it would take to do so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hockney import _core
from hockney._core import CostCurves, Kind, Network, Problem, Simulated
from hockney.errors import EnvironmentLack, RequestError
from hockney.predict.costs import TERMS, loggp, loggp_message, per_byte
from hockney.schedule.catalogue import Asked

RANK_B = 64
MESSAGE_B = 40
STEP_B = 200
TRACE_B = 48
"""Memory: of a rank, of a message that others wait behind, of a step before it runs, of a traced message."""

MOST_SEGMENTS = 64

MOST_TRACED = 1_000_000
"""Steps: a table of more is no longer read by anybody."""


@dataclass(frozen=True)
class Parameters:
    """LogGOPS in seconds and bytes; see `hockney.predict.costs.loggp_message`."""

    latency_s: float
    overhead_s: float
    gap_s: float
    gap_s_per_B: float
    receive_overhead_s: float
    overhead_s_per_B: float = 0.0
    reduce_s_per_B: float = 0.0
    copy_s_per_B: float = 0.0
    rendezvous_above_B: float | None = None

    def message(self) -> dict[str, Any]:
        """Those of a message."""
        work = ("reduce_s_per_B", "copy_s_per_B")
        return {name: value for name, value in vars(self).items() if name not in work}

    def costs(self) -> CostCurves:
        """Where all ranks are equally far apart."""
        return loggp(**vars(self))


@dataclass(frozen=True)
class Shared:
    """Nodes of `node_size` ranks, one after another, and the links that they share."""

    node_size: int = 1
    node_gap_s_per_B: float = 0.0
    network_gap_s_per_B: float = 0.0
    torus: tuple[int, ...] = ()
    tree: tuple[tuple[int, int], ...] = ()
    """(children, parallel uplinks) of the switches of each level."""

    def nodes(self, ranks: int) -> NDArray[np.int32]:
        """The node of each rank. RequestError where the network has too few."""
        places = math.prod(self.torus) if self.torus else math.prod(children for children, _ in self.tree)
        needed = -(-ranks // self.node_size)
        if (self.torus or self.tree) and needed > places:
            raise RequestError(
                f"{ranks} ranks need {needed} nodes, but the network has {places}",
                "give fewer ranks, a larger --node-size or a larger network",
            )
        return (np.arange(ranks) // self.node_size).astype(np.int32)


@dataclass(frozen=True)
class Outcome:
    """What a simulation tells. `method`: `simulated`, or `by_class` where one rank stands for all."""

    finish_s: NDArray[np.float64]
    """[ranks], by class [classes]."""
    messages: int
    engine_s: float
    method: str
    critical_path: dict[str, Any] | None = None

    def summary(self) -> dict[str, Any]:
        """As `--json` has it."""
        told = {
            "method": self.method,
            "makespan_s": float(self.finish_s.max()),
            "mean_over_ranks_s": float(self.finish_s.mean()),
            "min_over_ranks_s": float(self.finish_s.min()),
            "messages": self.messages,
            "engine_s": self.engine_s,
        }
        return told if self.critical_path is None else {**told, "critical_path": self.critical_path}


def simulate(
    asked: Asked,
    parameters: Parameters,
    *,
    shared: Shared | None = None,
    noise_s: float = 0.0,
    seed: int = 0,
    by_class: bool = True,
    critical_path: bool = False,
) -> Outcome:
    """Simulate one operation that all ranks enter at time 0.

    Noise is exponential with mean `noise_s`, for each time that a processor is busy. With `by_class`, one rank
    stands for all wherever all do and cost the same. EnvironmentLack where the memory would not do.
    """
    problem = asked.problem
    phase = (asked.algorithm.collective, asked.algorithm.name, problem)
    is_plain = by_class and shared is None and noise_s == 0
    alike = is_plain and _core.symmetric_classes(phase, parameters.copy_s_per_B > 0) > 0
    _refuse_what_does_not_fit(asked, by_class=alike, trace=critical_path)
    costs, levels, network = _surroundings(parameters, shared, problem.ranks)
    try:
        result = _core.simulate(
            [phase],
            costs,
            levels=levels,
            network=network,
            noise_s=[noise_s] if noise_s else [],
            seed=seed,
            by_class=alike,
            trace=critical_path,
        )
    except MemoryError as error:
        raise EnvironmentLack("the memory is full", "ask for fewer ranks or messages") from error
    path = _critical_path(result, parameters, shared) if critical_path else None
    method = "by_class" if alike else "simulated"
    return Outcome(result.finish_s, result.messages, result.engine_s, method, path)


def _surroundings(
    parameters: Parameters, shared: Shared | None, ranks: int
) -> tuple[CostCurves, NDArray[np.int32], Network]:
    if shared is None:
        return parameters.costs(), np.zeros((0, 0), np.int32), Network(node_of_rank=[])
    nodes = shared.nodes(ranks)
    between = loggp_message(
        **parameters.message(),
        node_gap_s_per_B=shared.node_gap_s_per_B,
        network_gap_s_per_B=shared.network_gap_s_per_B,
    )
    # What stays inside a node takes nothing of its links.
    message = [loggp_message(**parameters.message()), between]
    costs = CostCurves(message, per_byte(parameters.copy_s_per_B), per_byte(parameters.reduce_s_per_B))
    network = Network(
        node_of_rank=nodes.tolist(),
        torus=shared.torus,
        below=[children for children, _ in shared.tree],
        uplinks=[uplinks for _, uplinks in shared.tree],
    )
    return costs, nodes[None, :], network


def _critical_path(result: Simulated, parameters: Parameters, shared: Shared | None) -> dict[str, Any]:
    """Counts and seconds of each term on the way back from the last rank's finish; the seconds add up to it."""
    size_B = np.array(result.size_B, dtype=np.float64)
    localities = 1 if shared is None else 2
    critical = result.critical.reshape(len(size_B), localities * len(TERMS) + 2)
    of_message = critical[:, :-2].reshape(len(size_B), localities, len(TERMS))
    count = dict(zip(TERMS, of_message.sum(axis=1).T, strict=True))
    copied, reduced = critical[:, -2], critical[:, -1]
    further_B = np.maximum(size_B - 1, 0)
    ported, overheads = count["gap"] + count["drain"], count["send"] + count["receive"]
    terms_s = {
        "latency": count["transfer"].sum() * parameters.latency_s,
        "send_overhead": count["send"].sum() * parameters.overhead_s,
        "receive_overhead": count["receive"].sum() * parameters.receive_overhead_s,
        "overhead_bytes": overheads @ size_B * parameters.overhead_s_per_B,
        "gap": ported.sum() * parameters.gap_s,
        "bytes": (count["transfer"] + ported) @ further_B * parameters.gap_s_per_B,
        "handshake": count["handshake"].sum() * parameters.latency_s,
        "node_links": count["node_link"] @ size_B * (shared.node_gap_s_per_B if shared else 0.0),
        "network_links": count["network_link"] @ size_B * (shared.network_gap_s_per_B if shared else 0.0),
        "copy": copied @ size_B * parameters.copy_s_per_B,
        "reduction": reduced @ size_B * parameters.reduce_s_per_B,
    }
    known_s = {name: float(value) for name, value in terms_s.items()}
    makespan_s = float(result.finish_s.max())
    noise_s = makespan_s - sum(known_s.values())
    # What is left without noise is rounding.
    known_s["noise"] = noise_s if abs(noise_s) > 1e-9 * makespan_s else 0.0
    return {
        "latencies": round(count["transfer"].sum()),
        "send_overheads": round(count["send"].sum()),
        "receive_overheads": round(count["receive"].sum()),
        "gaps": round(ported.sum()),
        "handshakes": round(count["handshake"].sum()),
        "bytes": round(float(count["transfer"] @ size_B)),
        "reduced_bytes": round(float(reduced @ size_B)),
        "copied_bytes": round(float(copied @ size_B)),
        "terms_s": known_s,
    }


def trace(asked: Asked, parameters: Parameters) -> Iterator[dict[str, Any]]:
    """When every rank is busy with which step, in seconds. RequestError for more than a reader could use."""
    if (steps := 2 * expected_messages(asked)) > MOST_TRACED:
        raise RequestError(f"about {steps:.2g} steps are too many for a trace", "trace fewer ranks")
    schedule = asked.generate()
    times = _core.timeline(schedule, parameters.costs())
    for rank, mine in enumerate(schedule):
        for number, step in enumerate(mine.steps):
            moved = step.source if step.kind == Kind.send else step.target
            yield {
                "rank": rank,
                "step": number,
                "kind": step.kind.name,
                "peer": step.peer if step.kind in (Kind.send, Kind.receive) else "",
                "bytes": moved.length_B,
                "start_s": times.start_s[rank][number],
                "end_s": times.end_s[rank][number],
                "arrival_s": times.arrival_s[rank][number] if step.kind == Kind.receive else "",
            }


def expected_messages(asked: Asked) -> float:
    """About how many messages there are, from how their number grows between 64 and 128 ranks.

    An upper estimate: blocks that many ranks would leave empty are counted.
    """
    ranks = asked.problem.ranks
    if ranks <= 128:
        return _messages(asked, ranks)
    half, whole = _messages(asked, 64), _messages(asked, 128)
    return whole * (whole / half) ** math.log2(ranks / 128) if half else 0.0


def _messages(asked: Asked, ranks: int) -> float:
    p = asked.problem
    # Many segments are counted by few of them.
    size_B = min(p.bytes, MOST_SEGMENTS * p.segment_B) if p.segment_B else p.bytes
    fewer = Problem(
        ranks=ranks,
        root=min(p.root, ranks - 1),
        bytes=size_B,
        element_B=p.element_B,
        segment_B=p.segment_B,
        radix=p.radix,
    )
    name = asked.algorithm.collective, asked.algorithm.name
    everything = (_core.generate_rank(*name, fewer, rank) for rank in range(ranks))
    counted = sum(step.kind == Kind.send for mine in everything for step in mine.steps)
    return counted * (p.bytes / size_B if size_B else 1.0)


def _refuse_what_does_not_fit(asked: Asked, *, by_class: bool, trace: bool) -> None:
    ranks = asked.problem.ranks
    messages = expected_messages(asked)
    # Of trees, whose messages are as many as the ranks, few are under way at a time.
    under_way = 0.0 if messages <= 2 * ranks else messages
    needed_B = RANK_B * ranks + MESSAGE_B * under_way + (TRACE_B * messages if trace else 0)
    if by_class:
        needed_B = messages / ranks * (STEP_B + (TRACE_B if trace else 0))
    available_B = _available_B()
    if needed_B > available_B:
        raise EnvironmentLack(
            f"{ranks} ranks with about {messages:.2g} messages need about {needed_B / 1e9:.3g} GB of memory; "
            f"{available_B / 1e9:.3g} GB are available",
            "ask for fewer ranks, or for an algorithm with fewer messages",
        )


def _available_B() -> float:
    """Memory that can be had, in bytes; infinite where the system does not say."""
    try:
        fields = Path("/proc/meminfo").read_text(encoding="ascii").split("\n")
    except OSError:
        return math.inf
    kib = next((line.split()[1] for line in fields if line.startswith("MemAvailable:")), None)
    return math.inf if kib is None else float(kib) * 1024
