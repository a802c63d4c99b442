"""Planted rings: slopes that two reports print, with 1 % noise, come back with breaks, latencies and ratios."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from hockney.apps.ring.lines import LatencyLine, compared
from hockney.apps.ring.model import Link
from hockney.apps.ring.rings import RingName, RingRun, RingSeries
from hockney.models.over_ranks.boundaries import Boundary
from hockney.records.answers import Answer
from hockney.records.app_record import AppRecord
from hockney.records.record import Locality

NOISE = 0.01
MOST = 48
PACKAGE, NODE = Boundary(12, 13, "package"), Boundary(24, 25, "node")


@dataclass(frozen=True)
class Planted:
    """Latencies of a message in a package, in a node, between nodes, in µs, and those of a ping-pong there."""

    latencies_us: tuple[float, float, float]
    pingpong_us: tuple[float, float, float]


PINGPONG_US = 0.19671, 0.414452, 0.981388
"""Printed latencies of a ping-pong within a package, within a node, between nodes of the cluster."""
REPORTS = {
    # In turns: half of the slopes 0.68, 1.14 and 2.32 µs.
    "in turns": Planted((0.34, 0.57, 1.16), PINGPONG_US),
    # Both ways at once: a hop takes one message, P (λ + n/b), so that half the slope is λ/2.
    "at once": Planted((0.098355, 0.207226, 0.490694), PINGPONG_US),
}
LOCALITIES: tuple[Locality, Locality, Locality] = ("cache", "node", "network")


def _place(ranks: int) -> int:
    return 0 if ranks <= PACKAGE.before else 1 if ranks <= NODE.before else 2


def _drawn(planted: Planted, rng: np.random.Generator, boundaries: list[Boundary]) -> list[LatencyLine]:
    """T(P) = 2 P λ of the slowest neighbours: all go at their pace."""
    curve = RingSeries(RingName(exchange="sendrecv"), [], boundaries)
    for ranks in range(2, MOST + 1):
        time_s = 2e-6 * ranks * planted.latencies_us[_place(ranks)] * rng.normal(1, NOISE)
        record = AppRecord(operation="ring", ranks=ranks, parameters={}, time_s=time_s, answer=Answer())
        curve.runs.append(RingRun(record, list(range(ranks)), [LOCALITIES[_place(ranks)]] * ranks))
    messages = {}
    for locality, true_us in zip(LOCALITIES, planted.pingpong_us, strict=True):
        measured_s = 1e-6 * true_us * rng.normal(1, NOISE)
        reach_s = 1.96 * NOISE * measured_s
        messages[locality] = Link(measured_s, measured_s - reach_s, measured_s + reach_s, 0.0)
    return compared([curve], messages.get)[0].segments


def _judge(planted: Planted, draws: int, least_share: float, *, boundaries: list[Boundary]) -> None:
    rng = np.random.default_rng(19)
    errors: list[float] = []
    covered: list[bool] = []
    ratio_errors: list[float] = []
    found = 0
    for _ in range(draws):
        lines = _drawn(planted, rng, boundaries)
        is_found = [line.first for line in lines] == [2, PACKAGE.after, NODE.after]
        found += is_found
        for line in lines:
            place = _place(line.last)
            truth_s = 1e-6 * planted.latencies_us[place]
            ratio = planted.latencies_us[place] / planted.pingpong_us[place]
            # A line that a missed break spoils is no excuse: it counts with its error.
            errors.append(abs((line.latency_s or math.inf) / truth_s - 1))
            covered.append((line.latency_low_s or 0.0) <= truth_s <= (line.latency_high_s or 0.0))
            if line.latency_over_pingpong is not None:
                low, high = line.latency_over_pingpong_low or 0.0, line.latency_over_pingpong_high or 0.0
                ratio_errors.append(abs(line.latency_over_pingpong / ratio - 1))
                covered.append(low <= ratio <= high)
    assert found >= 0.95 * draws
    for wrong in (errors, ratio_errors):
        assert len(wrong) >= 3 * draws - draws // 20
        assert np.median(wrong) <= 0.03
        assert np.mean(np.array(wrong) <= 0.08) >= 0.95
    assert np.mean(covered) >= least_share


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("known", [True, False])
def test_latencies_breaks_and_ratios_come_back(report: str, *, known: bool) -> None:
    # 180 intervals of 95 %, two to a line: 0.89 is more than three standard deviations below.
    _judge(REPORTS[report], 30, 0.89, boundaries=[PACKAGE, NODE] if known else [])


@pytest.mark.thorough
@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("known", [True, False])
def test_in_two_hundred_draws(report: str, *, known: bool) -> None:
    _judge(REPORTS[report], 200, 0.92, boundaries=[PACKAGE, NODE] if known else [])
