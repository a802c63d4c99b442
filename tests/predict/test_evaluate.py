"""One split for all estimators; what could not run, or could not be scored, is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter
from tests.capabilities import shared

from hockney.errors import EnvironmentLack, RequestError
from hockney.machine.system import System
from hockney.predict import evaluate as evaluation
from hockney.predict.estimators.base import (
    Estimator,
    FittedEstimator,
    Prediction,
    Training,
    estimators,
    training_of,
    unknown,
)
from hockney.predict.evaluate import CollectiveEvaluation, evaluate, table
from hockney.predict.points import points
from hockney.records import table as tidy

BASELINES = ("linear_in_ranks", "collective_model")


def straight(algorithm: str, ranks: int, size: int, mapping: str) -> float:
    return (
        1e-6
        + {"linear": 2e-7, "binomial": 5e-8, "default": 6e-8, "odd": 9e-8}[algorithm]
        * ranks
        * (1 + size / 1e4)
        * {"core": 1, "node": 3}[mapping]
    )


def test_a_known_law_is_scored_as_exact(bcast: Callable[..., pd.DataFrame]) -> None:
    frame = bcast(straight, algorithms=["linear", "binomial", "default"])
    made = evaluate(frame, "bcast", "ranks <= 16", "ranks > 16", names=BASELINES)
    result = made.result
    # Four rank counts against two; three algorithms, three sizes, two mappings.
    assert (result.n_train, result.n_test) == (4 * 18, 2 * 18)
    row = result.judged["linear_in_ranks"]
    # Rounding of a least squares, in relation to the times.
    assert row.p95_relative_error == pytest.approx(0, abs=1e-9)
    assert (row.failed, row.regret.mean, row.regret.chosen) == (0, 0, {"binomial": 12})
    assert set(row.by_algorithm) == {"linear", "binomial", "default"}
    assert set(row.by_mapping) == {"core", "node"}
    assert result.algorithms == ["binomial", "default", "linear"]
    json.dumps(TypeAdapter(CollectiveEvaluation).dump_python(result, mode="json"), allow_nan=False)


def test_progress_begins_with_each_estimator_and_goes_on(
    simulated_table: Callable[..., pd.DataFrame], system: System
) -> None:
    told: list[tuple[float, str]] = []
    frame = simulated_table(ranks=(2, 4, 8, 16), sizes=(8, 512, 2**15, 2**17))
    operation = str(frame["operation"].iloc[0])
    evaluate(
        frame, operation, "ranks <= 8", "", names=["simulated"], system=system,
        progress=lambda share, what: told.append((share, what)),
    )  # fmt: skip
    # The baselines run beside it, unasked.
    begun = [what for share, what in told if share == 0.0 and ":" not in what]
    # The cheap ones are through, with their errors said, before what simulates begins.
    assert [what.partition(";")[0] for what in begun] == [
        *(name for name in estimators.names() if name not in ("collective_model", "simulated")),
        "collective_model",
        "simulated",
    ]
    assert " misses by " in begun[-1]
    assert " misses by " not in begun[0]
    steps = [share for share, what in told if what.startswith("simulated: calibrating;")]
    assert len(steps) > 1
    assert steps == sorted(steps)
    assert 0 < steps[0] <= steps[-1] <= 1
    assert [share for share, what in told if what.startswith("simulated: predicting;")][-1] == 1.0


class Constant:
    """A millisecond for every point but those of the library's own choice."""

    def predict(self, points: pd.DataFrame) -> Prediction:
        """The same for all, without an interval."""
        time_s = np.where(points["algorithm"] == "default", np.nan, 1e-3)
        return replace(unknown(len(points)), time_s=time_s)


@pytest.fixture
def constant(monkeypatch: pytest.MonkeyPatch) -> None:
    """`constant` among the estimators."""
    monkeypatch.setattr(estimators, "_units", dict(estimators) | {"constant": lambda _: Constant()})


@pytest.mark.usefixtures("constant")
def test_estimators_are_compared_where_both_predict(bcast: Callable[..., pd.DataFrame]) -> None:
    frame = bcast(straight, algorithms=["linear", "default"])
    result = evaluate(frame, "bcast", "ranks <= 16", "", names=("linear_in_ranks", "constant")).result
    assert result.judged["constant"].failed == 12
    assert result.n_common == 12
    assert {row.common.n_test for row in result.judged.values()} == {12}


@pytest.mark.usefixtures("constant")
def test_an_estimator_that_refuses_most_is_not_compared(bcast: Callable[..., pd.DataFrame]) -> None:
    """One number of ranks has no line: that leaves the others all their points, and one of them is the best."""
    names = ("linear_in_ranks", "constant", "gaussian_process")
    frame = bcast(straight, algorithms=["linear", "binomial", "default"])
    result = evaluate(frame, "bcast", "ranks == 16", "ranks == 32", names=names).result
    assert result.judged["linear_in_ranks"].failed == result.n_test == 18
    assert result.compared == ["constant", "gaussian_process"]
    # All but those of the library's own choice.
    assert result.n_common == 12
    assert result.best_baseline is not None
    assert result.best_baseline.name in result.compared


def test_what_the_answer_refuses_is_compared_with_nothing(
    bcast: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer predicts a third of the points. A baseline is judged by these, however few they are; the answer,
    which refuses most, is not compared with it, as no baseline is that does."""

    def of(algorithms: set[str]) -> Estimator:
        class Fitted:
            def predict(self, asked: pd.DataFrame) -> Prediction:
                time_s = np.where(asked["algorithm"].isin(algorithms), 1.0, np.nan)
                return Prediction(time_s, time_s, time_s)

        return lambda _: Fitted()

    known = {"simulated": of({"linear"}), "here": of({"linear"}), "elsewhere": of({"binomial", "default"})}
    monkeypatch.setattr(estimators, "_units", known)
    monkeypatch.setattr(estimators, "_loaded", True)
    frame = bcast(straight, algorithms=["linear", "binomial", "default"])
    result = evaluate(frame, "bcast", "ranks <= 16", "").result
    assert result.compared == ["here"]
    assert result.n_common == result.judged["simulated"].common.n_test == 12
    assert result.best_baseline is not None
    assert result.best_baseline.name == "here"


def test_what_no_estimator_predicts_is_listed(bcast: Callable[..., pd.DataFrame]) -> None:
    frame = bcast(straight, algorithms=["linear", "odd"])
    result = evaluate(
        frame, "bcast", "algorithm == 'linear' and ranks < 16", "ranks >= 16", names=BASELINES
    ).result
    assert result.algorithms == ["linear"]
    assert list(result.not_scored) == ["odd"]


def test_an_estimator_that_cannot_run_says_why(
    bcast: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(_: Training) -> FittedEstimator:
        raise EnvironmentLack("Peer is not installed", "pip install peer")

    line = {"linear_in_ranks": estimators.get("linear_in_ranks")}
    monkeypatch.setattr(estimators, "_units", line | {"peer": lacking})
    frame = bcast(straight, algorithms=["default"])
    result = evaluate(frame, "bcast", "ranks <= 16", "").result
    assert result.skipped["peer"] == "Peer is not installed (pip install peer)"
    assert result.judged["linear_in_ranks"].failed == 0


def test_an_estimator_sees_the_training_points_alone(
    bcast: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Training] = []

    class Nothing:
        def predict(self, asked: pd.DataFrame) -> Prediction:
            return Prediction(*np.full((3, len(asked)), np.nan))

    def spy(training: Training) -> FittedEstimator:
        seen.append(training)
        return Nothing()

    monkeypatch.setattr(estimators, "_units", {"spy": spy})
    monkeypatch.setattr(estimators, "_loaded", True)
    pairs = bcast(lambda *_: 1e-6, algorithms=["default"], ranks=[2], sizes=[8], mappings=["core"])
    frame = pd.concat([bcast(straight), pairs.assign(operation="pingpong", statistic="one_way")])
    evaluate(frame, "bcast", "ranks <= 16", "ranks == 64", system="described")
    assert seen[0].points["ranks"].max() == 16
    assert seen[0].points["time_s"].notna().all()
    assert seen[0].point_to_point["operation"].tolist() == ["pingpong"]
    assert (seen[0].system, seen[0].operation, seen[0].statistic) == ("described", "bcast", "mean_over_ranks")


def test_the_system_tells_how_far_apart_two_ranks_of_the_table_are(
    bcast: Callable[..., pd.DataFrame], system: System
) -> None:
    pairs = bcast(lambda *_: 1e-6, algorithms=["default"], ranks=[2], sizes=[8]).assign(
        operation="pingpong", nodes=None, ppn=None
    )
    learn = points(table := bcast(straight), "bcast").frame
    for known, expected in ((system, ["cache", "network"]), (None, ["", ""])):
        training = training_of(pd.concat([table, pairs]), learn, "bcast", "mean_over_ranks", known)
        assert training.point_to_point["locality"].tolist() == expected


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({"mappings": [""], "ppn": None}, "placed"),
        ({"sizes": [8]}, "a single size"),
        ({"ranks": [8]}, "number of ranks"),
    ],
)
def test_limits_of_the_table_are_warnings(
    bcast: Callable[..., pd.DataFrame], columns: dict[str, Any], word: str
) -> None:
    frame = bcast(lambda *_: 1e-6, **columns)
    result = evaluate(frame, "bcast", "algorithm == 'linear'", "", names=["linear_in_ranks"]).result
    assert any(word in warning for warning in result.warnings)
    json.dumps(TypeAdapter(CollectiveEvaluation).dump_python(result, mode="json"), allow_nan=False)


def test_dropped_rows_and_contradictions_are_in_the_result(bcast: Callable[..., pd.DataFrame]) -> None:
    frame = bcast(straight, repetitions=2)
    frame.loc[0, "time_s"] = 0.0
    frame["time_s"] = frame["time_s"].where(frame.index != 2, 50 * frame["time_s"])
    result = evaluate(frame, "bcast", "ranks <= 16", "", names=["linear_in_ranks"]).result
    assert result.dropped["with_a_zero_time"] == 1
    assert any("factor of 3" in warning for warning in result.warnings)


def test_the_combination_stands_beside_baselines_without_a_simulation(bcast: Callable[..., pd.DataFrame]) -> None:
    """Nor is it a baseline itself."""
    result = evaluate(bcast(straight), "bcast", "ranks <= 16", "", names=["combination"]).result
    assert {"combination", "linear_in_ranks", "interpolation"} <= set(result.models)
    assert "simulated" not in result.models
    assert result.best_baseline is not None
    assert result.best_baseline.name != "combination"


def test_unknown_names_and_expressions_are_refused(bcast: Callable[..., pd.DataFrame]) -> None:
    with pytest.raises(RequestError, match="unknown estimator 'linear'"):
        evaluate(bcast(straight), "bcast", "ranks <= 16", "", names=["linear"])
    with pytest.raises(RequestError, match="unknown column 'time_s'"):
        # To choose points by their time would be to choose the accuracy.
        evaluate(bcast(straight), "bcast", "time_s < 1", "")


def test_the_predictions_are_a_tidy_table(bcast: Callable[..., pd.DataFrame], tmp_path: Path) -> None:
    made = evaluate(bcast(straight), "bcast", "ranks <= 16", "", names=["linear_in_ranks"])
    tidy.write(table(made), tmp_path / "predictions.csv")
    again = pd.read_csv(tmp_path / "predictions.csv")
    assert len(again) == made.result.n_test
    assert again["linear_in_ranks_us"].to_numpy() == pytest.approx(again["time_us"].to_numpy(), rel=1e-9)
    assert (again["linear_in_ranks_low_us"] <= again["linear_in_ranks_high_us"]).all()
    assert len(tidy.load(tmp_path / "predictions.csv")) == len(again)


@pytest.mark.parametrize("operation", ["bcast", "reduce"])
def test_published_measurements_put_the_line_at_a_fifth(operation: str) -> None:
    made = evaluate(
        tidy.load(shared("orfeo-epyc") / "tidy.csv.gz"),
        operation,
        "ranks <= 64 and mapping in ['core', 'socket', 'node']",
        "ranks > 64 and ranks <= 254 and (mapping in ['core', 'node'] or (mapping == 'socket' and ranks <= 126))",
        statistic="mean_over_ranks",
        names=["linear_in_ranks"],
    )
    # An earlier sketch of this baseline had 17 to 20 % at three sizes; all sizes are asked for here.
    assert made.result.judged["linear_in_ranks"].median_relative_error == pytest.approx(0.2, abs=0.08)
    assert made.result.algorithms == sorted(set(made.test["algorithm"]))


def test_points_too_expensive_to_simulate_are_drawn_at_random(
    simulated_table: Callable[..., pd.DataFrame], system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both estimators are judged on the same sample, and a warning names a --test that judges all points."""
    two = {name: estimators.get(name) for name in ("linear_in_ranks", "simulated")}
    monkeypatch.setattr(estimators, "_units", two)
    frame = simulated_table(ranks=(2, 4, 8, 16), sizes=(8, 512, 2**15))
    operation = str(frame["operation"].iloc[0])

    def judged(test: str = "") -> CollectiveEvaluation:
        return evaluate(frame, operation, "ranks <= 2", test, names=["simulated"], system=system).result

    whole = judged()
    assert not [text for text in whole.warnings if "at random" in text]
    monkeypatch.setattr(evaluation, "MOST_STEPS", 300)
    result = judged()
    assert 0 < result.n_test < whole.n_test
    assert {row.n_test for row in result.judged.values()} == {result.n_test}
    (said,) = [text for text in result.warnings if "at random" in text]
    assert said.startswith(f"judged on {result.n_test} of {whole.n_test} points")
    narrower = judged(f"ranks > 2 and {said.split(chr(34))[1]}")
    assert not [text for text in narrower.warnings if "at random" in text]
    # A single point that takes longer is judged all the same.
    monkeypatch.setattr(evaluation, "MOST_STEPS", 1)
    assert judged().n_test == 1
