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


def split(**models: dict[str, Any]) -> dict[str, Any]:
    return {"models": models, "parts": {}, "n_test": 200, "n_common": 100}


@pytest.fixture
def results() -> dict[str, Any]:
    """Three splits: the answer has 1.05, 0.8 and 1.2 times the error of the strongest baseline."""
    others = {"gaussian_process": row(0.04, held=0.8), "linear_in_ranks": row(0.09, refused=0.25)}
    splits = [split(simulated=row(answer, held=0.92), **others) for answer in (0.042, 0.032, 0.048)]
    return {"bcast 5 %": {str(seed): one for seed, one in enumerate(splits)}}


def test_the_answer_stands_beside_the_strongest_baseline_and_bold_where_it_is_worse(
    results: dict[str, Any],
) -> None:
    assert (
        "| bcast 5 % | `gaussian_process` 4.0, 16 | **4.2**, **17** | – | 1.05 (0.80 to 1.20) | 50 | 92, ±30 |"
        in page(results)
    )


def test_another_baseline_may_have_the_smaller_95th_percentile() -> None:
    few_outliers = row(0.2) | {"p95_relative_error": 0.3}
    one = split(simulated=row(0.1, refused=0.51), gaussian_process=row(0.11), nearest_ranks=few_outliers)
    assert "| `gaussian_process` 11.0, 44 | 10.0, **40**; refuses 51 | – | 0.91 |" in page(
        {"reduce 64 to 254": {"1": one}}
    )


def test_no_line_is_long_but_those_of_tables() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []


def test_parts_of_a_split_are_judged_apart() -> None:
    whole = split(simulated=row(0.05), gaussian_process=row(0.1))
    whole["parts"] = {"near": {"models": {"simulated": row(0.01), "gaussian_process": row(0.02)}}}
    text = page({"bcast 64 to 254": {"1": whole}})
    assert "| bcast 64 to 254 | `gaussian_process` 10.0, 40 | 5.0, 20 |" in text
    assert "| bcast 64 to 254, near | `gaussian_process` 2.0, 8 | 1.0, 4 |" in text


def test_without_results_the_page_says_so() -> None:
    assert "(No result yet.)" in page({})
