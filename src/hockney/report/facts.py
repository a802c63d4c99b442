"""What a reader wants first: the headline numbers of each kind of pair, and what to be careful about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hockney.campaign.record import Record
from hockney.machine import summary
from hockney.machine.formula import formulas
from hockney.models.base import Fit, Parameter
from hockney.report.curves import Curve
from hockney.report.marks import Peak, percent
from hockney.samples.table import quietest
from hockney.units import format_bytes, format_rate, format_time

PREFERRED = ("piecewise", "hockney")
"""Models the headline is read from, best first."""

DISTURBED_SHARE = 0.05
LAUNCH_SPREAD = 0.05
"""Shares above which the page warns: of samples set aside, and (max − min) / median over launches."""
LEVEL_CHANGE = 1.25
"""Ratio of two visits of one point, beyond their intervals, above which the page warns."""


@dataclass(frozen=True)
class Headline:
    """One curve in numbers. `bandwidth_B_per_s` is for n → ∞, all pairs and both directions together."""

    curve: Curve
    model: str
    latency_s: Parameter
    bandwidth_B_per_s: Parameter | None
    n_half_B: Parameter | None
    formulas: list[str]
    fastest_B_per_s: float
    fastest_at_B: float
    peaks: list[tuple[Peak, float]]

    def as_json(self) -> dict[str, Any]:
        """Plain data; intervals are [low, high] or null."""
        entry = self.curve.entry
        return {
            "operation": entry.operation,
            "locality": entry.locality,
            "variant": entry.variant,
            "label": self.curve.label,
            "model": self.model,
            "latency_s": _plain(self.latency_s),
            "bandwidth_B_per_s": _plain(self.bandwidth_B_per_s),
            "n_half_B": _plain(self.n_half_B),
            "eager_limit_B": entry.eager_limit_B,
            "formulas": self.formulas,
            "highest_throughput_B_per_s": self.fastest_B_per_s,
            "peaks": {peak.name: share for peak, share in self.peaks},
            "text": self.text,
        }

    @property
    def shares(self) -> list[tuple[str, str]]:
        """Name of each peak and the share of it that was reached, as text."""
        return [(peak.label(self.curve.directions), percent(share)) for peak, share in self.peaks]

    @property
    def text(self) -> str:
        """The line a person would say."""
        parts = [f"latency {format_time(self.latency_s.value)}"]
        if self.bandwidth_B_per_s is not None:
            parts.append(f"bandwidth {format_rate(self.bandwidth_B_per_s.value)}")
        if self.n_half_B is not None:
            parts.append(f"n½ {format_size(self.n_half_B.value)}")
        parts += [f"{share} of {name}" for name, share in self.shares]
        return f"{self.curve.operation}, {self.curve.label}: {', '.join(parts)}"


def _plain(parameter: Parameter | None) -> dict[str, Any] | None:
    if parameter is None:
        return None
    bounds = None if parameter.low is None or parameter.high is None else [parameter.low, parameter.high]
    return {"value": parameter.value, "interval": bounds}


def format_size(size_B: float) -> str:
    """A size that is a result, to three digits: 2417.3 → `2.36 KiB`."""
    for scale, unit in ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB")):
        if abs(size_B) >= scale:
            return f"{size_B / scale:.3g} {unit}".replace("-", "−")
    return f"{size_B:.3g} B".replace("-", "−")


def bandwidth(curve: Curve, fit: Fit) -> Parameter | None:
    """The asymptotic bandwidth in B/s, all pairs and both directions; None where the time does not grow."""
    one = summary.bandwidth(curve.entry, fit)
    if one is None or curve.pairs == 1:
        return one
    low, high = (None if bound is None else curve.pairs * bound for bound in (one.low, one.high))
    return Parameter(value=curve.pairs * one.value, low=low, high=high, unit=one.unit)


def headline(curve: Curve, peaks: Sequence[Peak]) -> Headline | None:
    """None where no model could be fitted."""
    model = next((name for name in (*PREFERRED, *curve.fits) if name in curve.fits), None)
    if model is None:
        return None
    fit = curve.fits[model]
    rate = curve.throughput(curve.size_B, curve.time_s)
    fastest = int(np.argmax(rate))
    return Headline(
        curve=curve,
        model=model,
        latency_s=summary.latency(fit),
        bandwidth_B_per_s=bandwidth(curve, fit),
        n_half_B=fit.n_half_B,
        formulas=formulas(fit),
        fastest_B_per_s=float(rate[fastest]),
        fastest_at_B=float(curve.size_B[fastest]),
        peaks=[(peak, peak.share(float(rate[fastest]), curve.directions)) for peak in peaks],
    )


def warnings(
    curves: Sequence[Curve],
    records: Iterable[Record],
    launches: Sequence[Mapping[str, Any]],
    found: Iterable[str],
) -> list[str]:
    """What a reader must know before trusting a number, worst first; `found` is what reading the data said."""
    visits = [record for record in records if record.source == "hockney"]
    mine = quietest(visits)
    result: list[str] = []
    crowded = [curve for curve in curves if curve.entry.oversubscribed]
    if crowded or any(launch.get("oversubscribed") for launch in launches):
        result.append(
            "Oversubscribed: there were more ranks than cores, so times contain waiting for a core "
            f"({len(crowded)} of {len(curves)} configurations)."
        )
    checks = (
        _unverified(mine),
        _disturbed(curves),
        _wide(curves),
        _drift(visits, mine),
        _spread(mine),
        _bare(curves),
    )
    result += [text for text in checks if text]
    said = [str(text) for launch in launches for text in launch.get("warnings") or ()]
    result += list(dict.fromkeys([*said, *found]))
    return result


def _unverified(records: Sequence[Record]) -> str:
    wrong = [record for record in records if record.verified is False]
    unknown = [record for record in records if record.verified is None]
    if wrong:
        return f"Payload wrong at {len(wrong)} of {len(records)} measurements: what arrived is not what was sent."
    if unknown:
        return f"Payload not verified at {len(unknown)} of {len(records)} measurements."
    return ""


def _disturbed(curves: Sequence[Curve]) -> str:
    points = [
        p for curve in curves for p in curve.entry.measurements.points if p.samples and p.disturbed is not None
    ]
    samples = sum(point.samples or 0 for point in points)
    disturbed = sum(point.disturbed or 0 for point in points)
    if not samples or disturbed / samples <= DISTURBED_SHARE:
        return ""
    return (
        f"Disturbed: {percent(disturbed / samples)} of the samples were recognised as disturbed (preemption, a "
        "busy neighbour) and set aside. Medians stand without them; measure on a quiet machine to be sure."
    )


def _bare(curves: Sequence[Curve]) -> str:
    points = [point for curve in curves for point in curve.entry.measurements.points]
    # Samples that are all alike have an interval of no width, which is no lack of one.
    bare = sum(p.low_s is None and (p.records or 0) <= 1 and not p.samples for p in points)
    if not bare:
        return ""
    return f"No interval at {bare} of {len(points)} points: nothing in the data says how certain those times are."


def _wide(curves: Sequence[Curve]) -> str:
    points = [(curve, point) for curve in curves for point in curve.entry.measurements.points]
    wide = [
        ((point.high_s - point.low_s) / 2 / point.time_s, curve, point)
        for curve, point in points
        if "budget" in point.stop and point.low_s is not None and point.high_s is not None
    ]
    if not wide:
        return ""
    width, curve, point = max(wide, key=lambda item: item[0])
    return (
        f"{len(wide)} of {len(points)} points ended by their time budget before the interval was narrow enough; "
        f"widest: ±{percent(width)} at {format_bytes(point.size_B)} ({curve.operation}, {curve.label})."
    )


def launch_spreads(records: Iterable[Record]) -> dict[tuple[str, ...], float]:
    """(max − min) / median over the launches, for each point measured in at least two of them."""
    values: dict[tuple[str, ...], dict[int, float]] = {}
    for record in records:
        words = (record.operation, record.locality, record.variant, record.cache, record.mapping, record.pair)
        key = (*(str(word or "") for word in words), record.statistic, str(record.bytes))
        values.setdefault(key, {})[record.repetition] = record.value
    return {
        key: float((max(v.values()) - min(v.values())) / np.median(list(v.values())))
        for key, v in values.items()
        if len(v) > 1
    }


def _drift(visits: Sequence[Record], quiet: Sequence[Record]) -> str:
    """Visits of one point whose intervals are far apart: the machine itself changed in between."""
    best = {_visit_key(record): record for record in quiet}
    ratios = [
        record.low / (best[_visit_key(record)].high or record.low) for record in visits if record.low is not None
    ]
    changed = [ratio for ratio in ratios if ratio > LEVEL_CHANGE]
    if not changed:
        return ""
    return (
        f"The machine changed its speed: {len(changed)} of {len(visits)} visits were slower than the quietest "
        f"visit of the same point, beyond their intervals, by a factor of up to {max(changed):.2g}. "
        "The quietest visit counts."
    )


def _visit_key(record: Record) -> tuple[object, ...]:
    where = (record.system, record.mpi, record.mapping, record.variant, record.pair, record.cache)
    return (*where, record.operation, record.bytes, record.repetition)


def _spread(records: Sequence[Record]) -> str:
    spreads = launch_spreads(records)
    if not spreads or float(np.median(list(spreads.values()))) <= LAUNCH_SPREAD:
        return ""
    worst = max(spreads, key=lambda key: spreads[key])
    where = ", ".join(word for word in worst[:6] if word)
    return (
        f"Launches differ: medians of one point spread by {percent(float(np.median(list(spreads.values()))))} "
        f"between launches (median over {len(spreads)} points), at worst {percent(spreads[worst])} at "
        f"{format_bytes(int(worst[-1]))} ({where}). The intervals include it."
    )
