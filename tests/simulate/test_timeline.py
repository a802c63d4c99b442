"""LogGP times of schedules against closed forms (Alexandrov et al. 1995; Culler et al. 1993)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories import loggp

from hockney import _core
from hockney._core import Problem, Timeline

LATENCY_S, OVERHEAD_S, GAP_S, PER_B_S = 5.0, 1.0, 3.0, 0.01


def play(collective: str, algorithm: str, gap_s: float = GAP_S, **asked: Any) -> Timeline:
    schedule = _core.generate(collective, algorithm, Problem(**asked))
    costs = loggp(
        latency_s=LATENCY_S, overhead_s=OVERHEAD_S, gap_s=gap_s, gap_s_per_B=PER_B_S, reduce_s_per_B=0.1
    )
    return _core.timeline(schedule, costs)


def one_message(size_B: int) -> float:
    return 2 * OVERHEAD_S + LATENCY_S + (size_B - 1) * PER_B_S


@pytest.mark.parametrize("size_B", [1, 8, 1000])
def test_one_message_takes_o_L_G_and_o(size_B: int) -> None:
    line = play("bcast", "linear", ranks=2, bytes=size_B)
    assert line.finish_s == pytest.approx([OVERHEAD_S, one_message(size_B)])


@pytest.mark.parametrize("levels", [1, 2, 3, 4, 5])
def test_a_binomial_tree_is_as_deep_as_its_logarithm(levels: int) -> None:
    # Rank P − 1 is reached by `levels` messages one after another, each the first its sender has to send.
    line = play("bcast", "binomial", ranks=2**levels, bytes=1)
    assert line.finish_s[-1] == pytest.approx(levels * one_message(1))


@pytest.mark.parametrize("ranks", [2, 5, 17])
def test_a_linear_broadcast_is_ruled_by_the_gap(ranks: int) -> None:
    # The last of P − 1 messages leaves P − 2 gaps after the first; g > o.
    line = play("bcast", "linear", ranks=ranks, bytes=1)
    assert max(line.finish_s) == pytest.approx((ranks - 2) * GAP_S + one_message(1))


def test_without_a_gap_the_overhead_rules() -> None:
    line = play("bcast", "linear", gap_s=0.0, ranks=9, bytes=1)
    assert max(line.finish_s) == pytest.approx(7 * OVERHEAD_S + one_message(1))


def test_a_pipeline_of_one_segment_is_a_chain() -> None:
    line = play("bcast", "pipeline", ranks=6, bytes=100)
    assert max(line.finish_s) == pytest.approx(5 * one_message(100))


def test_a_reduction_takes_its_bytes() -> None:
    line = play("reduce", "linear", ranks=2, bytes=40, element_B=4)
    assert line.finish_s[0] == pytest.approx(one_message(40) + 40 * 0.1)
