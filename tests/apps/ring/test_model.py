"""The ring's models against what follows by hand, two-links on two sockets of 12 cores too."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import VERSION_1 as MACHINE
from tests.factories import not_none

from hockney.apps.ring.app import OURS, TWO_LINKS
from hockney.apps.ring.model import (
    ACROSS,
    WITHIN,
    Link,
    MachineLinks,
    RingPrediction,
    around,
    around_domains,
    link,
    predict_ring,
)
from hockney.errors import RequestError
from hockney.machine.file import Machine, load
from hockney.machine.placement import Placement, placement
from hockney.machine.system import find_system
from hockney.predict.network_figures import NetworkFigures
from hockney.records.record import Locality

CORES = 12
"""Cores of a socket."""
CORE_S, SOCKET_S = 0.34e-6 + 4 / 6372.991e6, 0.57e-6 + 4 / 5530.801e6
"""λ + 4 B/b, measured on a node with two sockets (two unpublished reports: bandwidths, latencies)."""
LINKS = {WITHIN: link(0.34e-6, 6372.991e6), ACROSS: link(0.57e-6, 5530.801e6)}


def of_socket(ranks: int, model: str, exchange: str = "nonblocking") -> RingPrediction:
    made = not_none(predict_ring(around_domains(ranks, CORES), LINKS.__getitem__, exchange, model))
    assert made.ranks == ranks
    return made


BOTH_S = CORE_S + SOCKET_S


@pytest.mark.parametrize(
    ("ranks", "hop_s", "slowest"),
    # Of 13, both neighbours of the last are in the other socket.
    [(2, 2 * CORE_S, WITHIN), (12, 2 * CORE_S, WITHIN), (13, 2 * SOCKET_S, ACROSS), (24, BOTH_S, ACROSS)],
)
def test_two_links_of_the_process_with_the_most_whatever_the_exchange(
    ranks: int, hop_s: float, slowest: str
) -> None:
    made = of_socket(ranks, TWO_LINKS)
    assert made.slowest == slowest
    assert made.time_s == pytest.approx(ranks * hop_s, rel=1e-12)
    assert of_socket(ranks, TWO_LINKS, "sendrecv") == of_socket(ranks, TWO_LINKS, "persistent") == made


@pytest.mark.parametrize(("ranks", "one_s"), [(2, CORE_S), (12, CORE_S), (13, SOCKET_S), (24, SOCKET_S)])
def test_in_turns_the_slowest_link_is_waited_for_twice(ranks: int, one_s: float) -> None:
    assert of_socket(ranks, OURS, "sendrecv").time_s == pytest.approx(2 * ranks * one_s, rel=1e-12)


@pytest.mark.parametrize("exchange", ["nonblocking", "persistent"])
def test_both_ways_at_once_waits_once_and_serves_the_other(exchange: str) -> None:
    links = {WITHIN: Link(1e-6, 0.9e-6, 1.2e-6, 0.4e-6), ACROSS: Link(3e-6, 2.7e-6, 3.3e-6, 1.5e-6)}
    made = not_none(predict_ring(around_domains(4, 2), links.__getitem__, exchange))
    # P (λ + n/b + o), with bounds in proportion.
    assert (made.time_s, made.low_s, made.high_s) == pytest.approx((18e-6, 16.2e-6, 19.8e-6))


def test_an_overhead_is_never_more_than_the_message() -> None:
    made = not_none(predict_ring(around_domains(3, None), lambda _: Link(1e-6, None, None, 5e-6), "nonblocking"))
    # Then it is as in turns.
    assert made.time_s == pytest.approx(6e-6)
    assert (made.low_s, made.high_s) == (None, None)


def test_a_process_alone_has_no_neighbours() -> None:
    assert predict_ring(around_domains(1, None), LINKS.__getitem__, "sendrecv") is None


@pytest.mark.parametrize(
    ("ranks", "domain", "expected"),
    [
        (1, None, []),
        (2, None, [WITHIN] * 2),
        (3, 1, [ACROSS] * 3),
        (3, 2, [WITHIN, ACROSS, ACROSS]),
        (4, 2, [WITHIN, ACROSS] * 2),
        (4, 9, [WITHIN] * 4),
    ],
)
def test_neighbours_of_domains(ranks: int, domain: int | None, expected: list[str]) -> None:
    assert around_domains(ranks, domain) == expected


def ids(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(values, dtype=np.int32)


def test_neighbours_of_a_placement_in_any_order() -> None:
    cores = ids(0, 1, 2, 3)
    place = Placement(core=cores, cache=cores, numa=cores, package=ids(0, 0, 1, 1), node=ids(0, 0, 0, 0))
    assert around(place) == ["package", "node", "package", "node"]
    assert around(place, [0, 2, 1, 3]) == ["node"] * 4
    alone = ids(0)
    assert around(Placement(core=alone, cache=alone, numa=alone, package=alone, node=alone)) == []


def test_a_ring_over_two_nodes_crosses_the_network_twice() -> None:
    # ORFEO's EPYC nodes have 128 cores.
    localities = around(placement(find_system("orfeo-epyc"), "core", 130))
    assert [rank for rank, one in enumerate(localities) if one == "network"] == [127, 129]


def test_without_a_bandwidth_a_message_is_its_latency() -> None:
    assert link(1e-6, None).time_s == 1e-6
    assert link(1e-6, 4e6).time_s == pytest.approx(2e-6)


def test_links_of_a_machine_without_pingping() -> None:
    links = MachineLinks(load(MACHINE))
    # The file's 0.2 µs and 10 GB/s of ping-pong.
    assert links("package").time_s == pytest.approx(0.2e-6 + 4 / 10e9)
    assert links.notes == ["package: PingPing was not measured, PingPong is taken"]
    alone = MachineLinks(load(MACHINE), {"locality": "package"})
    assert (links.around(2), alone.around(2), alone.notes) == ("network", "package", [])
    assert not_none(links.pingpong("package")).time_s == links("package").time_s
    assert links.pingpong("node") is None


def with_pingping(locality: str) -> Machine:
    machine = load(MACHINE)
    network = next(
        one for one in machine.point_to_point if one.locality == "network" and one.variant == "default"
    )
    entry = network.model_copy(update={"operation": "pingping", "locality": locality})
    return machine.model_copy(update={"point_to_point": [*machine.point_to_point, entry]})


def test_pingping_is_preferred_where_it_was_measured() -> None:
    links = MachineLinks(with_pingping("package"))
    # 1.5 µs are the network's ping-pong, which stands in for the package's PingPing.
    assert links("package").time_s == pytest.approx(1.5e-6 + 4 / 10e9)
    assert links.notes == []
    assert links("network").time_s == pytest.approx(1.5e-6 + 4 / 10e9)
    assert links.notes == ["network: PingPing was not measured, PingPong is taken"]


@pytest.mark.parametrize(("asked", "taken"), [("core", "package"), ("node", "network")])
def test_the_next_locality_farther_out_stands_in(asked: Locality, taken: Locality) -> None:
    links = MachineLinks(load(MACHINE))
    assert links(asked).time_s == links(taken).time_s
    assert f"{asked}: not measured, pingpong of {taken} is taken" in links.notes


def without_network() -> Machine:
    machine = load(MACHINE)
    near = [one for one in machine.point_to_point if one.locality == "package"]
    return machine.model_copy(update={"point_to_point": near})


def test_nothing_farther_out_takes_the_nearest_farther_in_on_a_node() -> None:
    links = MachineLinks(without_network())
    assert links("node").time_s == links("package").time_s
    assert "node: not measured, pingpong of package is taken" in links.notes


def test_a_network_that_was_not_measured_is_asked_for() -> None:
    with pytest.raises(RequestError, match="between nodes were not measured"):
        MachineLinks(without_network())("network")
    given = MachineLinks(without_network(), network=NetworkFigures(2e-6, 4e6))
    # 2 µs, and 4 B at 4 MB/s.
    assert given("network").time_s == pytest.approx(3e-6)
    assert given("network").low_s is None
    assert "2 µs (the command line)" in given.notes[0].replace("\N{NO-BREAK SPACE}", " ")


def test_ranks_beyond_a_node_are_not_all_neighbours_on_it() -> None:
    # The file's node has two CPUs.
    links = MachineLinks(without_network())
    assert [links.around(ranks) for ranks in (2, 3)] == ["package", "network"]


def test_what_cannot_be_predicted_is_refused() -> None:
    with pytest.raises(RequestError, match="unknown exchange 'smoke'"):
        predict_ring([WITHIN], LINKS.__getitem__, "smoke")
    with pytest.raises(RequestError, match="domain of 0 ranks"):
        around_domains(4, 0)
    with pytest.raises(RequestError, match="neither PingPing nor PingPong"):
        MachineLinks(load(MACHINE).model_copy(update={"point_to_point": []}))
