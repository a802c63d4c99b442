"""`default` of a library that nobody knows, and nothing beside it: others' decisions stand for its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from hockney.machine.system import System
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


def test_it_is_nearer_than_curves_that_know_no_schedule(training: Training, table: pd.DataFrame) -> None:
    fitted = simulated(training)
    assert isinstance(fitted, Supposed)
    far = points(table[table["ranks"] > max(FEW)], "bcast").frame
    made, measured_s = fitted.predict(far), far["time_s"].to_numpy()
    ours, others = (np.abs(each.time_s / measured_s - 1) for each in (made, fit(training).predict(far)))
    assert np.median(ours) < np.median(others)
    assert np.quantile(ours, 0.95) < np.quantile(others, 0.95)
    assert np.mean((made.low_s <= measured_s) & (measured_s <= made.high_s)) >= 0.9
    assert made.note is not None
    assert all(f"{library} (" in made.note[0] for library in LIBRARIES)
    assert made.correction is not None
    # Known schedules count, and what nobody can read counts less than all.
    assert np.all((made.correction.weight > 0) & (made.correction.weight < 1))
    by_name = fitted.predict(far.assign(algorithm="linear")).note
    assert by_name is not None
    assert by_name[0].count("(no schedule)") == len(LIBRARIES)
    steps = [member.steps(scheduled(far, library)) for library, member in fitted.members.items()]
    assert fitted.steps(far) == pytest.approx(np.sum(steps, axis=0))


def test_points_keep_their_order_and_what_no_library_chooses(training: Training) -> None:
    asked = training.points.assign(algorithm=["ring", *training.points["algorithm"][1:]])
    made = scheduled(asked, LIBRARIES[1])
    assert made["bytes"].tolist() == asked["bytes"].tolist()
    assert made["algorithm"].iloc[0] == "ring"
    assert (made["algorithm"].iloc[1:] != DEFAULT).all()
