"""An entry in the lines that matter: latency, bandwidth, eager limit, level, and how far to trust them."""

from __future__ import annotations

from hockney.machine.file import Entry, Machine
from hockney.machine.formula import OVERSUBSCRIBED, bandwidth, latency
from hockney.machine.levels import level_remark
from hockney.machine.measured import MeasuredPair, Throughput, beside_pairs, measured_pair
from hockney.models.base import Fit, Parameter, preferred_model
from hockney.report.tables import stated_with_interval
from hockney.units import counted, format_bytes, percent

MOST_LINES = 8
"""Of effects and collectives."""


def as_summary(machine: Machine) -> str:
    """A heading and a few lines for each entry that has a model: what was measured, and how far to trust it."""
    entries = machine.point_to_point
    blocks = []
    for entry in entries:
        name = preferred_model(entry.fits)
        if name is None:
            continue
        pair, fit = measured_pair(entry, entries), entry.fits[name]
        texts = [f"  {what:<12} {text}" for what, text in _lines(entry, fit, pair).items() if text]
        blocks.append("\n".join([pair.name, *texts]))
    lines = beside_pairs(machine)
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"and {len(lines) - MOST_LINES} more: --format formulas"]
    return "\n\n".join([*blocks, *(["\n".join(lines)] if lines else [])])


def _lines(entry: Entry, fit: Fit, pair: MeasuredPair) -> dict[str, str]:
    if pair.peak is None or pair.largest is None:
        rate = bandwidth(entry, fit)
        bandwidths = {"bandwidth": stated_with_interval(rate) if rate else "time does not grow with size"}
    else:
        bandwidths = {"peak": _measured(pair.peak), "largest": _measured(pair.largest)}
    stated_latency = pair.latency_s or (None if pair.peak else latency(fit))
    at = "" if pair.smallest_B is None or stated_latency is None else f" at {format_bytes(pair.smallest_B)}"
    return {
        "latency": _known(stated_latency) + at,
        **bandwidths,
        "eager limit": "" if entry.eager_limit_B is None else format_bytes(entry.eager_limit_B),
        "speed": level_remark(entry),
        "model": _trust(entry, fit),
    }


def _known(parameter: Parameter | None) -> str:
    return "" if parameter is None else stated_with_interval(parameter)


def _measured(throughput: Throughput) -> str:
    return f"{stated_with_interval(throughput.rate)} at {format_bytes(throughput.size_B)}"


def _trust(entry: Entry, fit: Fit) -> str:
    quality = fit.quality
    parts = [f"{fit.model}, {counted(len(fit.regimes), 'regime')}" if len(fit.regimes) > 1 else fit.model]
    if quality is not None and quality.leave_one_out_median is not None:
        missed = f"misses a hidden size by {percent(quality.leave_one_out_median)}"
        p95 = quality.leave_one_out_p95
        parts.append(missed if p95 is None else f"{missed} in the median, {percent(p95)} in P95")
    if entry.oversubscribed:
        parts.append(OVERSUBSCRIBED)
    return "; ".join(parts)
