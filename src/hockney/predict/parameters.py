"""The parameters of a system's communication, as logarithms: what a message costs by locality, term and size.

ln cost = base(locality, term, size) + algorithm(term, size) + load(size) · share of the node's cores in use
          + step(term), for the network, from a number of ranks on.

Logarithms keep every parameter positive. Curves over the size are straight between sizes that double (log–log).
All are pulled towards a start (point-to-point times where there are any) and towards smooth curves, so that few
measurements suffice and many decide by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from hockney._core import CostCurves
from hockney.predict.costs import BUFFERED, HELD, NOTHING, TERMS, Curve, protocols
from hockney.predict.place import LOCALITIES, NETWORK
from hockney.predict.scenario import Scenario

Array = NDArray[np.float64]

PARTS = ("send", "transfer", "receive")
"""Terms of a message that are fitted for each locality."""
ROW = len(LOCALITIES) * len(TERMS) + 2
"""Columns of a table of costs: terms of each locality, a copy, a reduction."""
_SENDER = _RECEIVER = 0.35
"""Shares of a point-to-point time at the start: the processors take most of it, about as in LogP fits."""

_SMOOTH = 0.4
"""How far, in ln, a curve usually bends where a size doubles."""
_SLOPE = 0.3
"""Share of a level's usual deviation by which a curve changes where the size doubles."""
_START = 0.5
_EMPTY = 0.1
"""An empty message costs what the smallest costs."""
_ALIKE = 0.15
"""The processor's part of sending is the same inside a node and into the network."""
_MEMORY_B_PER_S = 3e10
"""Start of the bandwidth of a NUMA domain's memory for messages, and of what one rank's readers in a node get."""
_HOP_S = 1e-7
"""Start of a switch's latency."""
_ALGORITHM, _LOAD, _STEP, _LINK = 0.1, 0.1, 0.5, 1.0


@dataclass(frozen=True)
class Start:
    """Start of a fit: seconds of a message by locality (index into LOCALITIES) and size, of its node's link by
    size, and of a byte that is reduced or copied."""

    message_s: Callable[[int, float], float]
    link_s: Callable[[float], float]
    work_s_per_B: float = 5e-11


@dataclass
class ParameterLayout:
    """Which parameters there are, and where: `knots` are sizes in bytes (0 first, then increasing), `labels` the
    schedules that are corrected, `step_from` the number of ranks at which the network's step begins,
    `rendezvous_above_B` by label, `held_above_B`: larger messages are the sender's until they are out.
    `has_port`: inside a node these leave one after another, beside what goes into the network."""

    knots: Array
    labels: tuple[str, ...]
    cores: int
    step_from: float = np.inf
    rendezvous_above_B: Mapping[str, float] = field(default_factory=dict)
    held_above_B: float = np.inf
    has_port: bool = False

    def __post_init__(self) -> None:
        k, a = len(self.knots), len(self.labels)
        blocks = {
            "base": (len(LOCALITIES), len(PARTS), k),
            "link": (k,),
            "memory": (k,),
            "port": (k,),
            "wire": (k,),
            "hop": (1,),
            "work": (2, k),
            "handshake": (len(LOCALITIES),),
            "insert": (2, k),
            "algorithm": (a, len(PARTS), k),
            "load": (2, k),
            "step": (len(PARTS) + 1,),
        }
        self.places: dict[str, NDArray[np.intp]] = {}
        first = 0
        for name, shape in blocks.items():
            count = int(np.prod(shape))
            self.places[name] = np.arange(first, first + count).reshape(shape)
            first += count
        self.count = first
        self._octave = np.log2(np.maximum(self.knots[1:], 1.0))
        self._load = self._load_map()
        self._unloaded = cache(self._map)
        self._at: tuple[Array, Callable[[str, bool], Array], Array] | None = None

    def __reduce__(self) -> tuple[type[ParameterLayout], tuple[object, ...]]:
        """It is kept as what it was made of."""
        return ParameterLayout, tuple(getattr(self, each.name) for each in fields(self))

    def is_rendezvous(self, label: str, size_B: float) -> bool:
        """Whether messages of that size wait for their receiver in this schedule."""
        return size_B > self.rendezvous_above_B.get(label, np.inf)

    def protocol(self, label: str, largest_B: int) -> tuple[float, bool, float]:
        """What holds for messages up to this size: limits that none of them exceeds change nothing."""
        limits_B = self.held_above_B, self.rendezvous_above_B.get(label, np.inf)
        held_B, above_B = (limit_B if largest_B > limit_B else np.inf for limit_B in limits_B)
        return held_B, self.has_port and held_B < np.inf, above_B

    def copied(self, label: str) -> int:
        """The last knot up to whose size the sender's processor copies the message."""
        limit_B = min(self.held_above_B, self.rendezvous_above_B.get(label, np.inf))
        return int(np.searchsorted(self.knots, limit_B, side="right")) - 1

    def without_handshake(self, sizes: Sequence[int]) -> Array:
        """What stands in place of a handshake that messages of these sizes do not have, shape (len(sizes),)."""
        return np.where(np.array(sizes) > self.held_above_B, HELD, BUFFERED)

    def _leaves_a_port(self, sizes: ArrayLike) -> NDArray[np.bool_]:
        return np.asarray(self.has_port & (np.asarray(sizes) > self.held_above_B))

    def shares(self, sizes: Sequence[int]) -> Array:
        """How much each knot counts for each size, shape (len(sizes), knots): the two between which it lies.

        Beyond the knots it is on the outermost line.
        """
        table = np.zeros((len(sizes), len(self.knots)))
        size_B, rows = np.array(sizes, dtype=np.float64), np.arange(len(sizes))
        x = np.log2(np.maximum(size_B, 0.5))
        after = np.clip(np.searchsorted(self._octave, x), 1, len(self._octave) - 1)
        share = (x - self._octave[after - 1]) / (self._octave[after] - self._octave[after - 1])
        table[rows, after], table[rows, after + 1] = 1.0 - share, share
        table[size_B <= 0] = np.eye(len(self.knots))[0]
        return table

    @staticmethod
    def has(shares_links: bool) -> NDArray[np.bool_]:
        """The terms that messages have, a handshake apart, shape (localities, terms)."""
        has = np.zeros((len(LOCALITIES), len(TERMS)), dtype=np.bool_)
        has[:, [TERMS.index(name) for name in (*PARTS, "insert")]] = True
        has[1:, TERMS.index("node_link")] = True
        has[NETWORK, [TERMS.index("network_link"), TERMS.index("hop")]] = shares_links
        return has

    def empty(self, scenario: Scenario, sizes: Sequence[int]) -> NDArray[np.bool_]:
        """Terms that these messages do not have, shape (len(sizes), ROW)."""
        absent = np.zeros((len(sizes), ROW), dtype=np.bool_)
        by_locality = absent[:, :-2].reshape(len(sizes), len(LOCALITIES), len(TERMS))
        by_locality[:] = ~self.has(scenario.place.shares_links)
        waits = np.array([self.is_rendezvous(scenario.label, size_B) for size_B in sizes], dtype=np.bool_)
        by_locality[waits, :, TERMS.index("handshake")] = False
        by_locality[self._leaves_a_port(sizes), :NETWORK, TERMS.index("gap")] = False
        return absent

    def case(self, scenario: Scenario) -> tuple[str, int, bool]:
        """What costs depend on beside the size: schedule, ranks on a node, whether the step counts."""
        stepped = scenario.ranks >= self.step_from and scenario.place.is_spread
        return scenario.label, scenario.place.ppn, stepped

    def at_knots(self, scenario: Scenario, theta: Array) -> Array:
        """ln costs of a schedule at that load, shape (knots · ROW,)."""
        label, ppn, stepped = self.case(scenario)
        at = self._at
        if at is None or at[0] is not theta:
            # Points have few schedules, and the same parameters one after another.
            at = self._at = theta, cache(lambda *of: self._unloaded(*of) @ theta), self._load @ theta
        return np.asarray(at[1](label, stepped) + at[2] * (ppn / self.cores))

    def ln_costs(
        self, cases: Sequence[tuple[str, int, bool, int]], case: NDArray[np.intp], column: NDArray[np.intp]
    ) -> sparse.csr_array:
        """ln costs are this · θ, shape (n, count): of each its column, and which of the cases with sizes."""
        shares = self.shares([size_B for *_, size_B in cases])[case]
        cost, knot = np.nonzero(shares)
        at_knots = sparse.csr_array(
            (shares[cost, knot], (cost, knot * ROW + column[cost])), shape=(len(case), self._load.shape[0])
        )
        load = np.array([ppn / self.cores for _, ppn, *_ in cases])
        kinds = [(label, stepped) for label, _, stepped, _ in cases]
        terms = sparse.diags_array(load[case]) @ at_knots @ self._load
        for kind in dict.fromkeys(kinds):
            of_kind = np.array([1.0 if other == kind else 0.0 for other in kinds])
            terms = terms + sparse.diags_array(of_kind[case]) @ at_knots @ self._unloaded(*kind)
        return sparse.csr_array(terms)

    def _map(self, schedule: str, stepped: bool) -> sparse.csr_array:
        label = self.labels.index(schedule) if schedule in self.labels else None
        entries: list[tuple[int, int]] = []
        copied = self.copied(schedule)
        for knot in range(len(self.knots)):
            for locality in range(len(LOCALITIES)):
                outside = locality == NETWORK
                row = {name: knot * ROW + locality * len(TERMS) + position for position, name in enumerate(TERMS)}
                for part, name in enumerate(PARTS):
                    of = min(knot, copied) if name == "send" else knot
                    entries.append((row[name], self.places["base"][locality, part, of]))
                    if label is not None and of > 0:
                        entries.append((row[name], self.places["algorithm"][label, part, of]))
                    if outside and stepped:
                        entries.append((row[name], self.places["step"][part]))
                entries.append((row["insert"], self.places["insert"][int(outside), knot]))
                entries.append((row["handshake"], self.places["handshake"][locality]))
                if 0 < locality < NETWORK:
                    entries.append((row["node_link"], self.places["memory"][knot]))
                if not outside:
                    entries.append((row["gap"], self.places["port"][knot]))
                if outside:
                    entries.append((row["node_link"], self.places["link"][knot]))
                    entries.append((row["network_link"], self.places["wire"][knot]))
                    entries.append((row["hop"], self.places["hop"][0]))
                    if stepped:
                        entries.append((row["node_link"], self.places["step"][len(PARTS)]))
            entries += [((knot + 1) * ROW - 2 + kind, self.places["work"][kind, knot]) for kind in range(2)]
        return self._matrix(entries)

    def _load_map(self) -> sparse.csr_array:
        return self._matrix(
            [
                (
                    knot * ROW + locality * len(TERMS) + TERMS.index(name),
                    self.places["load"][int(locality == NETWORK), knot],
                )
                for knot in range(len(self.knots))
                for locality in range(len(LOCALITIES))
                for name in PARTS
            ]
        )

    def _matrix(self, entries: Sequence[tuple[int, int]]) -> sparse.csr_array:
        rows, columns = np.array(entries).T
        shape = (len(self.knots) * ROW, self.count)
        return sparse.csr_array((np.ones(len(entries)), (rows, columns)), shape=shape)

    def start(self, start: Start) -> Array:
        """Parameters to begin with, shape (count,)."""
        theta = np.zeros(self.count)
        copied_B = float(self.knots[self.copied("")])
        for knot, size_B in enumerate(self.knots):
            for locality in range(len(LOCALITIES)):
                time_s = start.message_s(locality, float(size_B))
                send_s = _SENDER * start.message_s(locality, min(float(size_B), copied_B))
                receive_s = _RECEIVER * time_s
                of_parts = [send_s, max(time_s - send_s - receive_s, 0.1 * time_s), receive_s]
                theta[self.places["base"][locality, :, knot]] = np.log(of_parts)
            theta[self.places["link"][knot]] = np.log(start.link_s(float(size_B)))
            for name in ("memory", "port"):
                theta[self.places[name][knot]] = np.log(1e-12 + float(size_B) / _MEMORY_B_PER_S)
            theta[self.places["wire"][knot]] = np.log(start.link_s(float(size_B)))
            # A copy or a reduction of nothing is not free: it is a call.
            theta[self.places["work"][:, knot]] = np.log(2e-8 + start.work_s_per_B * float(size_B))
            theta[self.places["insert"][0, knot]] = np.log(2e-8)
            theta[self.places["insert"][1, knot]] = np.log(2e-9)
        for locality in range(len(LOCALITIES)):
            theta[self.places["handshake"][locality]] = np.log(start.message_s(locality, 0.0))
        theta[self.places["hop"]] = np.log(_HOP_S)
        return theta

    def prior(self, begin: Array) -> tuple[sparse.csr_array, Array]:
        """A and b of the penalty |Aθ − b|², rows in units of their usual deviation."""
        rows: list[tuple[Sequence[int], Sequence[float], float]] = []

        def pull(indices: Sequence[int], factors: Sequence[float], deviation: float) -> None:
            target = sum(f * begin[i] for i, f in zip(indices, factors, strict=True))
            rows.append((indices, np.divide(factors, deviation).tolist(), target / deviation))

        def curve(of: NDArray[np.intp], deviation: float) -> None:
            # Its level is pulled once, however many knots it has; its slope and bends apart from that.
            pull(of.tolist(), [1 / len(of)] * len(of), deviation)
            for index, following in pairwise(of):
                pull([index, following], [-1.0, 1.0], _SLOPE * deviation)
            for knot in range(2, len(of) - 1):
                pull([of[knot - 1], of[knot], of[knot + 1]], [1.0, -2.0, 1.0], _SMOOTH)

        for of_locality in self.places["base"]:
            for of_part in of_locality:
                curve(of_part, _START)
                pull([of_part[0], of_part[1]], [-1.0, 1.0], _EMPTY)
        for inside, outside in zip(
            self.places["base"][NETWORK - 1, 0], self.places["base"][NETWORK, 0], strict=True
        ):
            rows.append(([inside, outside], [-1 / _ALIKE, 1 / _ALIKE], 0.0))
        for of in (
            self.places["link"],
            self.places["memory"],
            self.places["port"],
            self.places["wire"],
            *self.places["insert"],
            *self.places["work"],
        ):
            curve(of, _LINK)
        for of_label in self.places["algorithm"]:
            for of_part in of_label:
                curve(of_part, _ALGORITHM)
        for of in self.places["load"]:
            curve(of, _LOAD)
        for index in self.places["step"]:
            pull([index], [1.0], _STEP)
        for index in (*self.places["handshake"], *self.places["hop"]):
            pull([index], [1.0], _START)
        of_row = np.repeat(np.arange(len(rows)), [len(indices) for indices, *_ in rows])
        columns = np.concatenate([indices for indices, *_ in rows])
        values = np.concatenate([factors for _, factors, _ in rows])
        # What a row says twice of one parameter is added up.
        matrix = sparse.coo_array((values, (of_row, columns)), shape=(len(rows), self.count))
        return matrix.tocsr(), np.array([target for *_, target in rows])

    def curves(self, theta: Array, label: str, shares_links: bool = False) -> CostCurves:
        """Costs at the knots for an unloaded node, to find the order in which messages pass shared links."""
        knots = self.knots.tolist()
        at_knots = np.exp(self._unloaded(label, False) @ theta).reshape(-1, ROW)
        columns: list[Curve] = [(knots, column.tolist()) for column in at_knots.T]
        handshake, gap = TERMS.index("handshake"), TERMS.index("gap")
        message = []
        for locality, has in enumerate(self.has(shares_links)):
            own = columns[locality * len(TERMS) : (locality + 1) * len(TERMS)]
            terms = [curve if is_own else NOTHING for curve, is_own in zip(own, has, strict=True)]
            if locality < NETWORK and self.has_port:
                terms[gap] = knots, np.where(self._leaves_a_port(knots), own[gap][1], 0.0).tolist()
            terms[handshake] = protocols(
                held_above_B=self.held_above_B,
                rendezvous_above_B=self.rendezvous_above_B.get(label, np.inf),
                handshake_s=own[handshake][1][0],
            )
            message.append(terms)
        return CostCurves(message, columns[-2], columns[-1])
