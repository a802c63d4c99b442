"""`default` of a library that nobody knows, and nothing beside it: others' decisions stand for its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from hockney.machine.system import System
from hockney.predict.estimators._default import as_schedule
from hockney.predict.estimators._supposed import LIBRARIES, Supposed, scheduled
from hockney.predict.estimators.base import Training
from hockney.predict.estimators.combination import fit
from hockney.predict.estimators.simulated import simulated
from hockney.predict.points import DEFAULT, points

NOISE = 0.03
SWITCH_B = 4096
"""No library that is known here goes from a binomial tree to a scatter and an allgather at this size."""
FEW = (4, 6, 8, 12, 16, 24, 32)


@pytest.fixture(scope="module")
def table(simulated_table: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    names = ("binomial", "scatter_allgather")
    made = simulated_table(
        algorithms=names,
        ranks=(*FEW, 64, 128),
        sizes=(8, 64, 512, 4096, 32768, 262144),
        statistic="mean_over_ranks",
        mpi="Cray MPICH 8.1.28",
        noise=NOISE,
    )
    ran = made["bytes"].map(lambda size_B: names[size_B >= SWITCH_B])
    return made[made["algorithm"] == ran].assign(algorithm=DEFAULT)


@pytest.fixture(scope="module")
def training(table: pd.DataFrame, system: System) -> Training:
    seen = points(table[table["ranks"] <= max(FEW)], "bcast", "mean_over_ranks")
    return Training(seen.frame, table[:0], system, "bcast", seen.statistic)


@pytest.fixture(scope="module")
def fitted(training: Training) -> Supposed:
    made = simulated(training)
    assert isinstance(made, Supposed)
    return made


def test_it_is_nearer_than_curves_that_know_no_schedule(
    fitted: Supposed, training: Training, table: pd.DataFrame
) -> None:
    far = points(table[table["ranks"] > max(FEW)], "bcast").frame
    made, measured_s = fitted.predict(far), far["time_s"].to_numpy()
    ours, others = (np.abs(each.time_s / measured_s - 1) for each in (made, fit(training).predict(far)))
    assert np.median(ours) < np.median(others)
    assert np.quantile(ours, 0.95) < np.quantile(others, 0.95)
    assert np.mean((made.low_s <= measured_s) & (measured_s <= made.high_s)) >= 0.9
    assert made.note is not None
    # Each schedule is said where it ran; these times do not tell one tree of few messages a rank from another.
    first, last = made.note[0].rsplit("), ", 1)
    assert "nomial" in first
    assert "scatter_allgather " in last
    assert made.correction is not None
    assert np.median(made.correction.weight) < 0.1
    assert np.isnan(fitted.predict(far.assign(algorithm="linear")).time_s).all()
    asked = [as_schedule(far, choice) for choice in fitted.schedules.values()]
    steps = [member.steps(each) for member in fitted.members for each in asked]
    assert fitted.steps(far) == pytest.approx(np.sum(steps, axis=0))


def test_among_trained_points_their_surface_counts_and_where_nothing_explains_them_it_is_all(
    fitted: Supposed, training: Training
) -> None:
    inside = training.points.assign(ranks=20)
    weight = fitted.predict(inside).correction
    assert weight is not None
    assert np.median(weight.weight) > 0.5
    # Times that fall with the ranks where every schedule grows.
    fallen = {
        key: (replace(curves, ln_s=-curves.ln_s - 20), missed) for key, (curves, missed) in fitted.curves.items()
    }
    far = training.points.assign(ranks=128)
    made = replace(fitted, curves=fallen).predict(far)
    assert made.correction is not None
    assert made.correction.weight == pytest.approx(1, abs=0.01)
    assert made.time_s == pytest.approx(fit(training).predict(far).time_s, rel=0.02)


@pytest.mark.thorough
def test_curves_do_not_go_back_to_few_ranks(training: Training, table: pd.DataFrame) -> None:
    """Trained to 128 ranks, schedules are held against those of 11 and more."""
    whole = replace(training, points=points(table, "bcast", "mean_over_ranks").frame)
    few = whole.points[whole.points["ranks"] <= FEW[2]].reset_index(drop=True)
    assert simulated(whole).predict(few).time_s == pytest.approx(fit(whole).predict(few).time_s)


def test_between_nodes_nothing_is_simulated_where_training_has_one(training: Training) -> None:
    few = training.points[training.points["ranks"] <= FEW[2]]
    one_node = few.assign(mapping="", nodes=1, ppn=few["ranks"])
    asked = one_node.assign(ranks=64, nodes=4, ppn=16)
    with_none = replace(training, points=one_node, system=None)
    made, curves = simulated(with_none).predict(asked), fit(with_none).predict(asked)
    assert made.time_s == pytest.approx(curves.time_s, nan_ok=True)


def test_what_cannot_be_told_apart_is_a_schedule_that_is_fast_where_it_is_asked(training: Training) -> None:
    """Trained on four ranks: of 128 some schedules take many times as long as others."""
    few = training.points[training.points["ranks"] == min(FEW)].reset_index(drop=True)
    fitted, far = simulated(replace(training, points=few)), few.assign(ranks=128)
    assert isinstance(fitted, Supposed)
    asked = [as_schedule(far, choice) for choice in fitted.schedules.values()]
    least_s = np.min([member.plain_s(each) for member in fitted.members for each in asked], axis=0)
    assert (fitted.predict(far).time_s < 1.5 * least_s).all()


def test_points_keep_their_order_without_those_of_which_no_choice_is_known(training: Training) -> None:
    """MPICH has `scattered` there, for which there is no schedule on over 32 ranks."""
    asked = pd.concat([training.points.assign(operation="alltoall", ranks=ranks) for ranks in (8, 64)])
    made = scheduled(asked.reset_index(drop=True), LIBRARIES[1])
    assert (made["algorithm"] != DEFAULT).all()
    sizes = training.points["bytes"].tolist()
    assert made["bytes"].tolist() == [*sizes, *(size_B for size_B in sizes if not 256 < size_B <= 32768)]
