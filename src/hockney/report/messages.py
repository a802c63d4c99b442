"""Messages between two ranks on a page: headline numbers, answers, and a section for each operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from hockney.machine.levels import level_remark
from hockney.models._evaluate import HeldOut, predicted_apart
from hockney.models.base import Fit, predict, preferred_model
from hockney.records.columns import SCALE
from hockney.report import figures, tables
from hockney.report.curves import (
    LOCALITY_WORDS,
    Headline,
    MessageCurve,
    by_crowd,
    by_operation,
    file_name,
    headline,
    in_turn,
)
from hockney.report.figures import Context
from hockney.report.findings import Finding, ratios, ratios_in_words
from hockney.report.marks import percent
from hockney.report.page import MEANING, Contribution, Section, SectionPart
from hockney.report.reading import Reading
from hockney.report.tables import stated_with_interval
from hockney.units import format_bytes, format_rate, format_time

MOST_HEADLINES = 16
MOST_NAMED = 12
"""Most configurations that are named because they are not shown."""
DETAILED = 8
"""Most curves of an operation that are each drawn with all fits; more are drawn without them."""
CROWD = 8
"""Most curves in one figure."""
MOST_CURVES = 3
"""Configurations of an operation of which latency and bandwidth are said."""
NEAR = 1.5
"""A break of the fit within this ratio of the library's limit is that of the limit."""
BESIDE = 4.0
"""A size within this ratio of a break must have been measured on each side of it, or its step is a guess."""
STEP = 1.1
"""Ratio of the times after and before a break from which it is called a step, up or down."""


def contribution(reading: Reading) -> Contribution:
    """The headline of each curve of the first operation, and the sections of all operations."""
    groups = by_operation(reading.curves)
    first = next(iter(groups.values()))
    every = [head for curve in first if (head := headline(curve, reading.context.peaks))]
    headlines = in_turn(every, MOST_HEADLINES)
    result = Contribution(headlines=headlines, omitted=left_out(headlines, every, reading.curves))
    for operation, group in groups.items():
        reading.progress(f"drawing {operation}")
        part = section(operation, group, reading.context)
        if headlines and operation == headlines[0].operation:
            part.findings += of_headlines(headlines)
            part.findings += of_models(operation, part.held_out, headlines[0].model)
        part.findings += of_mappings(operation, group)
        result.sections.append(part)
    return result


def left_out(shown: Sequence[Headline], heads: Sequence[Headline], curves: Sequence[MessageCurve]) -> str:
    """What stands below and not in the headline; empty if nothing does."""
    sentences = []
    if len(shown) < len(heads):
        listed = {id(head) for head in shown}
        missing = [head.label for head in heads if id(head) not in listed]
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        sentences.append(
            f"{len(shown)} of {len(heads)} configurations, of every place some; not here: "
            f"{'; '.join(missing[:MOST_NAMED])}{more}."
        )
    first = heads[0].operation if heads else ""
    others = list(dict.fromkeys(curve.operation for curve in curves if first and curve.operation != first))
    if others:
        sentences.append(f"Also measured: {', '.join(others)}.")
    return " ".join(sentences)


def section(operation: str, selection: Sequence[MessageCurve], context: Context) -> Section:
    """All curves of the operation: figures of several, the check of sizes left out, and each in detail.

    More than `DETAILED` curves are drawn without their fits.
    """
    result = Section(
        operation, operation.capitalize(), MEANING.get(operation, ""), folded=len(selection) > DETAILED
    )
    if len(selection) > 1:
        for group, members in by_crowd(selection, CROWD).items():
            for number, start in enumerate(range(0, len(members), CROWD)):
                shown = members[start : start + CROWD]
                name = file_name("-".join([operation, group, *([str(number + 1)] if start else [])]))
                title = f"{operation}, {group}" if group else operation
                if len(members) > CROWD:
                    ends = "" if group else f": {shown[0].label} … {shown[-1].label}"
                    title += f" ({number + 1} of {-(-len(members) // CROWD)}{ends})"
                result.figures.append(figures.overview(name, title, shown, context))
    result.held_out = predicted_apart([(curve.series, curve.fits) for curve in selection])
    if result.held_out:
        result.check = figures.held_out(operation, operation, result.held_out, context)
    if result.folded:
        model = preferred_model(name for curve in selection for name in curve.fits) or ""
        result.tables.append(tables.summary(selection, model))
        result.note = (
            f"{len(selection)} configurations are too many to draw each with every fit here; "
            "`hockney report … --figure FOLDER` writes those figures."
        )
    result.parts = [_part(curve, context, drawn=not result.folded) for curve in selection]
    return result


def _part(curve: MessageCurve, context: Context, *, drawn: bool) -> SectionPart:
    words = LOCALITY_WORDS.get(curve.entry.locality or "", "")
    part = SectionPart(curve.name, f"{curve.label} — {words}" if words else curve.label, tables.points(curve))
    if curve.fits:
        if drawn:
            part.figures = [figures.with_fits(curve, context), figures.residuals(curve, context)]
        part.tables = [
            table for kind in (tables.regimes, tables.quality, tables.named) if (table := kind(curve.entry))
        ]
    part.overheads = tables.overheads(curve)
    fit_notes = [f"{model}: {note}" for model, fit in curve.fits.items() for note in fit.notes]
    part.notes = [*filter(None, [level_remark(curve.entry)]), *curve.entry.notes, *fit_notes]
    return part


def of_headlines(headlines: Sequence[Headline]) -> list[Finding]:
    """Latency and bandwidth of the first configurations, and what becomes of a message at the eager limit."""
    found = []
    for place, head in enumerate(headlines[:MOST_CURVES]):
        curve = head.curve
        anchor = _anchor(curve, len(headlines))
        where = f"{curve.operation}, {curve.label}"
        text = f"{where}: an empty message takes {stated_with_interval(head.latency_s.parameter)}"
        if head.bandwidth_B_per_s is not None:
            text += f", and long ones approach {stated_with_interval(head.bandwidth_B_per_s.parameter)}"
        text += f", by the model {head.model}{_largest(curve, curve.fits[head.model])}."
        found.append(Finding(text, anchor, 0.95 - 0.1 * place))
        if place == 0 and (step := _eager(curve, curve.fits[head.model])):
            found.append(Finding(f"{where}: {step}", anchor, 0.75))
    return found


def of_models(operation: str, held_out: Mapping[str, HeldOut], model: str) -> list[Finding]:
    """How far the preferred model is off on sizes that it has not seen, beside the strongest baseline."""
    if model not in held_out:
        return []
    ours = held_out[model]
    others = {name: result.median for name, result in held_out.items() if name != model}
    others["lines between the neighbouring sizes"] = ours.between
    baseline = min(others, key=lambda name: others[name])
    off, least = percent(ours.median), percent(others[baseline])
    # What is equal as it is shown is told as equal.
    verdict = "as much as" if off == least else "less than" if ours.median < others[baseline] else "more than"
    return [
        Finding(
            f"{operation}: on sizes that it has not seen, {model} is off by {off} in the "
            f"median (95 % of them by less than {percent(ours.p95)}), {verdict} the strongest baseline, "
            f"{baseline}, with {least}.",
            f"figure-{operation}-held-out",
            0.8,
        )
    ]


def of_mappings(operation: str, group: Sequence[MessageCurve]) -> list[Finding]:
    """What a message costs with each further mapping beside the first, at the same locality if both have it."""
    by_kind: dict[str, dict[str, list[MessageCurve]]] = {}
    for curve in group:
        by_kind.setdefault(curve.kind, {}).setdefault(curve.entry.mapping, []).append(curve)
    found = []
    for by_mapping in by_kind.values():
        (first, base), *others = by_mapping.items()
        for mapping, own in others:
            pairs = [(beside, curve) for curve in own if (beside := _at_same(curve, base)) is not None]
            if not pairs:
                continue
            rows = pd.concat([ratios(beside.points, curve.points, ["bytes"]) for beside, curve in pairs])
            if not first or not mapping or rows.empty:
                continue
            apart = [
                text
                for key, text in own[0].words.items()
                if key not in ("locality", "mapping", *SCALE) and any(one.words.get(key) != text for one in group)
            ]
            what = ", ".join([operation, *apart])
            said = ratios_in_words(_mapped(mapping, own), _mapped(first, [beside for beside, _ in pairs]), rows)
            share = float(rows["is_told"].mean())
            found.append(Finding(f"{what}: {said}.", operation, 0.75 + 0.15 * share, "mappings"))
    return found


def _at_same(curve: MessageCurve, base: Sequence[MessageCurve]) -> MessageCurve | None:
    """Of those of as many ranks and nodes the one at the same locality, else the first, if there is one."""
    alike = [one for one in base if all(one.words.get(key) == curve.words.get(key) for key in SCALE)]
    same = [one for one in alike if one.entry.locality == curve.entry.locality]
    return next(iter(same or alike), None)


def _mapped(mapping: str, own: Sequence[MessageCurve]) -> str:
    places = dict.fromkeys(curve.entry.locality for curve in own if curve.entry.locality)
    return f"mapping {mapping}" + (f" ({', '.join(places)})" if places else "")


def _largest(curve: MessageCurve, fit: Fit) -> str:
    """What the largest message says, where its interval does not hold what the model says; else empty."""
    size_B, low_s, high_s = curve.size_B[-1], curve.low_s[-1], curve.high_s[-1]
    (predicted_s,) = predict(fit, [size_B])
    if size_B <= 0 or high_s <= low_s or low_s <= predicted_s <= high_s:
        return ""
    times_s = np.array([curve.time_s[-1], high_s, low_s, predicted_s])
    measured, low, high, modelled = (format_rate(rate) for rate in curve.throughput(size_B, times_s))
    return (
        f"; {format_bytes(int(size_B))}, the largest measured, came to {measured} (95 %: {low} to {high}), where "
        f"the model says {modelled}"
    )


def _anchor(curve: MessageCurve, curves: int) -> str:
    """The figure of the curve's fits where the page draws it, else its operation."""
    return f"figure-{curve.name}-fits" if curves <= MOST_CURVES else curve.operation


def _eager(curve: MessageCurve, fit: Fit) -> str:
    """What the fit does at the limit that the library reports; empty where it reports none."""
    limit_B = curve.entry.eager_limit_B
    if not limit_B:
        return ""
    said = f"the library sends messages of up to {format_bytes(limit_B)} eagerly"
    ends = [regime.max_B for regime in fit.regimes if regime.max_B]
    near = [end for end in ends if limit_B / NEAR <= end <= limit_B * NEAR]
    if not near:
        return f"{said}; the fit has no break there."
    at_B = min(near, key=lambda end: abs(np.log(end / limit_B)))
    ratios = curve.size_B / at_B
    if not ((ratios >= 1 / BESIDE) & (ratios <= 1)).any() or not ((ratios > 1) & (ratios <= BESIDE)).any():
        return f"{said}; too few sizes near it were measured to say what the time does there."
    before_s, after_s = predict(fit, [at_B, np.nextafter(at_B, np.inf)])
    ratio = float(after_s / before_s)
    if 1 / STEP < ratio < STEP:
        return f"{said}; the fit changes there without a step (× {ratio:.2f})."
    if not _is_told(curve, fit, at_B, is_rise=ratio > 1):
        return (
            f"{said}; whether the time steps there cannot be told: the fit has × {ratio:.2f}, which the "
            "intervals of the sizes beside it do not show."
        )
    return f"{said}; there the time steps from {format_time(before_s)} to {format_time(after_s)} (× {ratio:.2f})."


def _is_told(curve: MessageCurve, fit: Fit, at_B: float, *, is_rise: bool) -> bool:
    """Whether the sizes on either side of a break are apart beyond their intervals and what the line grows there.

    A fall must be in the times themselves: that a line which rises steeply ends above the next time is none.
    """
    sides = [curve.points["bytes"] <= at_B, curve.points["bytes"] > at_B]
    before, after = curve.points[sides[0]].tail(1), curve.points[sides[1]].head(1)
    # What the line before the break would come to at the size beyond it.
    regime = next(one for one in fit.regimes if one.max_B == at_B)
    at_s, beyond_s = (
        regime.alpha_s.value + regime.beta_s_per_B.value * float(side["bytes"].iloc[0])
        for side in (before, after)
    )
    growth = beyond_s / at_s if is_rise else 1.0
    grown = before.assign(**{name: before[name] * growth for name in ("time_s", "low_s", "high_s")})
    rows = ratios(grown, after, ["operation"])
    return bool((rows["is_told"] & ((rows["ratio"] > 1) == is_rise)).all())
