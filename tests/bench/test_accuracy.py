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


def row(median: float) -> dict[str, Any]:
    return {"median_relative_error": median, "p95_relative_error": 4 * median}


@pytest.fixture
def results() -> dict[str, Any]:
    """Two splits: the answer has 1.05 and 1.2 times the error of the strongest baseline."""
    models = [
        {"simulated": row(answer), "gaussian_process": row(0.04), "linear_in_ranks": row(0.09)}
        for answer in (0.042, 0.048)
    ]
    return {"bcast 5 %": {str(seed): {"models": of_it} for seed, of_it in enumerate(models)}}


def test_the_strongest_baseline_is_bold_and_the_answer_is_held_against_it(results: dict[str, Any]) -> None:
    text = " ".join(page(results).split())
    assert "| bcast | **4.0 %, 16 %** | 9.0 %, 36 % | 4.5 %, 18 % |" in text
    # (0.042 + 0.048) / 2 over 0.04.
    assert "bcast: 1.12 times, over 2 splits (1.05 to 1.20; at most 1.1 times in 1)" in text


def test_without_results_the_page_says_so() -> None:
    assert "(No result yet.)" in page({})
