"""docs/reference/accuracy.md from the results and the template beside this file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.accuracy.questions import BEYOND, ELSEWHERE, PAIRS, WITHIN
from jinja2 import Environment, FileSystemLoader, StrictUndefined

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "accuracy.md"
RESULTS = ROOT / "docs" / "reference" / "accuracy.json"
EVERY_SECOND = "every second size"
ANSWERS = ("piecewise", "simulated")
"""Our models; all others are baselines."""

Results = Mapping[str, Mapping[str, Any]]
Splits = Mapping[str, Any]
"""Results of a question by split."""
Rows = Mapping[str, Mapping[str, Any]]
"""Results of a split by model."""


@dataclass(frozen=True)
class Figures:
    """Of a model: median error (its median over splits, least and most), P95, share of points that it refuses,
    share that its intervals hold and their median half-width (None without intervals), medians over splits."""

    median: float
    least: float
    most: float
    p95: float
    refused: float
    held: float | None
    half_width: float | None


def page(results: Results) -> str:
    """The page in Markdown; tables whose questions have no result say so."""
    folder = FileSystemLoader(Path(__file__).parent)
    surroundings = Environment(
        loader=folder, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    sizes = {
        f"{name}, {words}": splits
        for name in PAIRS
        for words, splits in ((EVERY_SECOND, _every_second(results, name)), ("at random", _drawn(results, name)))
    }
    groups = {
        words: _with_parts({name: _drawn(results, name) for name in group})
        for words, group in (("within", WITHIN), ("beyond", BEYOND), ("elsewhere", ELSEWHERE))
    }
    return surroundings.get_template("page.md.j2").render(
        sizes=_table(sizes, "piecewise, corrected", "piecewise"),
        **{words: _table(named, "simulated", "simulated, not corrected") for words, named in groups.items()},
    )


def _drawn(results: Results, name: str) -> dict[str, Any]:
    """The splits of a question but the one that holds out every second size."""
    return {label: split for label, split in results.get(name, {}).items() if label != EVERY_SECOND}


def _every_second(results: Results, name: str) -> dict[str, Any]:
    return {label: split for label, split in results.get(name, {}).items() if label == EVERY_SECOND}


def _with_parts(named: Mapping[str, Splits]) -> dict[str, Splits]:
    """Questions, and after each its parts."""
    whole: dict[str, Splits] = {}
    for name, splits in named.items():
        whole[name] = splits
        parts = dict.fromkeys(part for split in splits.values() for part in split["parts"])
        for part in parts:
            whole[f"{name}, {part}"] = {label: split["parts"][part] for label, split in splits.items()}
    return whole


def _figures(splits: Splits) -> dict[str, Figures]:
    """Of each model that has an error in every split."""
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for split in splits.values():
        for model, row in split["models"].items():
            if row["median_relative_error"] is not None:
                rows.setdefault(model, []).append(row)
    return {model: _over(of_it) for model, of_it in rows.items() if len(of_it) == len(splits)}


def _over(rows: Sequence[Mapping[str, Any]]) -> Figures:
    def known(name: str) -> list[float]:
        return [float(row[name]) for row in rows if row.get(name) is not None]

    medians = known("median_relative_error")
    held, half_width = known("coverage_95"), known("median_half_width")
    return Figures(
        median(medians),
        min(medians),
        max(medians),
        median(known("p95_relative_error")),
        median(known("refused")),
        median(held) if held else None,
        median(half_width) if half_width else None,
    )


def _is_baseline(model: str) -> bool:
    return not model.startswith(ANSWERS)


def _table(named: Mapping[str, Splits], answer: str, readable: str) -> str:
    """A row for each question: the strongest baseline, the answer and its readable part.

    Errors are the median and the 95th percentile in %, medians over splits; bold where a baseline's is smaller.
    """
    rows = [_row(title, splits, answer, readable) for title, splits in named.items() if splits]
    if not rows:
        return "(No result yet.)"
    heads = ["", "strongest baseline", f"`{answer}`", f"`{readable}`", "ratio", "judge, %", "held, %"]
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    return "\n".join([lines[0], "|---" * len(heads) + "|", *lines[1:]])


def _row(title: str, splits: Splits, answer: str, readable: str) -> list[str]:
    figures = _figures(splits)
    baselines = {model: of_it for model, of_it in figures.items() if _is_baseline(model)}
    best = min(baselines, key=lambda model: baselines[model].median)
    ours = figures[answer]
    least_p95 = min(of_it.p95 for of_it in baselines.values())
    middle, late = number(ours.median), number(ours.p95, 0)
    middle = f"**{middle}**" if ours.median > baselines[best].median else middle
    late = f"**{late}**" if ours.p95 > least_p95 else late
    refused = f"; refuses {number(ours.refused, 0)}" if ours.refused else ""
    width = "" if ours.half_width is None else f", ±{number(ours.half_width, 0)}"
    return [
        title,
        f"`{best}` {_errors(baselines[best])}",
        f"{middle}, {late}{refused}",
        _errors(figures[readable]) if readable in figures else "–",
        _ratios(answer, splits),
        _judging(splits),
        "–" if ours.held is None else f"{number(ours.held, 0)}{width}",
    ]


def _errors(figures: Figures) -> str:
    return f"{number(figures.median)}, {number(figures.p95, 0)}"


def number(share: float, digits: int = 1) -> str:
    """A share in %, without the sign."""
    return f"{100 * share:.{digits}f}"


def _ratios(answer: str, splits: Splits) -> str:
    """The answer's median error over that of the strongest baseline of the same split."""
    ratios = sorted(_ratio(answer, split["models"]) for split in splits.values())
    middle = f"{median(ratios):.2f}"
    return f"{middle} ({ratios[0]:.2f} to {ratios[-1]:.2f})" if len(ratios) > 1 else middle


def _judging(splits: Splits) -> str:
    """The share of the test points that judge: those that all models predict that are compared."""
    shares = [
        split.get("n_common", split["n_test"]) / split["n_test"] for split in splits.values() if "n_test" in split
    ]
    return number(median(shares), 0) if shares else "–"


def _ratio(answer: str, models: Rows) -> float:
    baselines = [
        row["median_relative_error"]
        for name, row in models.items()
        if _is_baseline(name) and row["median_relative_error"] is not None
    ]
    return float(models[answer]["median_relative_error"] / min(baselines))
