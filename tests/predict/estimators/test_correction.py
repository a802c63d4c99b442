"""The correction of a simulation: curves count among training points and on more ranks as far as they help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hockney.machine.system import System
from hockney.predict.discrepancy import Discrepancy, Groups, Where
from hockney.predict.estimators import _fitting
from hockney.predict.estimators._beyond import Beyond
from hockney.predict.estimators._correction import Corrector
from hockney.predict.estimators.base import Training
from hockney.predict.estimators.gaussian_process import Surfaces, surfaces_of
from hockney.predict.estimators.simulated import simulated
from hockney.predict.points import points

Tables = Callable[..., pd.DataFrame]
RANKS = [2, 4, 8, 16, 32, 64]
SIZES = [8 * 4**power for power in range(8)]


AHEAD = 0.25


def beyond(frame: pd.DataFrame, *, is_new: bool = False) -> Beyond:
    doublings = np.maximum(np.log2(frame["ranks"].to_numpy(np.float64) / RANKS[-1]), 0.0)
    return Beyond(doublings, np.full(len(frame), is_new))


def law(_algorithm: str, ranks: int, size: int, _mapping: str) -> float:
    return float(np.log2(ranks) * (1e-6 + size / 5e9))


def where(frame: pd.DataFrame, groups: Groups) -> Where:
    schedules = (frame["algorithm"] + "/" + frame["mapping"]).tolist()
    return Where(
        np.log(frame["ranks"].to_numpy(np.float64)),
        np.log2(frame["bytes"].to_numpy(np.float64)),
        groups.of(schedules),
        groups.of([f"/{mapping}" for mapping in frame["mapping"]]),
    )


class Trained:
    """A simulation that errs by so much for each point at random, which no neighbour tells."""

    def __init__(self, bcast: Tables, wrong: float) -> None:
        table = bcast(law, ranks=RANKS, sizes=SIZES)
        self.points = points(table, "bcast").frame
        self.groups = Groups()
        at = where(self.points, self.groups)
        missed = np.random.default_rng(4).normal(0, wrong, len(self.points))
        surfaces = surfaces_of(Training(self.points, table[:0], None, "bcast", "mean_over_ranks"))
        self.discrepancy = Discrepancy(at, missed, np.zeros(missed.size))
        self.surfaces: Surfaces = surfaces
        self.corrector = Corrector(at, self.discrepancy, surfaces, surfaces.left_out)

    def at(
        self, table: pd.DataFrame, simulated_s: float, *, is_new: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        frame = points(table, "bcast").frame
        simulated_ln = np.full(len(frame), np.log(simulated_s))
        is_beyond = beyond(frame, is_new=is_new)
        made = self.corrector.at(frame, where(frame, self.groups), is_beyond, simulated_ln, AHEAD)
        return np.exp(simulated_ln + made.ln), made.weight


@pytest.fixture(scope="module")
def poor(bcast: Tables) -> Trained:
    return Trained(bcast, 0.5)


def test_a_surface_counts_where_it_is_nearer(bcast: Tables, poor: Trained) -> None:
    assert poor.corrector.weight > 0.9
    time_s, weight = poor.at(bcast(law, ranks=[12], sizes=[2048], algorithms=["linear"]), 1e-3)
    assert (weight == poor.corrector.weight).all()
    # The surface is within a few per cent of the law; the simulation was off by a factor of hundreds.
    assert time_s == pytest.approx(law("", 12, 2048, ""), rel=0.5)


def test_a_simulation_that_is_right_is_left_alone(bcast: Tables) -> None:
    assert Trained(bcast, 1e-6).corrector.weight < 0.1


@pytest.mark.parametrize(
    ("other", "is_new"),
    [
        ({"ranks": [65]}, True),
        ({"sizes": [2**18]}, False),
        ({"ranks": [65], "sizes": [2**18]}, False),
        ({"mappings": ["other"]}, False),
    ],
)
def test_beyond_training_the_simulation_leads(
    bcast: Tables, poor: Trained, other: dict[str, list[Any]], *, is_new: bool
) -> None:
    asked = {"ranks": [12], "sizes": [2048], "algorithms": ["linear"], "mappings": ["core"]} | other
    time_s, weight = poor.at(bcast(law, **asked), 1e-3, is_new=is_new)
    assert (weight == 0).all()
    assert time_s == pytest.approx(1e-3, rel=2.0), "what residuals of neighbours say is all"


def test_on_more_ranks_curves_weigh_what_larger_runs_of_training_said(bcast: Tables, poor: Trained) -> None:
    asked = bcast(law, ranks=[128], sizes=[2048], algorithms=["linear"], mappings=["core"])
    frame = points(asked, "bcast").frame
    time_s, weight = poor.at(asked, 1e-3)
    assert weight == AHEAD
    missed, _ = poor.discrepancy.at(where(frame, poor.groups))
    alone, curve = np.log(1e-3) + missed, np.log(poor.surfaces.predict(frame).time_s)
    simulated = np.log(1e-3)
    assert np.log(time_s) == pytest.approx(simulated + (1 - AHEAD) * missed + AHEAD * (curve - simulated))
    assert (curve < np.log(time_s)).all()
    assert (np.log(time_s) < alone).all()


def test_the_interval_holds_the_errors_of_the_blend_among_the_training_points(poor: Trained) -> None:
    at, weight = where(poor.points, poor.groups), poor.corrector.weight
    blend = (1 - weight) * poor.discrepancy.left_out + weight * poor.surfaces.left_out
    reach = poor.corrector.at(poor.points, at, beyond(poor.points), np.zeros(len(poor.points))).reach
    _, deviation = poor.discrepancy.at(at)
    held = np.abs(blend) <= reach / deviation * poor.discrepancy.expected
    # The 95 % quantile of 192 points.
    assert held.mean() == pytest.approx(0.95, abs=0.01)


def test_with_few_points_left_out_no_surface_is_believed(poor: Trained) -> None:
    at = where(poor.points, poor.groups)
    few = np.full(len(poor.points), np.nan)
    few[:19] = poor.surfaces.left_out[:19]
    assert Corrector(at, poor.discrepancy, poor.surfaces, few).weight == 0.0


def test_curves_weigh_on_more_ranks_as_far_as_larger_runs_say(simulated_table: Tables, system: System) -> None:
    as_simulated = simulated_table(ranks=(2, 3, 4, 6, 8, 12, 14, 16), sizes=(8, 64, 512, 4096, 16384), noise=0.03)
    # A growth that no cost of a message has, and that a curve over ranks goes on with.
    strange = as_simulated.assign(time_s=as_simulated["time_s"] * as_simulated["ranks"] ** 1.5)
    weights = []
    for table in (as_simulated, strange):
        frame = points(table, "bcast").frame
        learn, asked = (frame[far].reset_index(drop=True) for far in (frame["ranks"] <= 12, frame["ranks"] > 12))
        fitted = simulated(Training(learn, table[:0], system, "bcast", "completion"))
        correction = fitted.predict(asked).correction
        assert correction is not None
        weights.append(correction.weight)
    assert weights[0].max() < 0.2
    assert weights[1] == pytest.approx(_fitting._AHEAD)
