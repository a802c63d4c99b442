"""The section of messages: one operation between pairs of ranks, at all places."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.machine.levels import level_remark
from hockney.models.base import preferred_model
from hockney.report import figures, tables
from hockney.report.curves import LOCALITY_WORDS, MessageCurve, by_crowd, file_name
from hockney.report.figures import Context
from hockney.report.held_out import check
from hockney.report.page import MEANING, Section, SectionPart

DETAILED = 8
"""Most curves of an operation that are each drawn with all fits; more are drawn without them."""
CROWD = 8
"""Most curves in one figure."""


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
    result.held_out = check(selection)
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
            table for table in (tables.regimes(curve), tables.quality(curve), tables.named(curve)) if table
        ]
    part.overheads = tables.overheads(curve)
    fit_notes = [f"{model}: {note}" for model, fit in curve.fits.items() for note in fit.notes]
    part.notes = [*filter(None, [level_remark(curve.entry)]), *curve.entry.notes, *fit_notes]
    return part
