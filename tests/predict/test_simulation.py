"""What a simulation tells besides times: the terms of the critical path, the trace, and when it would not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.command_line import refusal
from tests.factories import on_nodes

from hockney._core import Algorithm, TooLarge
from hockney.errors import EnvironmentLack, RequestError
from hockney.predict import simulation
from hockney.predict.costs import LoggopsParameters
from hockney.predict.place import Place
from hockney.predict.simulation import simulate, trace
from hockney.schedule.catalogue import algorithms, ask

P = LoggopsParameters(
    5.0,
    1.0,
    3.0,
    0.01,
    receive_overhead_s=0.5,
    overhead_s_per_B=0.001,
    reduce_s_per_B=0.1,
    copy_s_per_B=0.003,
    rendezvous_above_B=100,
)
EAGER = replace(P, rendezvous_above_B=None)


@pytest.mark.parametrize("one", algorithms(), ids=lambda one: f"{one.collective}-{one.name}")
@pytest.mark.parametrize("place", [None, on_nodes(16, 4, torus=(4,))], ids=["alone", "shared"])
def test_the_terms_add_up(one: Algorithm, place: Place | None) -> None:
    costs = P if place is None else replace(P, node_s_per_B=0.02, link_s_per_B=0.03)
    outcome = simulate(
        ask(one.collective, one.name, ranks=16, size_B=512), costs, place=place, critical_path=True
    )
    assert outcome.critical_path is not None
    assert outcome.critical_path is not None
    terms_s = outcome.critical_path.terms_s
    assert terms_s["noise"] == 0.0
    assert sum(terms_s.values()) == pytest.approx(outcome.finish_s.max(), rel=1e-9)
    assert min(terms_s.values()) >= 0


def test_the_terms_of_one_message_by_hand() -> None:
    outcome = simulate(ask("reduce", "linear", ranks=2, size_B=200), P, critical_path=True)
    path = outcome.critical_path
    assert path is not None
    assert (path.latencies, path.send_overheads, path.receive_overheads) == (1, 1, 1)
    assert (path.handshakes, path.gaps, path.bytes, path.reduced_bytes) == (2, 0, 200, 200)
    terms_s = path.terms_s
    assert terms_s["latency"] == pytest.approx(5.0)
    assert terms_s["handshake"] == pytest.approx(10.0)
    assert terms_s["overhead_bytes"] == pytest.approx(2 * 200 * 0.001)
    assert terms_s["bytes"] == pytest.approx(199 * 0.01)
    assert terms_s["reduction"] == pytest.approx(20.0)


def test_gaps_on_the_path_are_counted() -> None:
    eager = replace(P, rendezvous_above_B=None, overhead_s_per_B=0.0)
    path = simulate(ask("bcast", "linear", ranks=9, size_B=8), eager, critical_path=True).critical_path
    assert path is not None
    assert path.gaps == 7
    assert path.terms_s["gap"] == pytest.approx(21.0)


def test_a_rank_alone_has_no_path() -> None:
    path = simulate(ask("bcast", "linear", ranks=1, size_B=8), P, critical_path=True).critical_path
    assert path is not None
    assert not any(path.terms_s.values())


def test_the_trace_of_one_message() -> None:
    eager = replace(P, rendezvous_above_B=None, overhead_s_per_B=0.0)
    send, receive = trace(ask("bcast", "linear", ranks=2, size_B=101), eager)
    assert (send["rank"], send["kind"], send["peer"], send["bytes"]) == (0, "send", 1, 101)
    assert (send["start_s"], send["end_s"], send["arrival_s"]) == (0.0, 1.0, "")
    assert receive["arrival_s"] == receive["start_s"] == pytest.approx(7.0)
    assert receive["end_s"] == pytest.approx(7.5)


def test_a_trace_nobody_would_read() -> None:
    with pytest.raises(RequestError, match="too many for a trace"):
        list(trace(ask("alltoall", "linear", ranks=4096, size_B=8), P))


@pytest.mark.parametrize(
    ("collective", "algorithm", "ranks", "fits"),
    [
        ("bcast", "binomial", 1_000_000, True),
        ("bcast", "binomial", 2_000_000, False),
        ("alltoall", "linear", 1_000, True),
        ("alltoall", "linear", 2_000, False),
    ],
)
def test_memory_is_asked_for_before_it_is_used(
    monkeypatch: pytest.MonkeyPatch, collective: str, algorithm: str, ranks: int, fits: bool
) -> None:
    # 64 B for each rank of a tree; 40 B for each of P (P − 1) messages.
    monkeypatch.setattr(simulation, "available_B", lambda: 10**8)
    asked = ask(collective, algorithm, ranks=ranks, size_B=8)
    if fits:
        assert simulate(asked, EAGER, by_class=False).messages > 0
        return
    with pytest.raises(EnvironmentLack, match="GB are available"):
        simulate(asked, EAGER, by_class=False)


def test_no_more_memory_is_used_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    # Messages that may wait for their receiver take more than was reckoned with: about 300 B for each rank.
    monkeypatch.setattr(simulation, "available_B", lambda: 10**8)
    with pytest.raises(EnvironmentLack, match="the memory is full"):
        simulate(ask("bcast", "binomial", ranks=1_000_000, size_B=8), P, by_class=False)


def test_a_limit_of_the_engine_says_what_to_leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise TooLarge("messages have more than 7 different sizes\nround sizes to fewer")

    monkeypatch.setattr("hockney._core.simulate", refuse)
    with pytest.raises(RequestError, match="than 7 different sizes") as refused:
        simulate(ask("bcast", "binomial", ranks=8), P)
    assert refused.value.hint == "round sizes to fewer"


def test_one_rank_for_all_needs_no_memory_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "available_B", lambda: 10**8)
    outcome = simulate(ask("alltoall", "pairwise", ranks=20_000, size_B=8), P)
    assert outcome.messages == 20_000 * 19_999
    assert outcome.method == "by_class"


def test_a_network_must_have_room() -> None:
    words = ("simulate", "bcast", "--algorithm", "linear", "--ranks", "8", "--loggops", "L=1us", "--ppn", "2")
    assert "need 4 nodes, but the network has 3" in refusal(*words, "--topology", "torus:3,link=1GB/s")
