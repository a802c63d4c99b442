"""docs/reference/accuracy.md from the results and the template beside this file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from textwrap import fill
from typing import Any

from bench.accuracy.questions import BEYOND, ELSEWHERE, PAIRS, WITHIN
from jinja2 import Environment, FileSystemLoader, StrictUndefined

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "accuracy.md"
RESULTS = ROOT / "docs" / "reference" / "accuracy.json"
EVERY_SECOND = "every second size"
ANSWERS = ("piecewise", "simulated")
"""Our models; all others are baselines."""
MOST_WORSE = 1.1
"""What the answer's median error may be of that of the strongest baseline."""
MOST_REFUSED = 0.5
"""The share of points that a model may refuse and still be compared."""

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
        words: {name: _drawn(results, name) for name in group}
        for words, group in (("within", WITHIN), ("beyond", BEYOND), ("elsewhere", ELSEWHERE))
    }
    text = surroundings.get_template("page.md.j2").render(
        sizes=_table(sizes),
        sizes_failed=_failed(results),
        sizes_verdict=_verdict("piecewise, corrected", {name: _drawn(results, name) for name in PAIRS}),
        sizes_held=_intervals(sizes),
        **{name: _verdicts(splits) for name, splits in groups.items()},
    )
    return re.sub(r"\n{3,}", "\n\n", text)


def _verdicts(named: Mapping[str, Splits]) -> dict[str, str]:
    """What the page says of the questions of one kind."""
    whole = _with_parts(named)
    return {
        "table": _table(whole),
        "verdict": _verdict("simulated", named),
        "worse": _worse("simulated", whole),
        "held": _intervals(whole),
        "lacking": _lacking(named),
        "minutes": _minutes(named),
        "points": _common(named),
    }


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


def _order(model: str) -> tuple[bool, str]:
    """Baselines first."""
    return not _is_baseline(model), model


def _table(named: Mapping[str, Splits]) -> str:
    """Errors of each model in a column, the strongest baseline of a row in bold; ours last."""
    rows = {title: _figures(splits) for title, splits in named.items()}

    def cell(title: str, model: str) -> str:
        best = min(filter(_is_baseline, rows[title]), key=lambda name: rows[title][name].median, default="")
        text = _errors(rows[title][model])
        return f"**{text}**" if model == best else text

    return _grid(rows, cell)


def _intervals(named: Mapping[str, Splits]) -> str:
    """What the 95 % intervals of each model hold, and their median half-width."""
    rows = {
        title: {model: figures for model, figures in _figures(splits).items() if figures.held is not None}
        for title, splits in named.items()
    }

    def cell(title: str, model: str) -> str:
        figures = rows[title][model]
        width = "" if figures.half_width is None else f", ±{percent(figures.half_width, digits=0)}"
        return f"{percent(figures.held or 0.0, digits=0)}{width}"

    return _grid(rows, cell)


def _grid(rows: Mapping[str, Mapping[str, Figures]], cell: Callable[[str, str], str]) -> str:
    titles = [title for title, row in rows.items() if row]
    models = sorted({model for title in titles for model in rows[title]}, key=_order)
    if not models:
        return "(No result yet.)"
    lines = [["", *(f"`{name}`" for name in models)], ["---"] * (len(models) + 1)]
    lines += [
        [title, *(cell(title, name) if name in rows[title] else "–" for name in models)] for title in titles
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _errors(figures: Figures) -> str:
    spread = f" ({percent(figures.least)} to {percent(figures.most)})" if figures.least < figures.most else ""
    refused = f"; refuses {percent(figures.refused)}" if figures.refused else ""
    return f"{percent(figures.median)}{spread.replace(' % to', ' to')}, {percent(figures.p95, digits=0)}{refused}"


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _verdict(answer: str, named: Mapping[str, Splits]) -> str:
    """How the answer's median error compares with the strongest baseline's of each split, and on which points.

    Where the answer itself refuses most points, that is said apart."""
    judged: list[str] = []
    few: list[str] = []
    for words, splits in named.items():
        if splits:
            refused = median(split["models"][answer]["refused"] for split in splits.values())
            (few if refused > MOST_REFUSED else judged).append(f"{words}: {_compared(answer, splits)}")
    start = f"The median error of `{answer}`, beside that of the strongest baseline of the same split"
    apart = (
        f"Of the points of the others `{answer}` itself refuses most, so that it is not compared. The same "
        "ratio, on the few points that judge, is no more than an example"
    )
    paragraphs = [f"{words}: {'; '.join(texts)}." for words, texts in ((start, judged), (apart, few)) if texts]
    return "\n\n".join(_filled(text) for text in paragraphs)


def _compared(answer: str, splits: Splits) -> str:
    ratios = sorted(_ratio(answer, split["models"]) for split in splits.values())
    text = f"{median(ratios):.2f} times"
    if len(ratios) > 1:
        held = sum(ratio <= MOST_WORSE for ratio in ratios)
        text += (
            f" in the median of {len(ratios)} splits ({ratios[0]:.2f} to {ratios[-1]:.2f}; "
            f"at most {MOST_WORSE} times in {held})"
        )
    if median(ratios) > MOST_WORSE:
        text += f", more than {MOST_WORSE},"
    return f"{text} on {_points(splits)}"


def _points(splits: Splits) -> str:
    """How many of the test points judge: those that all models predict that are compared."""
    every = [split["n_test"] for split in splits.values()]
    common = [split.get("n_common", split["n_test"]) for split in splits.values()]
    if common == every:
        return f"all {_span(every)} points"
    shares = [round(100 * one / all_) for one, all_ in zip(common, every, strict=True)]
    return f"{_span(common)} of {_span(every)} points ({_span(shares)} %)"


def _span(counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _worse(answer: str, named: Mapping[str, Splits]) -> str:
    """Each row in which the answer is worse than a baseline, by the median error and by the 95th percentile."""
    rows = {title: row for title, splits in named.items() if answer in (row := _figures(splits))}
    if not rows:
        return ""
    sentences = []
    for measure, words, digits in (("median", "median error", 1), ("p95", "95th percentile", 0)):
        found = []
        for title, row in rows.items():
            error = {model: getattr(figures, measure) for model, figures in row.items()}
            best = min(filter(_is_baseline, error), key=error.__getitem__)
            if error[answer] > error[best]:
                both = (percent(error[model], digits) for model in (answer, best))
                found.append(f"*{title}* (" + f", `{best}` ".join(both) + ")")
        where = f"in {len(found)} of {len(rows)} rows: {', '.join(found)}" if found else "nowhere in this table"
        sentences.append(f"The {words} of `{answer}` is worse than the best one of a baseline {where}.")
    return _filled(" ".join(sentences))


def _ratio(answer: str, models: Rows) -> float:
    baselines = [
        row["median_relative_error"]
        for name, row in models.items()
        if _is_baseline(name) and row["median_relative_error"] is not None
    ]
    return float(models[answer]["median_relative_error"] / min(baselines))


def _lacking(named: Mapping[str, Splits]) -> str:
    """What baselines that refuse most points do on the others, beside the answer: medians over the splits."""
    some: list[str] = []
    nothing: dict[str, list[str]] = {}
    for title, splits in named.items():
        for name in sorted({name for split in splits.values() for name in split["lacking"]}):
            having = [split for split in splits.values() if split["lacking"].get(name, {}).get("models")]
            if not having:
                nothing.setdefault(name, []).append(title)
                continue
            lacking = [split["lacking"][name] for split in having]
            own, ours = (
                percent(median(one["models"][model]["median_relative_error"] for one in lacking))
                for model in (name, "simulated")
            )
            count, common = _span([one["n_test"] for one in lacking]), _span([one["n_common"] for one in having])
            some.append(f"`{name}` {count} of {common} in *{title}* (there {own}, `simulated` {ours})")
    some += [
        f"`{name}` none" if len(titles) == len(named) else f"`{name}` none in {_and(titles)}"
        for name, titles in nothing.items()
    ]
    start = (
        "Not compared, because they predict less than half of what `simulated` predicts "
        "(here: of the points that judge)"
    )
    return _filled(f"{start}: {'; '.join(some)}.") if some else ""


def _and(titles: Sequence[str]) -> str:
    *first, last = (f"*{title}*" for title in titles)
    return f"{', '.join(first)} and {last}" if first else last


def _failed(results: Results) -> str:
    """The models that are not compared because they cannot be fitted to all series."""
    most: dict[str, list[str]] = {}
    for name in PAIRS:
        splits = _every_second(results, name).values()
        for model, count, series in (
            (model, count, split["n_series"])
            for split in splits
            for model, count in split["series_failed"].items()
        ):
            most.setdefault(model, []).append(f"{count} of {series} series of *{name}*")
    parts = [f"`{model}` cannot be fitted to {' and '.join(counts)}" for model, counts in most.items()]
    return _filled(f"{'; '.join(parts)}.") if parts else ""


def _common(named: Mapping[str, Splits]) -> str:
    """How many points all models predict that are compared."""
    counts = [split["n_common"] for splits in named.values() for split in splits.values()]
    return f"{min(counts)} to {max(counts)}" if counts else "(not run yet)"


def _minutes(named: Mapping[str, Splits]) -> str:
    """How long the splits took."""
    seconds = [split["seconds"] for splits in named.values() for split in splits.values()]
    return f"{min(seconds) / 60:.1f} to {max(seconds) / 60:.1f} minutes" if seconds else "(not run yet)"


def _filled(text: str) -> str:
    return fill(text, 120, break_on_hyphens=False, break_long_words=False)
