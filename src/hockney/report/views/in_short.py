"""An entry in the lines that matter: latency, bandwidth, eager limit, level, and how far to trust them."""

from __future__ import annotations

from hockney.machine.file import Entry, Machine
from hockney.machine.formula import OVERSUBSCRIBED, bandwidth, latency
from hockney.machine.levels import level_remark
from hockney.machine.reservations import percent
from hockney.machine.select import titles
from hockney.models.base import Fit, preferred_model
from hockney.report.tables import stated_with_interval
from hockney.units import format_bytes, format_time


def as_summary(machine: Machine) -> str:
    """A heading and five lines for each entry that has a model: the preferred one of those that it has."""
    blocks = []
    entries = machine.point_to_point
    for entry, of in zip(entries, titles(entries), strict=True):
        name = preferred_model(entry.fits)
        if name is None:
            continue
        fit, limit_B = entry.fits[name], entry.eager_limit_B
        rate = bandwidth(entry, fit)
        lines = {
            "latency": stated_with_interval(latency(fit)),
            "bandwidth": stated_with_interval(rate) if rate else "none found: time does not grow with size",
            "eager limit": "not stated by the library"
            if limit_B is None
            else f"{format_bytes(limit_B)}, as the library says",
            "level": _level(entry),
            "trust": _trust(machine, entry, fit),
        }
        texts = [f"  {what:<12} {text}" for what, text in lines.items()]
        blocks.append("\n".join([f"{of} — {name}", *texts]))
    return "\n\n".join(blocks)


def _level(entry: Entry) -> str:
    if remark := level_remark(entry):
        return remark
    if entry.level is None:
        return "not known: nothing was timed as a reference"
    return f"one, with a reference of {format_time(entry.level.reference_s)}"


def _trust(machine: Machine, entry: Entry, fit: Fit) -> str:
    parts = []
    if fit.quality is not None and fit.quality.leave_one_out_median is not None:
        missed = f"a size left out is missed by {percent(fit.quality.leave_one_out_median)}"
        if fit.quality.leave_one_out_p95 is not None:
            missed += f", one in twenty by {percent(fit.quality.leave_one_out_p95)} or more"
        parts.append(missed)
    if entry.oversubscribed:
        parts.append(OVERSUBSCRIBED)
    count = len(machine.provenance.warnings)
    parts.append(f"{count} warning{'s' if count != 1 else ''} in the machine file" if count else "no warnings")
    return "; ".join(parts)
