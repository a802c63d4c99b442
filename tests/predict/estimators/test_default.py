"""`default` of a library that cannot be asked: algorithms come back from times, predictions hold the doubt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hockney.machine.system import System
from hockney.predict.estimators import _default
from hockney.predict.estimators._default import Identification, Mixed, certain
from hockney.predict.estimators._own_growth import own_growth
from hockney.predict.estimators.base import Prediction, Training
from hockney.predict.estimators.simulated import simulated
from hockney.predict.identify.candidates import window
from hockney.predict.identify.chains import CHAIN, Chain, ChainCell
from hockney.predict.identify.told import is_unknown
from hockney.predict.points import DEFAULT, points
from hockney.records.defaults import Defaults

OPEN_MPI = "Open MPI 4.1.5"
Law = Callable[[str, int, int, str], float]
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
    # Of two halves of the sizes, that of the algorithm that was measured by name can be told, but for two cells
    # or three where it begins: as probable as all candidates together is none of them before anything is known.
    assert len(told) >= 0.5 * len(cells) - 3
    right = [truth(cell.size_B) in {named[state] for name in cell.names or () for state in name} for cell in told]
    # Sets have a probability of 95 %; of 40 cells a share of 0.9 is 1.5 deviations below it.
    assert np.mean(right) >= 0.9
    assert max(len(cell.names or ()) for cell in told) <= 3


def test_what_takes_too_long_to_simulate_is_not_identified(
    fitted: Mixed, training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = training.points[training.points["algorithm"] == DEFAULT]

    def steps(most_ranks: int) -> float:
        few = default[default["ranks"] <= most_ranks].reset_index(drop=True)
        return float(_default._steps(few, fitted.found.candidates, fitted.fitted).sum())

    assert not fitted.found.limits
    monkeypatch.setattr(_default, "MOST_STEPS", steps(12))
    found = _default.identify(training, [fitted.fitted])
    assert {chain.ranks for chain in found.chains} == {ranks for ranks in FEW if ranks <= 12}
    assert found.limits == [
        f"{DEFAULT}: identified up to 12 ranks, of more the candidates take too long to simulate"
    ]
    # Other statistics of the same calls go with them, and the fewest ranks stay however long they take.
    monkeypatch.setattr(_default, "MOST_STEPS", 1)
    both = replace(training, beside={"max_over_ranks": training.points})
    assert {chain.ranks for chain in _default.identify(both, [fitted.fitted]).chains} == {min(FEW)}


@pytest.fixture(scope="module")
def far(table: pd.DataFrame) -> pd.DataFrame:
    """More ranks than were trained."""
    return points(table[table["ranks"] > max(FEW)], "bcast").frame


@pytest.fixture(scope="module")
def together(fitted: Mixed, far: pd.DataFrame) -> Prediction:
    """Of named algorithms and of the default."""
    return fitted.predict(far)


def test_more_ranks_are_predicted_as_if_the_decision_were_known(together: Prediction, far: pd.DataFrame) -> None:
    default = (far["algorithm"] == DEFAULT).to_numpy()
    true_s = far["time_s"].to_numpy()
    # A perfect model is off by two thirds of the noise of 3 % · √2 in the median.
    assert np.median(np.abs(together.time_s / true_s - 1)[default]) < 3 * NOISE
    assert np.mean(((together.low_s <= true_s) & (true_s <= together.high_s))[default]) >= 0.9


def test_named_algorithms_are_predicted_as_without_default(
    fitted: Mixed, together: Prediction, far: pd.DataFrame
) -> None:
    named = (far["algorithm"] != DEFAULT).to_numpy()
    alone = fitted.predict(far[named].reset_index(drop=True))
    assert together.time_s[named] == pytest.approx(alone.time_s)
    assert np.isfinite(together.time_s).all()
    assert together.note is not None
    assert any(note.startswith("default: ") for note in together.note)


def test_far_from_what_was_trained_no_candidate_is_believed(fitted: Mixed, table: pd.DataFrame) -> None:
    one = points(table[(table["ranks"] == 8) & (table["algorithm"] == DEFAULT)], "bcast").frame
    near, far = fitted.share(one), fitted.share(one.assign(ranks=8 * 2**20))
    # Of times that a candidate explains, hardly one in twenty is said to be of none of them.
    assert near[:, -1].max() < 0.05
    assert far[:, -1] == pytest.approx(1.0, abs=1e-3)
    assert far.sum(axis=1) == pytest.approx(1.0)


class Second:
    """A calibration by which each schedule takes a second, within 1 %."""

    def predict(self, points: pd.DataFrame) -> Prediction:
        one = self.plain_s(points)
        return Prediction(one, one / 1.01, one * 1.01)

    def plain_s(self, points: pd.DataFrame) -> np.ndarray:
        return np.ones(len(points))

    steps = plain_s


def grows(_algorithm: str, ranks: int, size_B: int, _mapping: str) -> float:
    """What the default of `sure` takes."""
    return 3e-6 * ranks * size_B


def falls(_algorithm: str, ranks: int, _size_B: int, _mapping: str) -> float:
    """From 4 to 2 µs on 4 to 64 ranks, 3 µs in the mean."""
    return {4: 4e-6, 16: 3e-6, 64: 2e-6}.get(ranks, 3e-6)


def asked(bcast: Callable[..., pd.DataFrame], ranks: int, size_B: int, law: Law = grows) -> pd.DataFrame:
    """One point of its default."""
    made = bcast(law, algorithms=[DEFAULT], ranks=[ranks], sizes=[size_B], mappings=["core"], mpi=OPEN_MPI)
    return points(made, "bcast").frame


def sure(bcast: Callable[..., pd.DataFrame], ranks: tuple[int, ...] = (4, 16, 64), law: Law = grows) -> Mixed:
    """A default of 8 B and 32 KiB by that law; it passes for certain that it is a candidate of one second."""
    each_size = [asked(bcast, each, size_B, law) for each in ranks for size_B in (8, 32768)]
    seen = pd.concat(each_size, ignore_index=True)
    training = Training(seen, seen[:0], None, "bcast", "mean_over_ranks", asks_library=False)
    made = Mixed(training, Second(), lambda _: Second())
    share, same = np.array([1.0, 0.0, 0.0]), np.eye(2, dtype=np.bool_)
    key = tuple({"nodes": 2}.get(name) for name in CHAIN)
    told = [
        Chain(key, [ChainCell(each, size_B, share, [[0]], 0, np.ones((1, 2)), same) for size_B in (8, 32768)], [])
        for each in ranks
    ]
    vars(made)["found"] = Identification(window("bcast", OPEN_MPI)[:2], told)
    return made


@pytest.mark.parametrize("size_B", [8, 512, 32768])
@pytest.mark.parametrize("root", [0, pd.NA])
def test_far_from_what_was_trained_default_grows_as_it_did(
    bcast: Callable[..., pd.DataFrame], size_B: int, root: Any
) -> None:
    """2²⁰ times as many ranks, also of a size between two that were trained: not what the candidate takes."""
    ranks = 64 * 2**20
    made = sure(bcast).predict(asked(bcast, ranks, size_B).assign(root=root))
    # The grid of the mixture's quantiles spans twelve deviations in 2,000 steps.
    assert made.time_s == pytest.approx(grows("", ranks, size_B, ""), rel=0.05)
    # The line in log₂ P through 3 · (4, 16, 64) has the slope 45 and is 84 at log₂ P = 4.
    logarithm = (84 + 45 * (26 - 4)) * 1e-6 * size_B
    assert made.low_s == pytest.approx(logarithm, rel=0.1)
    assert made.high_s == pytest.approx(grows("", ranks, size_B, "") ** 2 / logarithm, rel=0.1)


def logarithmic(_algorithm: str, ranks: int, size_B: int, _mapping: str) -> float:
    return 1e-6 * size_B * float(np.log2(ranks))


@pytest.mark.parametrize("ranks", [1024, 2**16, 2**26])
def test_a_default_that_grows_as_a_logarithm_lies_inside(bcast: Callable[..., pd.DataFrame], ranks: int) -> None:
    made = own_growth(sure(bcast, law=logarithmic).training.points)
    value, deviation = made.at(asked(bcast, ranks, 8), 0.05)
    truth = np.log(logarithmic("", ranks, 8, ""))
    assert abs(truth - value) < 1.96 * deviation


def test_sizes_of_another_mapping_are_no_neighbours(bcast: Callable[..., pd.DataFrame]) -> None:
    """512 B is between the sizes of `core`, though `node` has it."""
    own = sure(bcast).training.points
    other = own[own["bytes"] == 8].assign(bytes=512, mapping="node")
    value, _ = own_growth(pd.concat([own, other], ignore_index=True)).at(asked(bcast, 2**16, 512), 0.05)
    assert np.exp(value) == pytest.approx(grows("", 2**16, 512, ""), rel=1e-6)


@pytest.mark.parametrize("ranks", [2, 4, 32, 64])
def test_no_line_tells_of_ranks_inside_of_what_was_trained(
    bcast: Callable[..., pd.DataFrame], ranks: int
) -> None:
    value, _ = own_growth(sure(bcast).training.points).at(asked(bcast, ranks, 8), 0.05)
    assert np.isnan(value).all()


def test_default_that_became_faster_does_not_end_at_nothing(bcast: Callable[..., pd.DataFrame]) -> None:
    """On ever more ranks: what it took in the mean, within the 0.4 % of the grid of quantiles."""
    made = sure(bcast, law=falls).predict(asked(bcast, 64 * 2**20, 8))
    assert made.time_s == pytest.approx(3e-6, rel=0.01)


def test_between_there_is_doubt(bcast: Callable[..., pd.DataFrame]) -> None:
    """One doubling away the candidate has half of the probability: both lie inside the interval."""
    made = sure(bcast).predict(asked(bcast, 128, 32768))
    assert made.low_s < 1.0 < grows("", 128, 32768, "") < made.high_s


@pytest.mark.parametrize(
    ("ranks", "far", "size_B"), [((4, 16, 64), 64, 8), ((4, 16, 64), 2**26, 65536), ((4, 64), 2**26, 8)]
)
def test_a_candidate_takes_its_own_time(
    bcast: Callable[..., pd.DataFrame], ranks: tuple[int, ...], far: int, size_B: int
) -> None:
    """At trained ranks, and where nothing says how `default` grew: beyond its sizes, on two numbers of ranks."""
    made = sure(bcast, ranks).predict(asked(bcast, far, size_B))
    assert made.time_s == pytest.approx(1.0, rel=0.001)


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
    few = training.points[training.points["ranks"] <= FEW[2]].reset_index(drop=True)
    asks = replace(training, points=few, asks_library=True)
    assert not is_unknown(training.points, asks_library=True).any()
    assert not isinstance(simulated(asks), Mixed)
    nameless = training.points.assign(mpi="Open MPI")
    is_default = (nameless["algorithm"] == DEFAULT).to_numpy()
    assert (is_unknown(nameless, asks_library=True) == is_default).all()
