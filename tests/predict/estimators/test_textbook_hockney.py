"""textbook_hockney: the formulas are the papers', and times that follow them give α, β and γ back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from tests.factories import training

from hockney.errors import RequestError
from hockney.models.collectives.closed_form import closed_form
from hockney.models.collectives.expression import FormulaCall
from hockney.predict.estimators.textbook_hockney import fit, parameters
from hockney.predict.points import points

ALPHA, BETA, GAMMA = 2e-6, 1e-10, 3e-11


def counted(operation: str, algorithm: str, ranks: int, m: float, **other: float) -> tuple[float, ...]:
    found = closed_form(operation, algorithm)
    assert found is not None
    return tuple(found.counts(FormulaCall(ranks, m, **other)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("operation", "algorithm", "ranks", "m", "alpha", "size", "reduced"),
    [
        # Written out by hand from the papers' formulas.
        ("bcast", "linear", 8, 100, 7, 700, 0),
        ("bcast", "binomial", 9, 100, 4, 400, 0),
        ("bcast", "pipeline", 8, 100, 7, 700, 0),
        ("bcast", "chain", 9, 100, 5, 500, 0),  # four chains of two: the root sends four, then one more step
        ("bcast", "binary", 7, 100, 4, 400, 0),  # two levels, two messages each
        (
            "bcast",
            "split_binary",
            7,
            100,
            5,
            250,
            0,
        ),  # two levels, two messages of a half each, then one exchange
        ("bcast", "knomial", 16, 100, 6, 600, 0),  # two levels, three messages each
        ("bcast", "scatter_allgather", 8, 800, 6, 1400, 0),
        ("bcast", "scatter_allgather_ring", 8, 800, 10, 1400, 0),
        ("reduce", "binomial", 8, 100, 3, 300, 300),
        ("reduce", "rabenseifner", 8, 800, 6, 1400, 700),
        ("allreduce", "ring", 8, 800, 14, 1400, 700),
        ("allreduce", "segmented_ring", 8, 800, 14, 1400, 700),
        ("allreduce", "recursive_doubling", 8, 100, 3, 300, 300),
        ("allreduce", "recursive_doubling", 9, 100, 5, 500, 400),
        ("allreduce", "rabenseifner", 8, 800, 6, 1400, 700),
        ("allreduce", "nonoverlapping", 8, 100, 6, 600, 300),
        ("allgather", "ring", 8, 10, 7, 70, 0),
        ("allgather", "bruck", 9, 10, 4, 80, 0),
        ("allgather", "neighbor", 8, 10, 4, 70, 0),
        ("gather", "binomial", 8, 10, 3, 70, 0),
        ("scatter", "basic_linear", 8, 10, 7, 70, 0),
        ("alltoall", "pairwise", 8, 10, 7, 70, 0),
        ("alltoall", "modified_bruck", 8, 10, 3, 120, 0),
        ("reduce_scatter", "ring", 8, 10, 7, 70, 70),
        ("reduce_scatter", "recursive_halving", 8, 10, 3, 70, 70),
        ("reduce_scatter", "recursive_halving", 9, 10, 5, 180, 170),
        ("barrier", "dissemination", 9, 0, 4, 0, 0),
        ("barrier", "linear", 9, 0, 16, 0, 0),
    ],
)
def test_formulas(
    operation: str, algorithm: str, ranks: int, m: float, alpha: float, size: float, reduced: float
) -> None:
    assert counted(operation, algorithm, ranks, m) == pytest.approx((alpha, size, reduced))


def test_segments_fill_the_pipeline() -> None:
    # Eight ranks, four segments of 25 B: 7 + 3 rounds of 25 B.
    assert counted("bcast", "pipeline", 8, 100, segment=25) == pytest.approx((10, 250, 0))
    assert counted("reduce", "pipeline", 8, 100, segment=25) == pytest.approx((10, 250, 250))
    assert counted("bcast", "chain", 9, 100, radix=1) == pytest.approx((8, 800, 0))


def law(algorithm: str, ranks: int, size: int, mapping: str) -> float:
    found = closed_form("bcast", algorithm)
    assert found is not None
    alpha, size_B, _ = found.counts(FormulaCall(ranks, size))
    return float(alpha * ALPHA + size_B * BETA) * {"core": 1, "node": 4}[mapping]


def test_times_that_follow_the_formulas_are_predicted_exactly(bcast: Callable[..., pd.DataFrame]) -> None:
    names = ["linear", "binomial", "chain", "binary"]
    asked = points(bcast(law, algorithms=[*names, "knomial"], ranks=[3, 500], sizes=[1, 2**20]), "bcast").frame
    made = fit(training(bcast(law, algorithms=names))).predict(asked)
    # Relative to rounding of the least squares, whose columns span ten decades.
    assert made.time_s == pytest.approx(asked["time_s"].to_numpy(), rel=1e-6)
    assert made.high_s == pytest.approx(made.time_s, rel=1e-6)


def test_alpha_beta_gamma_come_back() -> None:
    counts = np.array([[1.0, 0, 0], [3, 1e3, 5e2], [7, 7e5, 0], [4, 1e6, 1e6], [2, 50, 3]])
    found = parameters(counts, counts @ [ALPHA, BETA, GAMMA], np.array([2.0, 2, 4, 4, 8]))
    assert (found.alpha_s, found.beta_s_per_B, found.gamma_s_per_B) == pytest.approx((ALPHA, BETA, GAMMA))


def test_the_factor_is_that_of_rank_counts_left_out() -> None:
    # One message takes 1 on 2 ranks and 2 on 4: either predicts the other by a factor of 2.
    counts = np.tile([1.0, 0, 0], (40, 1))
    found = parameters(counts, np.repeat([1.0, 2.0], 20), np.repeat([2.0, 4.0], 20))
    assert found.factor == pytest.approx(2)


def test_no_parameter_is_negative() -> None:
    # Larger messages that are faster would need β < 0.
    counts = np.array([[1.0, 8, 0], [1, 1024, 0], [1, 65536, 0]])
    found = parameters(counts, np.array([3e-6, 2e-6, 1e-6]), np.array([2.0, 4, 8]))
    assert found.beta_s_per_B == 0
    assert found.alpha_s > 0


def test_the_interval_holds_the_noise(bcast: Callable[..., pd.DataFrame]) -> None:
    random = np.random.default_rng(2)

    def noisy(*case: object) -> float:
        return law(*case) * float(np.exp(random.normal(0, 0.1)))  # type: ignore[arg-type]

    seen = fit(training(bcast(noisy, ranks=range(2, 66), mappings=["core"])))
    asked = points(bcast(noisy, ranks=range(66, 256), mappings=["core"]), "bcast").frame
    made = seen.predict(asked)
    inside = (made.low_s <= asked["time_s"]) & (asked["time_s"] <= made.high_s)
    # 1,140 points: three standard deviations are 0.02; the factor itself comes from 384, another 0.03.
    assert inside.mean() == pytest.approx(0.95, abs=0.05)


def test_a_single_number_of_ranks_gives_no_interval(bcast: Callable[..., pd.DataFrame]) -> None:
    made = fit(training(bcast(law, ranks=[8]))).predict(points(bcast(law, ranks=[8]), "bcast").frame)
    assert np.isfinite(made.time_s).all()
    assert np.isnan(made.low_s).all()


def test_unknown_algorithms_and_mappings_are_not_predicted(bcast: Callable[..., pd.DataFrame]) -> None:
    seen = fit(training(bcast(law)))
    asked = bcast(lambda *_: 1e-6, algorithms=["linear", "default"], mappings=["core", "socket"])
    made = seen.predict(points(asked, "bcast").frame)
    known = (points(asked, "bcast").frame[["algorithm", "mapping"]] == ["linear", "core"]).all(axis="columns")
    assert (np.isfinite(made.time_s) == known).all()
    assert made.note


def test_only_defaults_cannot_be_fitted(bcast: Callable[..., pd.DataFrame]) -> None:
    with pytest.raises(RequestError, match="textbook formula"):
        fit(training(bcast(lambda *_: 1e-6, algorithms=["default"])))
