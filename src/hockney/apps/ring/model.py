"""How long a ring's messages take to come back, from the messages between neighbours.

In each of P hops every process sends a message to either neighbour and waits for one from either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from hockney.apps.ring.app import BOTH_AT_ONCE, EXCHANGES, OURS, TWO_LINKS
from hockney.errors import RequestError
from hockney.machine.file import Machine
from hockney.machine.placement import Placement
from hockney.machine.select import matching, select_entry
from hockney.machine.system import System
from hockney.predict.machine_costs import WITHOUT_NETWORK, ranks_of_one_node
from hockney.predict.machine_costs import of_machine as costs_of_machine
from hockney.predict.message import predict_message
from hockney.predict.message_costs import OVERHEAD_SHARE
from hockney.predict.network_figures import NetworkFigures
from hockney.predict.place import LOCALITIES as OF_COSTS
from hockney.records.record import LOCALITIES, Locality, nearest

MESSAGE_B = 4
"""One C int."""
WITHIN, ACROSS = "within", "across"
"""Neighbours in one domain, and in two, where nothing but the size of a domain is known."""

NETWORK: Locality = "network"

Where = TypeVar("Where", bound=str)
"""A word for how far neighbours are apart: a locality, or WITHIN and ACROSS."""


@dataclass(frozen=True)
class Link:
    """A message of 4 B between two neighbours: PingPing's time with its 95 % interval, and of that `overhead_s`,
    what sending and receiving keep a processor busy."""

    time_s: float
    low_s: float | None
    high_s: float | None
    overhead_s: float


@dataclass(frozen=True)
class RingPrediction:
    """`time_s` of a cycle with its 95 % interval, and how far apart the slowest neighbours are."""

    ranks: int
    time_s: float
    low_s: float | None
    high_s: float | None
    slowest: str


@dataclass(frozen=True)
class RingModel:
    """`formula` for people. `hop`: (the links around the ring, exchange) → what a hop takes, shape of a Link."""

    formula: Callable[[str], str]
    hop: Callable[[Sequence[Link], str], Link]


def _slowest_link(links: Sequence[Link], exchange: str) -> Link:
    # Whoever sits at the slowest link waits for it in every hop, and so, hop by hop, does everybody. In turns
    # (sendrecv), the neighbour's message cannot leave before mine has come: the link is waited for twice.
    slowest = max(links, key=lambda link: link.time_s)
    if exchange not in BOTH_AT_ONCE:
        return _scaled(slowest, 2.0)
    overhead_s = min(slowest.overhead_s, slowest.time_s)
    return _scaled(slowest, 1 + overhead_s / slowest.time_s if slowest.time_s > 0 else 1.0)


def _two_links(links: Sequence[Link], exchange: str) -> Link:
    # The slowest process waits for one message over each of its two links, whatever the others do.
    del exchange
    pairs = [(links[index - 1], links[index]) for index in range(len(links))]
    left, right = max(pairs, key=lambda pair: pair[0].time_s + pair[1].time_s)
    ends = ((left.low_s, right.low_s), (left.high_s, right.high_s))
    low_s, high_s = (None if a is None or b is None else a + b for a, b in ends)
    return Link(left.time_s + right.time_s, low_s, high_s, left.overhead_s + right.overhead_s)


def _formula(exchange: str) -> str:
    if exchange in BOTH_AT_ONCE:
        return "t(P) = P (λ + n/b + o), λ and b of the slowest pair of neighbours, o of sending and receiving"
    return "t(P) = 2P (λ + n/b), λ and b of the slowest pair of neighbours"


MODELS: dict[str, RingModel] = {
    OURS: RingModel(_formula, _slowest_link),
    TWO_LINKS: RingModel(
        lambda _: "t(P) = P (λ + n/b of the left link + λ + n/b of the right link), of the process with the most",
        _two_links,
    ),
}


def predict_ring(
    localities: Sequence[Where], link_of: Callable[[Where], Link], exchange: str, model: str = OURS
) -> RingPrediction | None:
    """A ring of as many processes as `localities`, of each rank and its right neighbour.

    None for one process: its messages go to itself. RequestError for an unknown exchange.
    """
    if exchange not in EXCHANGES:
        raise RequestError(f"unknown exchange {exchange!r}", f"known: {', '.join(EXCHANGES)}")
    ranks = len(localities)
    if ranks < 2:
        return None
    by_locality = {locality: link_of(locality) for locality in dict.fromkeys(localities)}
    hop = _scaled(MODELS[model].hop([by_locality[locality] for locality in localities], exchange), float(ranks))
    slowest = max(by_locality, key=lambda locality: by_locality[locality].time_s)
    return RingPrediction(ranks, hop.time_s, hop.low_s, hop.high_s, slowest)


def around(placement: Placement, order: Sequence[int] | None = None) -> list[Locality]:
    """Locality of each process and its right neighbour, empty for one process.

    `order` lists the ranks around the ring where that is not 0, 1, …
    """
    ring = list(range(placement.ranks)) if order is None else list(order)
    if len(ring) < 2:
        return []
    return [placement.locality(a, b) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]


def around_domains(ranks: int, domain: int | None) -> list[str]:
    """As `around`, of domains of so many consecutive ranks; None: all in one. RequestError for a size below 1."""
    if domain is not None and domain < 1:
        raise RequestError(f"a domain of {domain} ranks holds nothing", "for example the 12 cores of a socket")
    if ranks < 2:
        return []
    of_rank = [0 if domain is None else rank // domain for rank in range(ranks)]
    pairs = zip(of_rank, [*of_rank[1:], of_rank[0]], strict=True)
    return [WITHIN if a == b else ACROSS for a, b in pairs]


class MachineLinks:
    """Links from a machine file: PingPing where measured, else PingPong. `notes`: what stood in for what."""

    def __init__(
        self,
        machine: Machine,
        where: Mapping[str, str] | None = None,
        network: NetworkFigures | None = None,
        system: System | None = None,
    ) -> None:
        """`network`: of messages between nodes, completed by what is published for the system.

        RequestError where the file has no message of a known locality.
        """
        self.notes: list[str] = []
        """What stood in for what, each once."""
        self._machine, self._where = machine, dict(where or {})
        self._known = {
            operation: {
                entry.locality
                for entry in matching(machine, self._where)
                if entry.operation == operation and "piecewise" in entry.fits and entry.locality in LOCALITIES
            }
            for operation in ("pingping", "pingpong")
        }
        if not any(self._known.values()):
            raise RequestError(
                "the machine file has neither PingPing nor PingPong of a known locality",
                "measure them: `hockney measure --operation pingpong,pingping`, then `hockney fit`",
            )
        figures = network or NetworkFigures()
        self._network = figures if self.has_network else figures.completed(system)
        self._one_node = ranks_of_one_node(machine)
        self._costs = costs_of_machine(machine, "machine") if self._known["pingpong"] else None
        self._links: dict[Locality, Link] = {}

    @property
    def has_network(self) -> bool:
        """Whether messages between nodes were measured."""
        return any(NETWORK in known for known in self._known.values())

    def around(self, ranks: int) -> Locality:
        """Of all neighbours where no place says it: the farthest that was measured.

        `network` where it was not, and so many ranks are more than one node is known to hold.
        """
        beyond: set[Locality] = {NETWORK} if ranks > self._one_node else set()
        *nearer, farthest = sorted(beyond.union(*self._known.values()), key=LOCALITIES.index)
        if nearer:
            self._note(f"nothing says where neighbours are: {farthest} is taken, not {' or '.join(nearer)}")
        return farthest

    def pingpong(self, locality: Locality) -> Link | None:
        """A ping-pong of exactly that locality; None where it was not measured."""
        with suppress(RequestError):
            return self._measured("pingpong", locality)
        return None

    def __call__(self, locality: Locality) -> Link:
        """Of that locality; on a node else of the nearest measured one farther out, else farther in.

        RequestError for `network` where it was neither measured nor given.
        """
        if locality not in self._links:
            self._links[locality] = self._made(locality)
        return self._links[locality]

    def _made(self, locality: Locality) -> Link:
        if locality == NETWORK and (self._network.are_given or not self.has_network):
            return self._given()
        pingpings, pingpongs = self._known["pingping"], self._known["pingpong"]
        operation = "pingpong" if not pingpings or locality in pingpongs - pingpings else "pingping"
        if operation == "pingpong":
            self._note(f"{locality}: PingPing was not measured, PingPong is taken")
        taken = nearest(locality, filter(self._known[operation].__contains__, LOCALITIES))
        if taken != locality:
            self._note(f"{locality}: not measured, {operation} of {taken} is taken")
        return self._measured(operation, taken)

    def _measured(self, operation: str, locality: Locality) -> Link:
        entry = select_entry(self._machine, {**self._where, "operation": operation, "locality": locality})
        message = predict_message(entry, MESSAGE_B, "piecewise")
        return Link(message.time_s, message.low_s, message.high_s, self._overhead_s(locality, message.time_s))

    def _given(self) -> Link:
        if self._network.latency_s is None:
            raise RequestError("messages between nodes were not measured", WITHOUT_NETWORK)
        self._note(self._network.words)
        return link(self._network.latency_s, self._network.bandwidth_B_per_s)

    def _overhead_s(self, locality: Locality, time_s: float) -> float:
        if self._costs is None or locality not in OF_COSTS:
            return 2 * OVERHEAD_SHARE * time_s
        messages = self._costs.messages[self._costs.nearest(OF_COSTS.index(locality))]
        return messages.send_s + messages.receive_s

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def link(latency_s: float, bandwidth_B_per_s: float | None) -> Link:
    """λ + n/b, n = 4 B; without a bandwidth the second term, of the order of 1e-10 s, is left out."""
    time_s = latency_s + (MESSAGE_B / bandwidth_B_per_s if bandwidth_B_per_s else 0.0)
    return Link(time_s, None, None, 2 * OVERHEAD_SHARE * latency_s)


def _scaled(link: Link, factor: float) -> Link:
    low_s, high_s = (None if bound is None else factor * bound for bound in (link.low_s, link.high_s))
    return Link(factor * link.time_s, low_s, high_s, factor * link.overhead_s)
