"""`hockney evaluate --train --test`: one JSON object, a table to read, files beside it, a line for a mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.command_line import Run, answer, refusal

from hockney import api
from hockney.records import table

ROW = {"system": "s", "mpi": "m", "nodes": 2, "statistic": "completion", "repetition": 0}


@pytest.fixture
def tidy(tmp_path: Path) -> Path:
    """Broadcasts whose times are straight lines in the number of ranks, and a ping-pong."""
    rows = [
        ROW
        | {
            "operation": "bcast", "algorithm": algorithm, "mapping": mapping, "ppn": ranks // 2, "ranks": ranks,
            "bytes": size, "time_s": (2 + slope * ranks * (1 + size / 1e4)) * 1e-6,
        }
        for algorithm, slope in (("linear", 0.3), ("binomial", 0.1), ("default", 0.2))
        for mapping in ("core", "node")
        for ranks in (2, 4, 8, 16, 32, 64)
        for size in (8, 1024)
    ]  # fmt: skip
    pair = {"operation": "pingpong", "algorithm": "default", "mapping": "core", "ppn": 1, "ranks": 2}
    rows += [
        ROW | pair | {"bytes": size, "statistic": "one_way", "time_s": (1 + size) * 1e-6} for size in (1, 2, 4)
    ]
    table.write(pd.DataFrame(rows), tmp_path / "tidy.csv")
    return tmp_path / "tidy.csv"


EVALUATED: dict[str, Any] = {}
"""What was evaluated already: printing it as text and as JSON takes one evaluation."""


@pytest.fixture
def hockney(tidy: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    evaluate = api.evaluate_options

    def once(options: Any, *more: Any) -> Any:
        asked = tidy.read_text(encoding="utf-8") + options.model_dump_json(exclude={"campaign"})
        if asked not in EVALUATED:
            EVALUATED[asked] = evaluate(options, *more)
        return EVALUATED[asked]

    monkeypatch.setattr(api, "evaluate_options", once)
    return Run("evaluate", tidy, "--operation", "bcast")


WHOLE = ("--train", "ranks <= 16", "--test", "ranks > 16", "--by", "mapping", "--model", "simulated")


def test_json_has_the_promised_shape(hockney: Run) -> None:
    result = hockney.answers(*WHOLE)
    assert (result["operation"], result["statistic"]) == ("bcast", "completion")
    assert (result["train"], result["test"]) == ("ranks <= 16", "ranks > 16")
    assert (result["n_train"], result["n_test"]) == (48, 24)
    assert result["algorithms"] == ["binomial", "default", "linear"]
    row = result["models"]["linear_in_ranks"]
    for key in ("median_relative_error", "p90_relative_error", "p95_relative_error"):
        assert row[key] < 1e-9
    assert set(row["regret"]) >= {"mean", "p95", "max", "share_above_10_percent", "instances"}
    assert row["regret"]["instances"] == 8
    assert set(row["by_mapping"]) == {"core", "node"}
    assert set(result["references"]) == {"default", "best_in_training"}
    # Errors of what answers never stand without the baselines.
    assert set(result["models"]) > {"simulated", "linear_in_ranks", "gaussian_process", "collective_model"}
    assert result["best_baseline"]["name"] == "linear_in_ranks"


@pytest.mark.usefixtures("wide")
def test_the_best_baseline_comes_first_and_text_says_what_was_scored(hockney: Run) -> None:
    code, out, err = hockney(*WHOLE)
    assert code == 0
    assert "4 times" in err
    first = out.splitlines()[0]
    assert first.startswith("simulated: off by ")
    assert first.endswith("The strongest baseline, linear_in_ranks: 0 %, on 24 points of 24 (100 %).")
    rows = [line.split()[0] for line in out.splitlines()[1:] if line.count("%") >= 3]
    assert rows[0] == "linear_in_ranks"
    for word in ("collective_model", "  core", "regret", "48 points"):
        assert word in out


def test_medians_of_the_points_that_all_predict_are_said(hockney: Run) -> None:
    """Of the default two numbers of ranks were trained: a line has it, a formula needs more."""
    few = "ranks <= 16 and (algorithm != 'default' or ranks <= 4)"
    models = ("--model", "linear_in_ranks", "--model", "collective_model")
    assert "median on the 16 points of 32 (50 %) that all predict" in hockney.prints("--train", few, *models)


def test_a_baseline_is_named_though_another_predicts_nothing(hockney: Run) -> None:
    """One number of ranks has no line in the number of ranks."""
    out = hockney.prints("--train", "ranks == 16", "--test", "ranks == 32", "--model", "combination")
    assert "The strongest baseline, " in out.splitlines()[0]
    assert "not compared: linear_in_ranks: it predicts 0 of 12 points" in out


def test_sizes_in_proportion_to_the_ranks_end_no_evaluation(hockney: Run, tidy: Path) -> None:
    """They lie on a line in logarithms, but for the rounding: nothing is between them."""
    frame = pd.read_csv(tidy)
    frame = frame[(frame["operation"] == "bcast") & frame["ranks"].isin([2, 4, 8, 16])]
    frame["ranks"] = frame["ranks"].map({2: 24, 4: 25, 8: 48, 16: 96})
    frame["bytes"] = 10**6 * frame["ranks"]
    frame.to_csv(tidy, index=False)
    code, out, _ = hockney("--train", "ranks <= 48", "--model", "interpolation")
    assert (code, "interpolation" in out) == (0, True)


def test_a_sample_names_its_seed(hockney: Run) -> None:
    def rest(sample: str) -> Any:
        return hockney.answers("--train", sample, "--model", "linear_in_ranks")

    usual = rest("sample(0.5)")
    assert usual["n_train"] + usual["n_test"] == 72
    assert rest("sample(0.5, seed=5)")["models"] != usual["models"]
    assert rest("sample(0.5, seed=1)")["models"] == usual["models"]


def test_files(hockney: Run, tmp_path: Path) -> None:
    files = ("--output", str(tmp_path / "p.csv"), "--figure", str(tmp_path / "f.svg"))
    told = hockney.answers("--train", "ranks <= 16", "--model", "linear_in_ranks", *files)
    assert set(told["models"]) == {"linear_in_ranks"}
    assert len(pd.read_csv(tmp_path / "p.csv")) == told["n_test"]
    assert (tmp_path / "f.svg").stat().st_size > 0


def test_a_system_is_looked_up(hockney: Run) -> None:
    assert "orfeo-epyc" in hockney.explains("--train", "ranks <= 16", "--system", "orfeo-epic")
    only = ("--model", "linear_in_ranks", "--json")
    assert hockney("--train", "ranks <= 16", "--system", "orfeo-epyc", *only)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--train", "rnks <= 16"], "rnks"),
        (["--train", "ranks < 1"], "selects none"),
        (["--train", "ranks > 1"], "--test selects none"),
        (["--train", "ranks <= 16", "--test", "ranks >= 16"], "are in both"),
        (["--train", "ranks <="], "cannot be read"),
        (["--train", "mapping == 3"], "selects none"),
        (["--train", "ranks <= 16", "--model", "piecewise"], "unknown estimator"),
        (["--train", "ranks <= 16", "--statistic", "mean_over_ranks"], "mean_over_ranks"),
        (["--train", "ranks <= 16", "--by", "ranks"], "--by"),
        (["--train", "ranks <= 16", "--figure", "f.pdf"], "f.pdf"),
        (["--train", "ranks <= 16", "--output", "p.txt", "--model", "linear_in_ranks"], "p.txt"),
        (["--by", "mapping"], "--by needs --train"),
        (["--model", "linear_in_ranks", "--train", " "], "linear_in_ranks needs --train"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(hockney: Run, arguments: list[str], word: str) -> None:
    assert word in hockney.explains(*arguments)


def test_point_to_point_is_not_split_by_expression(tidy: Path) -> None:
    words = ("evaluate", tidy, "--operation", "pingpong")
    assert "point to point" in refusal(*words, "--train", "ranks <= 16")
    answer(*words)


def test_a_figure_of_no_known_form_is_refused_before_anything_is_evaluated(
    hockney: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hockney.api.evaluation._evaluated", None)
    assert hockney("--train", "ranks <= 16", "--figure", "f.pdf")[0] == 2
