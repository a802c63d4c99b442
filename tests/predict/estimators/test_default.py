"""`default` of a library that cannot be asked: algorithms come back from times, predictions hold the doubt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from hockney.machine.system import System
from hockney.predict.estimators._default import Mixed, certain, is_unknown
from hockney.predict.estimators.base import Training
from hockney.predict.estimators.simulated import simulated
from hockney.predict.points import DEFAULT, points
from hockney.records.defaults import Defaults

OPEN_MPI = "Open MPI 4.1.5"
NOISE = 0.03
SIZES = (8, 64, 512, 4096, 32768, 262144)
SWITCH_B = 4096
FEW = (4, 6, 8, 12, 16, 24, 32)
FAR = (48, 64)


def truth(size_B: int) -> str:
    """What the planted library runs by itself: an algorithm that nobody measured, then one that was."""
    return "binomial" if size_B < SWITCH_B else "chain"


@pytest.fixture(scope="module")
def table(simulated_table: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    """`linear` and `chain` by name, and a default, of a machine that is what the simulator says."""
    made = simulated_table(
        algorithms=("linear", "chain", "binomial"),
        ranks=(*FEW, *FAR),
        sizes=SIZES,
        statistic="mean_over_ranks",
        mpi=OPEN_MPI,
        noise=NOISE,
    )
    again = np.exp(np.random.default_rng(5).normal(0, NOISE, len(made)))
    ran = made[made["algorithm"] == made["bytes"].map(truth)]
    default = ran.assign(algorithm=DEFAULT, time_s=ran["time_s"] * again[ran.index])
    return pd.concat([made[made["algorithm"] != "binomial"], default], ignore_index=True)


@pytest.fixture(scope="module")
def training(table: pd.DataFrame, system: System) -> Training:
    """At most 32 ranks, without asking the library."""
    seen = points(table[table["ranks"] <= max(FEW)], "bcast", "mean_over_ranks")
    return Training(seen.frame, table[:0], system, "bcast", seen.statistic, asks_library=False)


@pytest.fixture(scope="module")
def fitted(training: Training) -> Mixed:
    made = simulated(training)
    assert isinstance(made, Mixed)
    return made


def test_the_planted_algorithms_are_named(fitted: Mixed) -> None:
    found = fitted.found
    named = [candidate.choice.algorithm if candidate.choice else "" for candidate in found.candidates]
    cells = [cell for chain in found.chains for cell in chain.cells]
    told = [cell for cell in cells if cell.names is not None]
    # Of two halves of the sizes, that of the algorithm that was measured by name can be told.
    assert len(told) >= 0.5 * len(cells)
    right = [truth(cell.size_B) in {named[state] for name in cell.names or () for state in name} for cell in told]
    # Sets have a probability of 95 %; of 40 cells a share of 0.9 is 1.5 deviations below it.
    assert np.mean(right) >= 0.9
    assert max(len(cell.names or ()) for cell in told) <= 3


def test_more_ranks_are_predicted_as_if_the_decision_were_known(fitted: Mixed, table: pd.DataFrame) -> None:
    far = points(table[(table["ranks"] > max(FEW)) & (table["algorithm"] == DEFAULT)], "bcast").frame
    made = fitted.predict(far)
    error = np.abs(made.time_s / far["time_s"].to_numpy() - 1)
    # A perfect model is off by two thirds of the noise of 3 % · √2 in the median.
    assert np.median(error) < 3 * NOISE
    inside = (made.low_s <= far["time_s"]) & (far["time_s"] <= made.high_s)
    assert inside.mean() >= 0.9


def test_named_algorithms_are_predicted_as_without_default(fitted: Mixed, table: pd.DataFrame) -> None:
    far = points(table[table["ranks"] > max(FEW)], "bcast").frame
    named = (far["algorithm"] != DEFAULT).to_numpy()
    together, alone = fitted.predict(far), fitted.predict(far[named].reset_index(drop=True))
    assert together.time_s[named] == pytest.approx(alone.time_s)
    assert np.isfinite(together.time_s).all()
    assert together.note is not None
    assert any(note.startswith("default: ") for note in together.note)


def test_the_doubt_between_two_algorithms_widens_the_interval(fitted: Mixed, table: pd.DataFrame) -> None:
    """At a rank count so far that nothing is known of the choice, the interval holds what any choice takes."""
    one = points(table[(table["ranks"] == 8) & (table["algorithm"] == DEFAULT)], "bcast").frame
    near, far = fitted.share(one), fitted.share(one.assign(ranks=8 * 2**20))
    assert near.max(axis=1).min() > 2 * far.max()
    assert far == pytest.approx(1 / far.shape[1], abs=1e-3)


def test_certain_points_train_under_their_name(fitted: Mixed, training: Training) -> None:
    """Cells of one name, here those from the switch on, do; the rest of `default` is left out."""
    chain = [candidate.name for candidate in fitted.found.candidates].index("chain, radix 4")
    told = [
        replace(
            each,
            cells=[replace(cell, names=[[chain]] if cell.size_B >= SWITCH_B else None) for cell in each.cells],
        )
        for each in fitted.found.chains
    ]
    names = certain(training, replace(fitted.found, chains=told))["algorithm"]
    default = training.points[training.points["algorithm"] == DEFAULT]
    assert DEFAULT not in set(names)
    assert (names == "schedule:chain").sum() == (default["bytes"] >= SWITCH_B).sum() > 0
    assert len(names) == len(training.points) - (default["bytes"] < SWITCH_B).sum()


def test_a_setting_tells_what_no_version_does(training: Training) -> None:
    points = training.points.assign(mpi="Open MPI", variant="")
    chosen = {"coll_tuned_use_dynamic_rules": "1", "coll_tuned_bcast_algorithm": "chain"}
    for settings, is_told in (
        ({}, False),
        (chosen, True),
        (chosen | {"coll_tuned_dynamic_rules_filename": "f"}, False),
    ):
        defaults = Defaults(settings={("Open MPI", ""): settings})
        unknown = is_unknown(points, asks_library=True, defaults=defaults)
        assert unknown.any() != is_told
    # The shipped decision does not hold where a file decides.
    told = training.points.assign(variant="")
    (mpi,) = set(told["mpi"])
    rules = {"coll_tuned_use_dynamic_rules": "1", "coll_tuned_dynamic_rules_filename": "f"}
    assert is_unknown(told, asks_library=True, defaults=Defaults(settings={(mpi, ""): rules})).any()


def test_the_library_is_asked_where_its_version_tells(training: Training) -> None:
    asks = replace(training, asks_library=True)
    assert not is_unknown(asks.points, asks_library=True).any()
    assert not isinstance(simulated(asks), Mixed)
    nameless = training.points.assign(mpi="Open MPI")
    is_default = (nameless["algorithm"] == DEFAULT).to_numpy()
    assert (is_unknown(nameless, asks_library=True) == is_default).all()
