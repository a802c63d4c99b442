"""`hockney evaluate --train --test`: one JSON object, a table to read, files beside it, a line for a mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.command_line import outcome

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


@pytest.fixture
def hockney(tidy: Path) -> Any:
    def run(*arguments: str, operation: str = "bcast") -> tuple[int, str, str]:
        return outcome("evaluate", tidy, "--operation", operation, *arguments)

    return run


def test_json_has_the_promised_shape(hockney: Any) -> None:
    code, out, _ = hockney("--train", "ranks <= 16", "--test", "ranks > 16", "--json")
    result = json.loads(out)
    assert code == 0
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


def test_the_best_baseline_comes_first_in_text_and_json(hockney: Any) -> None:
    code, out, _ = hockney("--train", "ranks <= 16", "--test", "ranks > 16")
    assert code == 0
    # What the library chose by itself has no schedule.
    assert out.splitlines()[0] == "best baseline: linear_in_ranks, median error 0.0% on 16 points of 24 (66.7%)"
    rows = [line.split()[0] for line in out.splitlines() if line.count("%") >= 3]
    assert rows[0] == "linear_in_ranks"
    result = json.loads(hockney("--train", "ranks <= 16", "--test", "ranks > 16", "--json")[1])
    assert result["best_baseline"]["name"] == "linear_in_ranks"


def test_a_baseline_is_named_though_another_predicts_nothing(hockney: Any) -> None:
    """One number of ranks has no line in the number of ranks."""
    code, out, _ = hockney("--train", "ranks == 16", "--test", "ranks == 32")
    assert code == 0
    assert out.splitlines()[0].startswith("best baseline: ")
    assert "not compared: linear_in_ranks: it predicts 0 of 12 points" in out


def test_an_answer_that_refuses_most_is_not_compared(hockney: Any, tidy: Path) -> None:
    own = {"binomial": "authors_own", "default": "authors_other"}
    pd.read_csv(tidy).replace({"algorithm": own}).to_csv(tidy, index=False)
    code, out, _ = hockney("--train", "ranks <= 16", "--test", "ranks == 32")
    assert code == 0
    assert out.splitlines()[0].endswith("on 4 points of 12 (33.3%)")
    assert "not compared: simulated: it predicts 4 of 12 points; median on the 4 points of 12 (33.3%) that" in out
    assert (
        "simulated"
        not in json.loads(hockney("--train", "ranks <= 16", "--test", "ranks == 32", "--json")[1])["compared"]
    )


def test_sizes_in_proportion_to_the_ranks_end_no_evaluation(hockney: Any, tidy: Path) -> None:
    """They lie on a line in logarithms, but for the rounding: nothing is between them."""
    frame = pd.read_csv(tidy)
    frame = frame[(frame["operation"] == "bcast") & frame["ranks"].isin([2, 4, 8, 16])]
    frame["ranks"] = frame["ranks"].map({2: 24, 4: 25, 8: 48, 16: 96})
    frame["bytes"] = 10**6 * frame["ranks"]
    frame.to_csv(tidy, index=False)
    code, out, _ = hockney("--train", "ranks <= 48", "--model", "interpolation")
    assert (code, "interpolation" in out) == (0, True)


def test_errors_of_simulated_never_stand_without_the_baselines(hockney: Any) -> None:
    result = json.loads(hockney("--train", "ranks <= 16", "--model", "simulated", "--json")[1])
    assert set(result["models"]) > {"simulated", "linear_in_ranks", "gaussian_process", "textbook_hockney"}
    alone = json.loads(hockney("--train", "ranks <= 16", "--model", "linear_in_ranks", "--json")[1])
    assert set(alone["models"]) == {"linear_in_ranks"}


def test_the_seed_of_a_sample_is_an_option(hockney: Any) -> None:
    def rest(*options: str) -> Any:
        only = ("--model", "linear_in_ranks", "--json")
        return json.loads(hockney("--train", "sample(0.5)", *only, *options)[1])

    assert rest()["n_train"] + rest()["n_test"] == 72
    assert rest("--seed", "5")["seed"] == 5
    assert rest("--seed", "5")["models"] != rest()["models"]
    assert rest("--seed", "1")["models"] == rest()["models"]


def test_text_names_models_and_what_was_scored(hockney: Any) -> None:
    code, out, err = hockney("--train", "ranks <= 16", "--by", "mapping")
    assert code == 0
    assert "4 times" in err
    for word in (
        "linear_in_ranks",
        "textbook_hockney",
        "  core",
        "regret",
        "points have no closed form",
        "48 points",
        "all predict",
    ):
        assert word in out


def test_files(hockney: Any, tmp_path: Path) -> None:
    files = ("--predictions", str(tmp_path / "p.csv"), "--figure", str(tmp_path / "f.svg"))
    code, out, _ = hockney("--train", "ranks <= 16", "--model", "linear_in_ranks", "--json", *files)
    assert code == 0
    assert len(pd.read_csv(tmp_path / "p.csv")) == json.loads(out)["n_test"]
    assert (tmp_path / "f.svg").stat().st_size > 0


def test_a_system_is_looked_up(hockney: Any) -> None:
    code, out, _ = hockney("--train", "ranks <= 16", "--system", "orfeo-epic", "--json")
    assert code == 2
    assert "orfeo-epyc" in json.loads(out)["error"]["hint"]
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
        (["--train", "mapping == 3"], "cannot be compared"),
        (["--train", "ranks <= 16", "--model", "piecewise"], "unknown estimator"),
        (["--train", "ranks <= 16", "--statistic", "mean_over_ranks"], "mean_over_ranks"),
        (["--train", "ranks <= 16", "--by", "ranks"], "--by"),
        (["--train", "ranks <= 16", "--figure", "f.pdf"], "f.pdf"),
        (["--train", "ranks <= 16", "--predictions", "p.txt"], "p.txt"),
        (["--by", "mapping"], "--by needs --train"),
        (["--model", "linear_in_ranks", "--train", " "], "linear_in_ranks needs --train"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(hockney: Any, arguments: list[str], word: str) -> None:
    code, out, _ = hockney(*arguments, "--json")
    assert code == 2
    error = json.loads(out)["error"]
    assert error["kind"] == "request"
    assert word in error["message"]
    assert error["hint"]


def test_point_to_point_is_not_split_by_expression(hockney: Any) -> None:
    code, out, _ = hockney("--train", "ranks <= 16", "--json", operation="pingpong")
    assert code == 2
    assert "point to point" in json.loads(out)["error"]["message"]
    assert hockney("--json", operation="pingpong")[0] == 0
