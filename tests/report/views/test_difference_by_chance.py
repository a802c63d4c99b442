"""What `diff` says of machines of which the truth is known: how often it is wrong, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest
from tests.report.views.test_difference import machine

from hockney.machine.file import Entry, Machine, Measurements, Point
from hockney.models.base import models
from hockney.records.record import LOCALITIES, Locality
from hockney.records.series import Series
from hockney.records.series_of_table import pool
from hockney.report.views.difference import difference
from hockney.report.views.judgement import LEVEL
from hockney.units import format_bytes

SIZES_B = np.array([0.0, 64.0, 1024.0, 16384.0, 262144.0, 4194304.0])


def simulated(
    rng: np.random.Generator,
    factor: float = 1.0,
    localities: tuple[Locality, ...] = LOCALITIES[1:5],
    within: float = 0.01,
) -> Machine:
    """A machine measured in three launches: each is off by 2 % as a whole, each of its medians by 1 % more.

    `within`: relative half-width of the interval that each launch states of a median.
    """
    entries = []
    for locality in localities:
        launches = []
        for _ in range(3):
            off = np.exp(rng.normal(0, 0.02) + rng.normal(0, 0.01, SIZES_B.size))
            time_s = factor * (1e-6 + SIZES_B / 1e10) * off
            launches.append(
                Series({"pair": "0-1"}, SIZES_B, time_s, time_s * (1 - within), time_s * (1 + within))
            )
        pooled = pool(launches)
        columns = (pooled.size_B, pooled.time_s, pooled.low_s, pooled.high_s)
        points = [
            Point(size_B=int(size), time_s=time, low_s=low, high_s=high, records=3)
            for size, time, low, high in zip(*(column.tolist() for column in columns), strict=True)
        ]
        fits = {"hockney": models.get("hockney")(pooled)}
        measurements = Measurements(launches=["x", "y", "z"], points=points)
        entries.append(
            Entry(operation="pingpong", locality=locality, pairs=["0-1"], fits=fits, measurements=measurements)
        )
    return machine(*entries)


def test_a_change_of_large_messages_is_told_only_where_no_shared_cache_explains_it() -> None:
    rng = np.random.default_rng(5)
    pair = simulated(rng, within=0.001), simulated(rng, within=0.001, factor=1.3)
    largest_B = int(SIZES_B[-1])

    def told() -> dict[str, str]:
        comparisons = difference(*pair, points=True).comparisons
        return {c.quantity: c.verdict for c in comparisons if c.where == comparisons[0].where}

    verdicts = told()
    assert verdicts[f"time of {format_bytes(largest_B)}"] == verdicts["bandwidth"] == "differs"
    for side in pair:
        for entry in side.point_to_point:
            entry.measurements.last_cache_B = 4 * largest_B
    verdicts = told()
    assert verdicts[f"time of {format_bytes(largest_B)}"] == "undecided"
    assert verdicts[f"time of {format_bytes(int(SIZES_B[0]))}"] == verdicts["latency"] == "differs"


@pytest.mark.thorough
def test_no_more_false_alarms_than_promised() -> None:
    """200 pairs of one truth: a diff finds any difference in at most 5 %, with and without points.

    The launches claim to be sure of their medians, so that nothing but their spread tells what chance does.
    """
    rng = np.random.default_rng(20261121)
    alarms = dict.fromkeys((False, True), 0)
    for _ in range(200):
        pair = simulated(rng, within=0.001), simulated(rng, within=0.001)
        for points in alarms:
            diff = difference(*pair, points=points)
            assert diff.judged == len(diff.comparisons) == 4 * (2 + points * SIZES_B.size)
            alarms[points] += bool(diff.having("differs"))
    assert max(alarms.values()) <= LEVEL * 200


def test_changes_of_15_percent_are_found() -> None:
    rng = np.random.default_rng(20261122)
    differ = compared = 0
    for _ in range(20):
        diff = difference(simulated(rng), simulated(rng, 1.15), points=True)
        differ += len(diff.having("differs"))
        compared += len(diff.comparisons)
    assert differ >= 0.9 * compared


@pytest.mark.thorough
def test_of_what_is_found_beside_real_changes_the_promised_share_is_false() -> None:
    """Half of the localities are 15 % slower; in the others nothing changed."""
    rng = np.random.default_rng(20261123)
    shares = []
    for _ in range(100):
        slow = simulated(rng, 1.15, LOCALITIES[1:3]).point_to_point
        other = machine(*slow, *simulated(rng, 1.0, LOCALITIES[3:5]).point_to_point)
        found = difference(simulated(rng), other, points=True).having("differs")
        false = [x for x in found if not any(f"locality {name}" in x.where for name in LOCALITIES[1:3])]
        shares.append(len(false) / max(1, len(found)))
    assert np.mean(shares) <= LEVEL
