"""Completion times against closed forms derived by hand (LogGP: Alexandrov et al. 1995).

A message of m bytes takes T(m) = o_s + L + (m − 1)G + o_r, an empty one o_s + L + o_r; its port is taken for
x(m) = g + (m − 1)G. The forms are exact; 1e-12 is the rounding of sums of a few hundred terms.
"""

from __future__ import annotations

from typing import Any

import pytest

from hockney.predict.costs import LoggopsParameters
from hockney.predict.simulation import SimulationResult, simulate
from hockney.schedule.catalogue import ask

EXACT = 1e-12
SETS = [
    LoggopsParameters(2.5e-6, 1.5e-6, 1e-6, 6e-9, receive_overhead_s=1.5e-6),
    LoggopsParameters(1e-6, 2e-7, 3e-7, 1e-10, receive_overhead_s=5e-7),
    LoggopsParameters(5.0, 1.0, 3.0, 0.01, receive_overhead_s=0.5, reduce_s_per_B=0.1),
]
parameters = pytest.mark.parametrize("parameters", SETS, ids=["slow", "fast", "plain"])


def run(collective: str, algorithm: str, parameters: LoggopsParameters, **asked: Any) -> SimulationResult:
    return simulate(ask(collective, algorithm, **asked), parameters, by_class=False)


def message_s(p: LoggopsParameters, size_B: int) -> float:
    return p.overhead_s + p.latency_s + max(size_B - 1, 0) * p.gap_s_per_B + p.receive_overhead_s


def port_s(p: LoggopsParameters, size_B: int) -> float:
    return p.gap_s + max(size_B - 1, 0) * p.gap_s_per_B


@pytest.mark.parametrize(("levels", "expected_us"), [(16, 186.208), (20, 232.76)])
def test_the_figures_of_the_project(levels: int, expected_us: float) -> None:
    """16 and 20 × 11.638 µs: L = 2.5 µs, o = 1.5 µs, g = 1 µs, G = 6 ns, 1,024 B."""
    outcome = run("bcast", "binomial", SETS[0], ranks=2**levels, size_B=1024)
    assert outcome.finish_s.max() * 1e6 == pytest.approx(expected_us, rel=EXACT)
    assert outcome.messages == 2**levels - 1


@parameters
@pytest.mark.parametrize("levels", [0, 1, 3, 10])
@pytest.mark.parametrize("size_B", [1, 1000])
def test_binomial_trees_take_a_message_for_each_level(
    parameters: LoggopsParameters, levels: int, size_B: int
) -> None:
    expected_s = pytest.approx(levels * message_s(parameters, size_B), rel=EXACT)
    outcome = run("bcast", "binomial", parameters, ranks=2**levels, size_B=size_B)
    assert outcome.finish_s.max() == expected_s
    # The root is through when it has started its sends.
    assert outcome.finish_s[0] == pytest.approx(levels * parameters.overhead_s, rel=EXACT)


@parameters
@pytest.mark.parametrize("root", [0, 5])
def test_binomial_from_another_root(parameters: LoggopsParameters, root: int) -> None:
    outcome = run("bcast", "binomial", parameters, ranks=8, root=root, size_B=64)
    assert outcome.finish_s.max() == pytest.approx(3 * message_s(parameters, 64), rel=EXACT)
    assert outcome.finish_s.argmin() == root


@parameters
@pytest.mark.parametrize("ranks", [2, 3, 100])
def test_linear_is_ruled_by_the_port_or_the_processor(parameters: LoggopsParameters, ranks: int) -> None:
    apart_s = max(parameters.overhead_s, port_s(parameters, 8))
    expected_s = (ranks - 2) * apart_s + message_s(parameters, 8)
    outcome = run("bcast", "linear", parameters, ranks=ranks, size_B=8)
    assert outcome.finish_s.max() == pytest.approx(expected_s, rel=EXACT)


@parameters
@pytest.mark.parametrize("ranks", [2, 3, 17])
def test_linear_alltoall_is_ruled_by_the_ports(parameters: LoggopsParameters, ranks: int) -> None:
    # All begin with their neighbour, so messages come as far apart as they leave, and overheads hide behind.
    size_B = 20_000
    assert port_s(parameters, size_B) > parameters.overhead_s + parameters.receive_overhead_s
    expected_s = (ranks - 2) * port_s(parameters, size_B) + message_s(parameters, size_B)
    outcome = run("alltoall", "linear", parameters, ranks=ranks, size_B=size_B)
    assert outcome.finish_s.max() == pytest.approx(expected_s, rel=EXACT)
    assert outcome.finish_s.min() == pytest.approx(expected_s, rel=EXACT)


@parameters
@pytest.mark.parametrize("segments", [1, 2, 9])
def test_a_pipeline_adds_a_port_time_for_each_further_segment(
    parameters: LoggopsParameters, segments: int
) -> None:
    segment_B = 20_000
    assert port_s(parameters, segment_B) > parameters.overhead_s + parameters.receive_overhead_s
    expected_s = 5 * message_s(parameters, segment_B) + (segments - 1) * port_s(parameters, segment_B)
    asked = {"ranks": 6, "size_B": segments * segment_B, "segment_B": segment_B}
    outcome = run("bcast", "pipeline", parameters, **asked)
    assert outcome.finish_s.max() == pytest.approx(expected_s, rel=EXACT)
    assert outcome.messages == 5 * segments


@pytest.mark.parametrize(("ranks", "segments"), [(8, 4), (3, 9), (20, 1)])
def test_a_rank_that_waits_for_its_send_receives_nothing_meanwhile(ranks: int, segments: int) -> None:
    """Messages cost their bytes alone: S + P − 2 of them one after another, in turns 2 (S − 1) + P − 1."""
    segment_B, per_byte_s = 20_001, 1e-9
    asked = {"ranks": ranks, "size_B": segments * segment_B, "segment_B": segment_B}
    message_s = (segment_B - 1) * per_byte_s
    for rendezvous_above_B, rounds in ((1000, 2 * (segments - 1) + ranks - 1), (None, segments + ranks - 2)):
        # A sender whose message is buffered goes on at once: nothing is left of the difference.
        costs = LoggopsParameters(
            0.0, 0.0, 0.0, per_byte_s, receive_overhead_s=0.0, rendezvous_above_B=rendezvous_above_B
        )
        ahead = run("bcast", "pipeline", costs, **asked).finish_s.max()
        in_turns = run("bcast", "blocking_pipeline", costs, **asked).finish_s.max()
        assert ahead == pytest.approx((segments + ranks - 2) * message_s, rel=EXACT)
        assert in_turns == pytest.approx(rounds * message_s, rel=EXACT)


@parameters
@pytest.mark.parametrize("ranks", [2, 7, 32])
def test_an_allgather_ring_takes_a_message_for_each_step(parameters: LoggopsParameters, ranks: int) -> None:
    outcome = run("allgather", "ring", parameters, ranks=ranks, size_B=100)
    expected_s = [(ranks - 1) * message_s(parameters, 100)] * ranks
    assert outcome.finish_s.tolist() == pytest.approx(expected_s, rel=EXACT)


@parameters
@pytest.mark.parametrize("ranks", [2, 8, 16])
def test_an_allreduce_ring_goes_round_twice_and_reduces_once(parameters: LoggopsParameters, ranks: int) -> None:
    block_B = 400
    step_s, reduce_s = message_s(parameters, block_B), block_B * parameters.reduce_s_per_B
    expected_s = [(ranks - 1) * (2 * step_s + reduce_s)] * ranks
    outcome = run("allreduce", "ring", parameters, ranks=ranks, size_B=ranks * block_B)
    assert outcome.finish_s.tolist() == pytest.approx(expected_s, rel=EXACT)


@parameters
@pytest.mark.parametrize(("ranks", "rounds"), [(2, 1), (3, 2), (64, 6), (65, 7), (100, 7)])
def test_dissemination_takes_the_logarithm_of_the_ranks(
    parameters: LoggopsParameters, ranks: int, rounds: int
) -> None:
    outcome = run("barrier", "dissemination", parameters, ranks=ranks)
    expected_s = [rounds * message_s(parameters, 0)] * ranks
    assert outcome.finish_s.tolist() == pytest.approx(expected_s, rel=EXACT)


@parameters
@pytest.mark.parametrize("levels", [1, 2, 6])
def test_recursive_doubling_exchanges_and_reduces_the_vector(parameters: LoggopsParameters, levels: int) -> None:
    outcome = run("allreduce", "recursive_doubling", parameters, ranks=2**levels, size_B=800)
    expected_s = [levels * (message_s(parameters, 800) + 800 * parameters.reduce_s_per_B)] * 2**levels
    assert outcome.finish_s.tolist() == pytest.approx(expected_s, rel=EXACT)


@parameters
@pytest.mark.parametrize("collective", ["scatter", "gather"])
@pytest.mark.parametrize("levels", [1, 2, 5, 10])
def test_binomial_scatter_and_gather_move_half_the_blocks_less_each_time(
    parameters: LoggopsParameters, collective: str, levels: int
) -> None:
    outcome = run(collective, "binomial", parameters, ranks=2**levels, size_B=48)
    expected_s = sum(message_s(parameters, 48 * 2**level) for level in range(levels))
    assert outcome.finish_s.max() == pytest.approx(expected_s, rel=EXACT)


def test_overhead_of_each_byte_is_charged_at_both_ends() -> None:
    per_byte = LoggopsParameters(5.0, 1.0, 0.0, 0.01, receive_overhead_s=2.0, overhead_s_per_B=0.1)
    outcome = run("bcast", "binomial", per_byte, ranks=2, size_B=30)
    assert outcome.finish_s.tolist() == pytest.approx([4.0, 1 + 3 + 5 + 0.29 + 2 + 3], rel=EXACT)


def test_copies_take_their_bytes() -> None:
    copying = LoggopsParameters(5.0, 1.0, 0.0, 0.0, receive_overhead_s=1.0, copy_s_per_B=0.01)
    # The own block is copied first; the two ranks then exchange theirs.
    outcome = run("allgather", "ring", copying, ranks=2, size_B=50)
    assert outcome.finish_s.tolist() == pytest.approx([0.5 + 7.0] * 2, rel=EXACT)


def test_a_rank_alone_has_nothing_to_do() -> None:
    outcome = run("bcast", "binomial", SETS[0], ranks=1, size_B=8)
    assert outcome.finish_s.tolist() == [0.0]
    assert outcome.messages == 0
