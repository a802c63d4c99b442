"""Messages between two ranks on a page: headline numbers, answers, and a section for each operation."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from hockney.machine.formula import formulas, latency
from hockney.machine.levels import level_remark
from hockney.machine.measured import measured_pair
from hockney.models._evaluate import predicted_apart
from hockney.models.base import Fit, Parameter, preferred_model
from hockney.models.over_ranks.choice import Time, fastest
from hockney.report import figures, tables
from hockney.report.curves import LOCALITY_WORDS, MessageCurve, by_crowd, by_operation, file_name, headline
from hockney.report.drawing import Drawing
from hockney.report.figures import Context
from hockney.report.findings import Finding, Verdict, certainty, faster_in_words, ratios
from hockney.report.page import MEANING, Contribution, Section, SectionPart
from hockney.report.reading import Reading
from hockney.report.tables import stated_with_interval
from hockney.units import format_bytes, format_time, grouped

DETAILED = 8
"""Most curves of an operation that are each drawn with all fits; more are drawn without them."""
CROWD = 8
"""Most curves in one figure."""
SHORT_B, LONG_B = 1024, 65536
"""Messages up to the first, and from the second on, are compared."""
BELOW_PEAK = 1.5
"""The largest message is said where the bandwidth of another is so many times higher."""
ONE_BY_ONE = ("pingpong", "pingping")
"""Operations whose time of a short message is a latency; of windows it is the rate of messages."""
RIVALS = {"system": {}, "mpi": {"mpi"}, "variant": {"variant", "transport"}, "mapping": {"mapping", "locality"}}
"""What is compared, the first that differs, and what goes with it; systems differ in all."""


def contribution(reading: Reading) -> Contribution:
    """The headline of each curve of the first operation, and the sections of all operations."""
    groups = by_operation(reading.curves)
    first = next(iter(groups.values()))
    result = Contribution(headlines=[head for curve in first if (head := headline(curve, reading.context.peaks))])
    for operation, group in groups.items():
        reading.progress(f"drawing {operation}")
        part = section(operation, group, reading.context)
        # On a page about an application, messages are what explains it.
        part.findings += [
            *of_transports(operation, group),
            *of_rivals(operation, group, operation),
            *of_curve(group[0], operation, 0.95 if group is first and not reading.contents.apps else 0.5),
        ]
        if reading.is_alone and group is first:
            # A card says what a message costs there, before what effects cost.
            part.findings += [found for curve in _ends(group)[1:] for found in of_curve(curve, operation, 0.93)]
        result.sections.append(part)
    return result


def published(selection: Sequence[MessageCurve]) -> Contribution:
    """What was published of messages, as formulas."""

    def fit_of(curve: MessageCurve) -> Fit:
        return curve.fits[preferred_model(curve.fits) or ""]

    meaning = "Nothing of these was measured here: they are models that were published."
    columns: list[tables.Column[MessageCurve]] = [
        tables.Column("operation", lambda curve: curve.operation, is_text=True),
        tables.Column("configuration", lambda curve: curve.label, is_text=True),
        tables.Column("model", lambda curve: "; ".join(formulas(fit_of(curve))), is_text=True),
    ]
    result = Section("published", "Messages, as published", meaning)
    result.tables = [tables.table("T(n), n bytes", selection, columns)]
    notes = [note for curve in selection for note in (*curve.entry.notes, *fit_of(curve).notes)]
    result.note = ". ".join(dict.fromkeys(notes))
    for place, curve in enumerate(_ends(selection)):
        result.findings += of_curve(curve, "published", 0.95 - 0.02 * place)
    return Contribution([result])


def _ends(group: Sequence[MessageCurve]) -> list[MessageCurve]:
    """Of the first operation the first curve of the nearest ranks, and of the farthest where these are others."""
    of_localities = grouped(by_operation(group)[group[0].operation], lambda curve: curve.entry.locality)
    firsts = [curves[0] for curves in of_localities.values()]
    return [*firsts[:1], *firsts[1:][-1:]]


def section(operation: str, selection: Sequence[MessageCurve], context: Context) -> Section:
    """All curves of the operation: what was measured, the check of sizes left out, and each in detail.

    More than `DETAILED` curves are drawn without their fits.
    """
    result = Section(operation, operation.capitalize(), MEANING.get(operation, ""))
    result.more = "All models, residuals, sizes left out, parameters, points"
    by_system: dict[str, MessageCurve] = {}
    for curve in selection:
        by_system.setdefault(curve.system, curve)
    if len(by_system) > 1:
        result.figures.append(_of_systems(operation, [*by_system.values()], context))
    if len(by_system) == 1 or len(selection) > len(by_system):
        for group, members in by_crowd(selection, CROWD).items():
            for number, start in enumerate(range(0, len(members), CROWD)):
                shown = members[start : start + CROWD]
                name = file_name("-".join([operation, group, *([str(number + 1)] if start else [])]))
                title = f"{operation}, {group}" if group else operation
                if len(members) > CROWD:
                    ends = "" if group else f": {shown[0].label} … {shown[-1].label}"
                    title += f" ({number + 1} of {-(-len(members) // CROWD)}{ends})"
                result.figures.append(figures.overview(name, title, shown, context))
    result.tables.append(tables.summary(selection, lambda curve: _shares(curve, context)))
    if operation in ONE_BY_ONE and (estimates := tables.by_estimator(selection)).rows:
        result.tables.append(estimates)
    if apart := predicted_apart([(curve.series, curve.fits) for curve in selection]):
        result.check = figures.held_out(operation, operation, apart, context)
    if len(selection) > DETAILED:
        result.note = (
            f"{len(selection)} configurations are too many to draw each with every fit here; "
            "`hockney report … --figure FOLDER` writes those figures."
        )
    result.parts = [_part(curve, context, drawn=len(selection) <= DETAILED) for curve in selection]
    return result


def _shares(curve: MessageCurve, context: Context) -> str:
    """How much of each peak was reached, in words."""
    head = headline(curve, context.peaks)
    return ", ".join(f"{share} of {name}" for name, share in head.shares) if head else ""


def _of_systems(operation: str, curves: Sequence[MessageCurve], context: Context) -> Drawing:
    """A curve for each system, the first that it has, in one figure."""
    places: dict[str, list[str]] = {}
    for curve in curves:
        places.setdefault(LOCALITY_WORDS.get(curve.entry.locality or "", "unknown"), []).append(curve.system)
    several = "; ".join(f"{place}: {', '.join(names)}" for place, names in places.items())
    where = f"Ranks were on {several}." if len(places) > 1 else ""
    return figures.overview(
        f"{operation}-systems", f"{operation}, a curve for each system", curves, context, where
    )


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
    remarks = [level_remark(curve.entry)] if curve.entry.other_levels else []
    fit_notes = [f"{model}: {note}" for model, fit in curve.fits.items() for note in fit.notes]
    part.notes = [*remarks, *curve.entry.notes, *fit_notes]
    return part


def of_curve(curve: MessageCurve, anchor: str, weight: float) -> list[Finding]:
    """Latency, the highest bandwidth, and that of the largest message where it is far below: all as measured."""
    pair, where = measured_pair(curve.entry), f"{curve.operation}, {curve.label}"
    found: list[Finding] = []

    def add(known: Parameter, text: str, name: str, verdict: Verdict | None = None) -> None:
        judged = verdict or certainty(known.value, known.low, known.high)
        stated = text.format(stated_with_interval(known))
        found.append(Finding(f"{where}: {stated}.", anchor, weight - 0.01 * len(found), name, judged))

    fit = curve.fits.get(preferred_model(curve.fits) or "")
    if not curve.entry.measurements.points and fit is not None:
        add(latency(fit), "the latency is {}, as published", "latency")
        if (rate := curve.bandwidth(fit)) is not None:
            add(rate, "the bandwidth is {}, as published", "bandwidth")
    if pair.latency_s is not None and curve.operation in ONE_BY_ONE:
        add(pair.latency_s, f"the latency is {{}}, at {format_bytes(pair.smallest_B or 0)}", "latency")
    if pair.peak is not None and pair.largest is not None:
        add(pair.peak.rate, f"the peak bandwidth is {{}}, at {format_bytes(pair.peak.size_B)}", "bandwidth")
        if pair.largest.rate.value * BELOW_PEAK < pair.peak.rate.value:
            size = format_bytes(pair.largest.size_B)
            add(pair.largest.rate, f"the largest message, {size}, reaches only {{}}", "bandwidth", "look")
    return found


def of_rivals(operation: str, group: Sequence[MessageCurve], anchor: str) -> list[Finding]:
    """How many times faster the fastest system, library, variant or mapping is than each other, by size."""
    found = []
    for name, along in RIVALS.items():
        alike = [curve for curve in group if not along or _besides(curve, along) == _besides(group[0], along)]
        rivals: dict[str, MessageCurve] = {}
        for curve in filter(lambda curve: curve.words.get(name), alike):
            rivals.setdefault(curve.words[name], curve)
        if len(rivals) < 2:
            continue
        for weight, kind, sizes in ((0.97, "long", (LONG_B, np.inf)), (0.96, "short", (0, SHORT_B))):
            points = {
                title: rows
                for title, curve in rivals.items()
                if len(rows := curve.points[curve.points["bytes"].between(*sizes)])
            }
            common = set.intersection(*(set(rows["bytes"]) for rows in points.values())) if points else set()
            held = {title: rows[rows["bytes"].isin(common)] for title, rows in points.items()}
            ordered = sorted(held, key=lambda title: float(held[title]["time_s"].median())) if common else []
            for place, title in enumerate(ordered[1:]):
                rows = ratios(held[ordered[0]], held[title], ["bytes"])
                said = faster_in_words(title, ordered[0], rows)
                text = f"{operation}, {kind} messages: {said}."
                found.append(Finding(text, anchor, weight - 0.005 * place, f"{kind} messages"))
        if not along:
            break
    return found


def of_transports(operation: str, group: Sequence[MessageCurve]) -> list[Finding]:
    """The fastest library and transport for the smallest and the largest message, at each place with three.

    By the rule of `fastest`; two are rivals alone.
    """
    by_place: dict[tuple[str, ...], list[MessageCurve]] = {}
    for curve in group:
        by_place.setdefault(tuple(_besides(curve, ("mpi", *RIVALS["variant"])).values()), []).append(curve)
    found: list[Finding] = []
    for curves in by_place.values():
        common = set.intersection(*(set(curve.points["bytes"]) for curve in curves))
        for size_B in sorted({min(common), max(common)} if common and len(curves) > 2 else ()):
            times = {}
            for curve in curves:
                (row,) = curve.points[curve.points["bytes"] == size_B].itertuples()
                name = ", ".join(curve.words[key] for key in ("mpi", "variant") if key in curve.words)
                times[name] = Time.of(row.time_s, row.low_s, row.high_s)
            first, slowest_s = fastest(times), max(time.time_s for time in times.values())
            best_s = times[first.best].time_s
            ties = f" ({len(first.ties)} are as fast)" if first.ties else ""
            said = f"no transport of {len(times)} is faster than the others by more than chance"
            if is_told := len(first.ties) + 1 < len(times):
                said = (
                    f"{first.best} is fastest of {len(times)} transports, with {format_time(best_s)}{ties}; the "
                    f"slowest takes {slowest_s / best_s:.3g} × as long"
                )
            text = f"{operation}, {curves[0].place}, {format_bytes(size_B)}: {said}."
            verdict: Verdict = "good" if is_told else "look"
            found.append(Finding(text, operation, 0.98 - 0.001 * len(found), "transports", verdict))
    return found


def _besides(curve: MessageCurve, along: Collection[str]) -> dict[str, str]:
    """What is held in a curve besides these."""
    return {key: text for key, text in curve.words.items() if key not in along}
