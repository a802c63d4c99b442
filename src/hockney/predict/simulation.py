"""A collective under LogGOPS parameters: simulated, with where its time went and what it would take to do so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hockney import _core, reading
from hockney._core import GoalFault, Graph, Growth, Kind, Network, Problem, Simulated
from hockney.errors import EnvironmentLack, RequestError
from hockney.predict.costs import NOTHING, TERMS, Costs, CostSource, CriticalTerms, per_byte, value
from hockney.predict.place import LOCALITIES, NETWORK, Place
from hockney.schedule.catalogue import ScheduleRequest

RANK_B = 64
MESSAGE_B = 40
STEP_B = 200
TRACE_B = 48
"""Memory: of a rank, of a message that others wait behind, of a step before it runs, of a traced message."""

MESSAGES_PER_S = 2e7
"""What rounds of a ring come to (`bench/simulator`)."""
MOST_MESSAGES = 1e12
"""Half a day."""

MOST_TRACED = 1_000_000
"""Steps: a table of more is no longer read by anybody."""

LINKS = TERMS.index("node_link"), TERMS.index("network_link")


@dataclass(frozen=True)
class CriticalPath:
    """What the last rank waited for: counts, and seconds of each term, which add up to its finish."""

    latencies: int
    send_overheads: int
    receive_overheads: int
    gaps: int
    handshakes: int
    bytes: int
    reduced_bytes: int
    copied_bytes: int
    terms_s: Mapping[str, float]


@dataclass(frozen=True)
class SimulationResult:
    """The result of a simulation. `method`: `simulated`, or `by_class` where few ranks stand for all."""

    finish_s: NDArray[np.float64]
    """[ranks], by class [classes]."""
    messages: int
    engine_s: float
    method: str
    mean_s: float
    """Over the ranks."""
    critical_path: CriticalPath | None = None


def simulate(
    request: ScheduleRequest,
    source: CostSource,
    *,
    place: Place | None = None,
    noise_s: float = 0.0,
    seed: int = 0,
    by_class: bool = True,
    critical_path: bool = False,
) -> SimulationResult:
    """Simulate one operation that all ranks enter at time 0.

    With a `place`, each pair of ranks costs what its locality does, without one all are as far apart as can be.
    Noise is exponential with mean `noise_s`, for each time that a processor is busy. With `by_class`, one rank
    stands for all that do the same at the same times, where all cost the same. EnvironmentLack where the memory
    would not do.
    """
    problem = request.problem
    phase = (request.algorithm.collective, request.algorithm.name, problem)
    is_plain = by_class and place is None and noise_s == 0
    alike = is_plain and _core.symmetric_classes(phase, source.copies_cost) > 0
    _refuse_what_does_not_fit(request, by_class=alike, trace=critical_path)
    surroundings = _surroundings(source, place)
    return _run(phase, surroundings, noise_s, seed, by_class=is_plain, critical_path=critical_path)


def simulate_graph(
    graph: Graph,
    source: CostSource,
    tick_s: float,
    *,
    place: Place | None = None,
    noise_s: float = 0.0,
    seed: int = 0,
    critical_path: bool = False,
) -> SimulationResult:
    """The same of a user's own graph, of whose computations a tick takes `tick_s`.

    RequestError where its operations wait for each other in a circle. The critical path has computations as
    `reduction`.
    """
    costs, levels, network = _surroundings(source, place)
    surroundings = replace(costs, reduce=per_byte(tick_s)), levels, network
    try:
        return _run(graph, surroundings, noise_s, seed, by_class=False, critical_path=critical_path)
    except GoalFault as fault:
        raise RequestError(*str(fault).split("\n")) from fault
    except ValueError as error:
        # Of sends that wait for their receives: a rank takes one step after another.
        raise RequestError(f"the graph cannot go on: {error}", "post the receives earlier") from error


def read_goal(path: Path) -> Graph:
    """The graph of a file of GOAL text (Hoefler, Siebert and Lumsdaine, ICPP 2009).

        num_ranks 2
        rank 0 { l1: calc 500  l2: send 8192b to 1 tag 7  l2 requires l1 }
        rank 1 { l1: recv 8192b from 0 tag 7 }

    `a requires b`: a starts after b has ended; `a irequires b`: after b has started. Steps of a rank that do not
    depend on each other have no order. RequestError, with the line, for what is no GOAL, for several processors
    of a rank, for messages from anybody (−1), and where sends and receives do not match; EnvironmentLack where
    the memory would not do.
    """
    reading.beginning(path, 1)
    name = reading.printable(path)
    try:
        return Graph(name, available_B())
    except GoalFault as fault:
        what, _, hint = str(fault).partition("\n")
        raise RequestError(f"{name}: {what}", hint) from fault
    except MemoryError as error:
        what, _, hint = str(error).partition("\n")
        raise EnvironmentLack(f"{name}: {what}", hint) from error


def _run(
    phase: tuple[str, str, Problem] | Graph,
    surroundings: tuple[Costs, NDArray[np.int32], Network],
    noise_s: float,
    seed: int,
    *,
    by_class: bool,
    critical_path: bool,
) -> SimulationResult:
    costs, levels, network = surroundings
    try:
        result = _core.simulate(
            [phase],
            costs.curves(),
            levels=levels,
            network=network,
            noise_s=[noise_s] if noise_s else [],
            seed=seed,
            by_class=by_class,
            trace=critical_path,
            most_B=available_B(),
        )
    except MemoryError as error:
        what, _, hint = str(error).partition("\n")
        if hint:
            raise RequestError(what, hint) from error
        raise EnvironmentLack("the memory is full", "ask for fewer ranks or messages") from error
    path = _critical_path(result, costs) if critical_path else None
    weights = result.ranks_of_class if result.ranks_of_class.size else None
    mean_s = float(np.average(result.finish_s, weights=weights))
    method = "simulated" if weights is None else "by_class"
    return SimulationResult(result.finish_s, result.messages, result.engine_s, method, mean_s, path)


def _surroundings(source: CostSource, place: Place | None) -> tuple[Costs, NDArray[np.int32], Network]:
    if place is None:
        return source.at([NETWORK]), np.zeros((0, 0), np.int32), Network(node_of_rank=[])
    costs = source.at(range(len(LOCALITIES)))
    is_shared = any(costs.messages[NETWORK][link] != NOTHING for link in LINKS)
    return costs, place.levels, place.network(is_shared=is_shared)


def _critical_path(result: Simulated, costs: Costs) -> CriticalPath:
    """Counts and seconds of each term on the way back from the last rank's finish; the seconds add up to it."""
    path, makespan_s = CriticalTerms.of(result, costs), float(result.finish_s.max())
    empty_s, bytes_s, size_B = path.empty_s, path.bytes_s, path.size_B
    terms_s = {
        "latency": empty_s["transfer"],
        "send_overhead": empty_s["send"],
        "receive_overhead": empty_s["receive"],
        "overhead_bytes": bytes_s["send"] + bytes_s["receive"],
        "gap": empty_s["gap"] + empty_s["drain"],
        "bytes": sum(bytes_s[term] for term in ("transfer", "gap", "drain", "duplex")),
        "handshake": bytes_s["handshake"] + path.whole_s("behind"),
        "node_links": bytes_s["node_link"],
        "network_links": bytes_s["network_link"],
        "copy": float(path.copied @ value(costs.copy, size_B)),
        "reduction": float(path.reduced @ value(costs.reduce, size_B)),
    }
    noise_s = makespan_s - sum(terms_s.values())
    # What is left without noise is rounding.
    terms_s["noise"] = noise_s if abs(noise_s) > 1e-9 * makespan_s else 0.0
    return CriticalPath(
        latencies=path.counted("transfer"),
        send_overheads=path.counted("send"),
        receive_overheads=path.counted("receive"),
        gaps=path.counted("gap", "drain", "duplex"),
        handshakes=path.counted("handshake"),
        bytes=round(float(path.count["transfer"] @ size_B)),
        reduced_bytes=round(float(path.reduced @ size_B)),
        copied_bytes=round(float(path.copied @ size_B)),
        terms_s=terms_s,
    )


def trace(request: ScheduleRequest, source: CostSource) -> Iterator[dict[str, float | str]]:
    """Start and end of every step of every rank, in seconds. RequestError for more than MOST_TRACED steps."""
    if (steps := 2 * request.expected_messages()) > MOST_TRACED:
        raise RequestError(f"about {steps:.2g} steps are too many for a trace", "trace fewer ranks")
    schedule = request.generate()
    times = _core.timeline(schedule, source.at([NETWORK]).curves())
    for rank, program in enumerate(schedule):
        for number, step in enumerate(program.steps):
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


def _refuse_what_does_not_fit(request: ScheduleRequest, *, by_class: bool, trace: bool) -> None:
    ranks = request.problem.ranks
    messages = request.expected_messages()
    # Of trees, whose messages are as many as the ranks, and of rings few are under way at a time.
    is_ring = request.algorithm.growth == Growth.per_rank and request.algorithm.collective != "alltoall"
    under_way = 0.0 if messages <= 2 * ranks or is_ring else messages
    needed_B = RANK_B * ranks + MESSAGE_B * under_way + (TRACE_B * messages if trace else 0)
    if by_class:
        needed_B = messages / ranks * (STEP_B + (TRACE_B if trace else 0))
    free_B = available_B()
    if needed_B > free_B:
        raise EnvironmentLack(
            f"{ranks} ranks with about {messages:.2g} messages need about {needed_B / 1e9:.3g} GB of memory; "
            f"{free_B / 1e9:.3g} GB are available",
            "ask for fewer ranks, or for an algorithm with fewer messages",
        )
    if not by_class and messages > MOST_MESSAGES:
        raise RequestError(
            f"{ranks} ranks send about {messages:.2g} messages: {messages / MESSAGES_PER_S / 3600:.0f} hours",
            "ask for fewer ranks, or for an algorithm with fewer messages",
        )


def available_B() -> int:
    """Memory that can be had, in bytes; 2^62 where the system does not say."""
    try:
        fields = reading.text(Path("/proc/meminfo")).split("\n")
    except RequestError:
        return 2**62
    kib = next((line.split()[1] for line in fields if line.startswith("MemAvailable:")), None)
    return 2**62 if kib is None else int(kib) * 1024
