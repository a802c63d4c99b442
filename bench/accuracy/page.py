"""docs/reference/accuracy.md from the results and the template beside this file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from textwrap import fill
from typing import Any

from bench.accuracy.questions import PAIRS, QUESTIONS
from jinja2 import Environment, FileSystemLoader, StrictUndefined

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "accuracy.md"
RESULTS = ROOT / "docs" / "reference" / "accuracy.json"
EVERY_SECOND = "every second size"
ANSWERS = ("piecewise", "simulated")
"""Our models; all others are baselines."""
BEYOND = [
    name for name, question in QUESTIONS.items() if question.system == "orfeo-epyc" and len(question.seeds) == 1
]
"""Questions of one fit each."""
MOST_WORSE = 1.1
"""What the answer's median error may be of that of the strongest baseline."""

Results = Mapping[str, Mapping[str, Any]]
Figures = Mapping[str, tuple[float, float]]
"""Median and 95th percentile by model."""


def page(results: Results) -> str:
    """The page in Markdown; tables whose questions have no result say so."""
    folder = FileSystemLoader(Path(__file__).parent)
    surroundings = Environment(
        loader=folder, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    inside = {f"{operation} 5 %": operation for operation in ("bcast", "reduce")}
    text = surroundings.get_template("page.md.j2").render(
        sizes=_sizes(results),
        sizes_verdict=_verdict("piecewise, corrected", {name: _drawn(results, name) for name in PAIRS}),
        inside=_table({words: _over_splits(_drawn(results, name), median) for name, words in inside.items()}),
        inside_verdict=_verdict("simulated", {words: _drawn(results, name) for name, words in inside.items()}),
        sizes_held=_held(results, PAIRS, "piecewise, corrected"),
        inside_held=_held(results, inside, "simulated"),
        beyond=_beyond(results),
        beyond_held=_held(results, BEYOND, "simulated"),
        pico=_pico(results),
    )
    return re.sub(r"\n{3,}", "\n\n", text)


def _drawn(results: Results, name: str) -> dict[str, Any]:
    """The splits of a question that were drawn at random."""
    return {label: split for label, split in results.get(name, {}).items() if label != EVERY_SECOND}


def _sizes(results: Results) -> str:
    rows: dict[str, Figures] = {}
    for name in PAIRS:
        if EVERY_SECOND in results.get(name, {}):
            rows[f"{name}, {EVERY_SECOND}"] = _figures(results[name][EVERY_SECOND]["models"])
        rows[f"{name}, at random"] = _over_splits(_drawn(results, name), mean)
    return _table(rows)


def _beyond(results: Results) -> str:
    rows: dict[str, Figures] = {}
    for name in BEYOND:
        if not results.get(name):
            continue
        [split] = results[name].values()
        rows[name] = _figures(split["models"])
        rows |= {f"{name}, {part}": _figures(models) for part, models in split["parts"].items()}
    return _table(rows)


def _held(results: Results, names: Iterable[str], answer: str) -> str:
    """Share of the points that the answer's 95 % intervals hold, the least and the largest over the splits."""
    parts = []
    for name in names:
        held = [split["models"][answer].get("coverage_95") for split in results.get(name, {}).values()]
        known = sorted(share for share in held if share is not None)
        if known:
            least, most = percent(known[0], digits=0), percent(known[-1], digits=0)
            shares = least if least == most else f"{least.removesuffix(' %')} to {most}"
            parts.append(f"{shares} of the points of *{name}*")
    text = f"The 95 % intervals of `{answer}` held {', '.join(parts)}."
    return fill(text, 120, break_on_hyphens=False) if parts else ""


def _pico(results: Results) -> str:
    """The table of the questions on MareNostrum 5; empty as long as none has a result."""
    named = {name.split()[0]: results[name] for name in QUESTIONS if "marenostrum5" in name and results.get(name)}
    return _table({words: _over_splits(splits, median) for words, splits in named.items()}) if named else ""


def _over_splits(splits: Mapping[str, Any], pooled: Any) -> Figures:
    """Mean or median of the figures of each model over the splits in which it ran."""
    of_model: dict[str, list[tuple[float, float]]] = {}
    for split in splits.values():
        for model, figures in _figures(split["models"]).items():
            of_model.setdefault(model, []).append(figures)
    return {
        model: (pooled([a for a, _ in both]), pooled([b for _, b in both])) for model, both in of_model.items()
    }


def _figures(models: Mapping[str, Any]) -> Figures:
    return {
        model: (row["median_relative_error"], row["p95_relative_error"])
        for model, row in models.items()
        if row["median_relative_error"] is not None
    }


def _is_baseline(model: str) -> bool:
    return not model.startswith(ANSWERS)


def _table(rows: Mapping[str, Figures]) -> str:
    """Median and P95 of each model in a column, the strongest baseline of a row in bold; ours last."""
    rows = {title: row for title, row in rows.items() if row}
    models = sorted(
        {model for row in rows.values() for model in row}, key=lambda name: (not _is_baseline(name), name)
    )
    lines = [["", *(f"`{name}`" for name in models)], ["---"] * (len(models) + 1)]
    for title, row in rows.items():
        best = min((name for name in row if _is_baseline(name)), key=lambda name: row[name][0], default="")
        lines.append([title, *(_cell(row.get(name), bold=name == best) for name in models)])
    return _markdown(lines) if models else "(No result yet.)"


def _cell(figures: tuple[float, float] | None, *, bold: bool) -> str:
    if figures is None:
        return "–"
    text = f"{percent(figures[0])}, {percent(figures[1], digits=0)}"
    return f"**{text}**" if bold else text


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _verdict(answer: str, named: Mapping[str, Mapping[str, Any]]) -> str:
    """How the answer's median error compares with the strongest baseline's, over the splits and in each."""
    sentences = []
    for words, splits in named.items():
        if not splits:
            continue
        ratios = [_ratio(answer, _figures(split["models"])) for split in splits.values()]
        held = sum(ratio <= MOST_WORSE for ratio in ratios)
        over_all = _ratio(answer, _over_splits(splits, mean))
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}; at most {MOST_WORSE} times in {held}"
        sentences.append(f"{words}: {over_all:.2f} times, over {len(ratios)} splits ({spread})")
    text = f"The median error of `{answer}`, beside that of the strongest baseline: {'; '.join(sentences)}."
    return fill(text, 120, break_on_hyphens=False) if sentences else ""


def _ratio(answer: str, figures: Figures) -> float:
    return figures[answer][0] / min(figures[name][0] for name in figures if _is_baseline(name))


def _markdown(lines: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
