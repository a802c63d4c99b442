"""A network that was not measured: its latency and bandwidth are given, or published for the system."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import Machine, load
from hockney.machine.select import parse_where
from hockney.machine.shipped import MACHINE
from hockney.machine.system import System, find_system
from hockney.predict.machine_costs import MachineCosts, of_machine, of_system
from hockney.predict.message_costs import ASSUMED, COMMAND_LINE, OVERHEAD_SHARE, SIZES_B, Messages
from hockney.predict.options import MachineFile, MessageCosts, NetworkOptions, Placing
from hockney.predict.place import NETWORK
from hockney.units import format_rate, format_time

_NOTHING = Messages(np.zeros_like(SIZES_B), 0.0, 0.0, np.zeros_like(SIZES_B))

UNSHARED_LINKS = (
    "messages share no link of the network in these times; where many cross at once they take longer "
    "(`hockney simulate --topology` has the links)"
)


@dataclass(frozen=True)
class NetworkFigures:
    """One way between two nodes: an empty message, and the rate of a long one; None where it is not given.

    The sources say in words where each of them comes from.
    """

    latency_s: float | None = None
    bandwidth_B_per_s: float | None = None
    latency_source: str = COMMAND_LINE
    bandwidth_source: str = COMMAND_LINE

    @property
    def are_given(self) -> bool:
        """Whether there is either."""
        return self.latency_s is not None or self.bandwidth_B_per_s is not None

    @property
    def words(self) -> str:
        """The assumption, as the text of a warning."""
        known = []
        if self.latency_s is not None:
            known.append(f"{format_time(self.latency_s)} ({self.latency_source})")
        if self.bandwidth_B_per_s is not None:
            known.append(f"{format_rate(self.bandwidth_B_per_s)} ({self.bandwidth_source})")
        return f"messages between nodes are assumed, not measured: {' and '.join(known)}"

    def completed(self, system: System | None) -> NetworkFigures:
        """The figures, with those published for the system where none are given."""
        if system is None:
            return self
        source = f"published for {system.name}, a bound"
        figures = self
        if self.latency_s is None:
            figures = replace(figures, latency_s=system.network.latency_s, latency_source=source)
        if self.bandwidth_B_per_s is None:
            rate_B_per_s = system.network.bandwidth_B_per_s
            figures = replace(figures, bandwidth_B_per_s=rate_B_per_s, bandwidth_source=source)
        return figures

    def of(self, system: System) -> System:
        """The system with these figures in place of its published ones."""
        known = {"latency_s": self.latency_s, "bandwidth_B_per_s": self.bandwidth_B_per_s}
        stated = {name: value for name, value in known.items() if value is not None}
        return system.model_copy(update={"network": system.network.model_copy(update=stated)})


def with_network(costs: MachineCosts, given: NetworkFigures, system: System | None) -> MachineCosts:
    """Costs whose messages between nodes take what is given.

    Where they were not measured, what is published for the system completes it. Unless both figures are known
    then, such messages stay unknown (`MachineCosts.check_network`).
    """
    measured = costs.messages.get(NETWORK)
    if measured is not None:
        if not given.are_given:
            return costs
        # Ranks without a place take what was measured between nodes, however few they are: so here.
        messages = _messages(given, measured)
        return replace(costs, messages={**costs.messages, NETWORK: messages}, network=given.words, one_node=None)
    figures = given.completed(system)
    if figures.latency_s is None or figures.bandwidth_B_per_s is None:
        return replace(costs, lacking=_lacking(figures, system))
    messages = _messages(figures, _NOTHING)
    return replace(costs, messages={**costs.messages, NETWORK: messages}, network=figures.words)


def _messages(figures: NetworkFigures, known: Messages) -> Messages:
    """`known` with the figures in place of its own; its eager limit stays."""
    latency_s, rate_B_per_s = figures.latency_s, figures.bandwidth_B_per_s
    send_s, receive_s, origins = known.send_s, known.receive_s, dict(known.origins)
    further_s, between_s = known.one_way_s - known.one_way_s[0], known.between_s
    if latency_s is None:
        latency_s = float(known.one_way_s[0])
    else:
        send_s = receive_s = OVERHEAD_SHARE * latency_s
        origins |= {"latency_s": figures.latency_source, "overhead_s": ASSUMED, "receive_overhead_s": ASSUMED}
    if rate_B_per_s is not None:
        further_s = SIZES_B / rate_B_per_s
        between_s = send_s + further_s
        origins |= {"gap_s_per_B": figures.bandwidth_source, "gap_s": ASSUMED}
    one_way_s = latency_s + further_s
    return Messages(one_way_s, send_s, receive_s, between_s, known.rendezvous_above_B, origins=origins)


def _lacking(figures: NetworkFigures, system: System | None) -> str:
    """What is missing where one of the two figures is known, as the beginning of a hint."""
    if not figures.are_given:
        return ""
    name = "latency" if figures.latency_s is None else "bandwidth"
    where = "" if system is None else f", and none is published for {system.name}"
    return f"the network's {name} is missing{where}: "


def figures_of(options: NetworkOptions) -> NetworkFigures:
    """What the option of a network says."""
    return NetworkFigures(*options.network)


def machine_of(options: MachineFile) -> Machine:
    """The machine that the options hold, else that of their file; RequestError without a file."""
    return load(options.machine) if options._held is None else options._held


def has_machine(options: MachineFile) -> bool:
    """Whether a machine is held, a file was named, or the usual one exists."""
    return options._held is not None or options.machine != MACHINE or MACHINE.exists()


def refuse_places(options: Placing) -> None:
    """RequestError where something is said that means nothing without a system."""
    if options.mapping or options.ppn is not None:
        raise RequestError("--mapping and --ppn need --system", "say which system the ranks are on")


def costs_of(options: MessageCosts, *, both_ways: bool = False) -> tuple[MachineCosts, System | None]:
    """Costs of the machine file, else of the system alone; the system with the network's options.

    `both_ways` as of `of_machine`. RequestError where there is neither, and for a mapping without a system.
    """
    system = find_system(options.system) if options.system else None
    if system is None and not options.topology:
        refuse_places(options)
    if has_machine(options) or system is None:
        where = parse_where(options.where)
        costs = of_machine(machine_of(options), str(options.machine), both_ways=both_ways, where=where)
    else:
        costs = of_system(system)
    figures = figures_of(options)
    costs = with_network(costs, figures, system)
    return costs, None if system is None else figures.of(system)
