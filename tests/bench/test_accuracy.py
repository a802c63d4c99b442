"""The page of accuracy is what its script makes of the results, and README quotes nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from bench.accuracy.page import PAGE, RESULTS, ROOT, page

FIGURE = re.compile(r"\d+(?:\.\d+)? %")


def test_the_page_is_made_of_its_results() -> None:
    made = page(json.loads(RESULTS.read_text(encoding="utf-8")))
    assert made == PAGE.read_text(encoding="utf-8"), "run bench/accuracy"


def test_readme_quotes_only_what_stands_there_with_a_baseline() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    quoted = FIGURE.findall(" ".join(readme.split()))
    stands = set(FIGURE.findall(" ".join(PAGE.read_text(encoding="utf-8").split())))
    assert quoted
    assert set(quoted) <= stands
    assert "interpolation" in readme


def row(median: float, refused: float = 0.0, held: float | None = None) -> dict[str, Any]:
    return {
        "median_relative_error": median,
        "p95_relative_error": 4 * median,
        "coverage_95": held,
        "median_half_width": None if held is None else 0.3,
        "n_test": 100,
        "refused": refused,
    }


def split(seconds: int, lacking: dict[str, Any] | None = None, **models: dict[str, Any]) -> dict[str, Any]:
    counts = {"n_test": 200, "n_common": 100}
    return {"seconds": seconds, "models": models, "parts": {}, "lacking": lacking or {}, **counts}


@pytest.fixture
def results() -> dict[str, Any]:
    """Three splits: the answer has 1.05, 0.8 and 1.2 times the error of the strongest baseline."""
    others = {"gaussian_process": row(0.04, held=0.8), "linear_in_ranks": row(0.09, refused=0.25)}
    splits = [
        split(60 * minutes, simulated=row(answer, held=0.9 + minutes / 100), **others)
        for minutes, answer in ((1, 0.042), (2, 0.032), (4, 0.048))
    ]
    return {"bcast 5 %": {str(seed): one for seed, one in enumerate(splits)}}


def test_the_strongest_baseline_is_bold_and_the_answer_is_held_against_it(results: dict[str, Any]) -> None:
    text = " ".join(page(results).split())
    assert "| bcast 5 % | **4.0 %, 16 %** | 9.0 %, 36 %; refuses 25.0 % | 4.2 % (3.2 to 4.8 %), 17 % |" in text, (
        "medians of the splits and their range"
    )
    assert "bcast 5 %: 1.05 times in the median of 3 splits (0.80 to 1.20; at most 1.1 times in 2)" in text
    assert "times in 2) on 100 of 200 points (50 %)." in text


def test_a_missed_bar_is_said(results: dict[str, Any]) -> None:
    assert "at most 1.1 times in 2) on" in " ".join(page(results).split())
    for one in results["bcast 5 %"].values():
        one["models"]["gaussian_process"] = row(0.03)
    assert "at most 1.1 times in 1), more than 1.1, on" in " ".join(page(results).split())


def test_intervals_stand_beside_those_of_the_baselines(results: dict[str, Any]) -> None:
    text = " ".join(page(results).split())
    assert (
        "| | `gaussian_process` | `simulated` | | --- | --- | --- | | bcast 5 % | 80 %, ±30 % | 92 %, ±30 % |"
        in text
    )


def test_the_page_says_how_long_a_split_takes(results: dict[str, Any]) -> None:
    assert "One of these splits took 1.0 to 4.0 minutes" in " ".join(page(results).split())


def test_a_baseline_that_refuses_most_is_given_both_ways() -> None:
    few = {
        "linear_in_ranks": {
            "refused": 0.85,
            "n_test": 15,
            "models": {"linear_in_ranks": row(0.02), "simulated": row(0.03)},
        },
        "interpolation": {"refused": 1.0, "n_test": 0, "models": {}},
    }
    one = split(60, few, simulated=row(0.05), gaussian_process=row(0.1))
    text = " ".join(page({"bcast 32 to 64": {"1": one}}).split())
    assert "| bcast 32 to 64 | **10.0 %, 40 %** | 5.0 %, 20 % |" in text
    assert "`linear_in_ranks` 15 of 100 in *bcast 32 to 64* (there 2.0 %, `simulated` 3.0 %)" in text
    assert "; `interpolation` none in *bcast 32 to 64*." in text


def test_an_answer_that_refuses_most_is_judged_apart() -> None:
    one, other = (
        split(60, simulated=row(error, refused), gaussian_process=row(0.1))
        for error, refused in ((0.05, 0.5), (0.02, 0.51))
    )
    text = " ".join(page({"bcast 32 to 64": {"1": one}, "reduce 32 to 64": {"1": other}}).split())
    assert "of the same split: bcast 32 to 64: 0.50 times on 100 of 200 points (50 %)." in text
    assert "`simulated` itself refuses most" in text
    assert "no more than an example: reduce 32 to 64: 0.20 times on 100 of 200 points (50 %)." in text


def test_each_row_in_which_the_answer_is_worse_is_named_for_both_measures() -> None:
    few_outliers = row(0.2) | {"p95_relative_error": 0.3}
    near, far = split(60, simulated=row(0.1), gaussian_process=row(0.09)), split(60, simulated=row(0.1))
    far["models"] |= {"gaussian_process": row(0.11), "nearest_ranks": few_outliers}
    far["parts"] = {"best": {"models": {"simulated": row(0.1), "nearest_ranks": row(0.2)}}}
    text = " ".join(page({"bcast 32 to 64": {"1": near}, "reduce 64 to 254": {"1": far}}).split())
    assert "best one of a baseline in 1 of 3 rows: *bcast 32 to 64* (10.0 %, `gaussian_process` 9.0 %)." in text
    named = "*bcast 32 to 64* (40 %, `gaussian_process` 36 %), *reduce 64 to 254* (40 %, `nearest_ranks` 30 %)."
    assert (
        f"95th percentile of `simulated` is worse than the best one of a baseline in 2 of 3 rows: {named}" in text
    )
    near["models"]["simulated"] = row(0.01)
    text = " ".join(page({"bcast 32 to 64": {"1": near}}).split())
    assert text.count("is worse than the best one of a baseline nowhere in this table.") == 2


def test_no_line_is_long_but_those_of_tables() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []


def test_a_model_that_cannot_be_fitted_to_all_series_is_named() -> None:
    one = {
        "seconds": 1,
        "n_series": 8,
        "n_test": 88,
        "series_failed": {"loggp": 6},
        "models": {"piecewise, corrected": row(0.02), "interpolation": row(0.03)},
    }
    text = " ".join(page({"OSU": {"every second size": one}}).split())
    assert "`loggp` cannot be fitted to 6 of 8 series of *OSU*." in text


def test_parts_of_a_split_are_judged_apart() -> None:
    whole = split(60, simulated=row(0.05), gaussian_process=row(0.1))
    whole["parts"] = {"near": {"models": {"simulated": row(0.01), "gaussian_process": row(0.02)}}}
    text = page({"bcast 64 to 254": {"1": whole}})
    assert "| bcast 64 to 254 | **10.0 %, 40 %** | 5.0 %, 20 % |" in text
    assert "| bcast 64 to 254, near | **2.0 %, 8 %** | 1.0 %, 4 % |" in text


def test_without_results_the_page_says_so() -> None:
    assert "(No result yet.)" in page({})
