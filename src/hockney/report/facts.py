"""The headline numbers of each kind of pair, and the warnings that stand before them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from hockney.machine import formula
from hockney.machine.formula import formulas
from hockney.models.base import Fit, Parameter, preferred_model
from hockney.models.over_ranks.points import collectives_in
from hockney.records.keys import POINT_TO_POINT
from hockney.report.curves import MessageCurve
from hockney.report.marks import Peak, percent
from hockney.units import format_rate, format_time

MOST_NAMED = 12
"""Most configurations that are named because they are not shown."""


@dataclass(frozen=True)
class Headline:
    """The numbers of one curve. `bandwidth_B_per_s` is for n → ∞, all pairs and both directions together."""

    curve: MessageCurve
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
            "peaks": {peak.title: share for peak, share in self.peaks},
            "text": self.text,
        }

    @property
    def shares(self) -> list[tuple[str, str]]:
        """Name of each peak and the share of it that was reached, as text."""
        return [(peak.label(self.curve.directions), percent(share)) for peak, share in self.peaks]

    @property
    def text(self) -> str:
        """The headline as one line of text."""
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
    """A computed size to three digits: 2417.3 → `2.36 KiB`."""
    for scale, unit in ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB")):
        if abs(size_B) >= scale:
            return f"{size_B / scale:.3g} {unit}".replace("-", "−")
    return f"{size_B:.3g} B".replace("-", "−")


def bandwidth(curve: MessageCurve, fit: Fit) -> Parameter | None:
    """The asymptotic bandwidth in B/s, all pairs and both directions; None if the time does not grow."""
    rate = formula.bandwidth(curve.entry, fit)
    if rate is None or curve.pairs == 1:
        return rate
    low, high = (None if bound is None else curve.pairs * bound for bound in (rate.low, rate.high))
    return Parameter(value=curve.pairs * rate.value, low=low, high=high, unit=rate.unit)


def headline(curve: MessageCurve, peaks: Sequence[Peak]) -> Headline | None:
    """The headline of a curve; None if no model could be fitted."""
    model = preferred_model(curve.fits)
    if model is None:
        return None
    fit = curve.fits[model]
    rate = curve.throughput(curve.size_B, curve.time_s)
    fastest = int(np.argmax(rate))
    return Headline(
        curve=curve,
        model=model,
        latency_s=formula.latency(fit),
        bandwidth_B_per_s=bandwidth(curve, fit),
        n_half_B=formula.half_bandwidth_size(curve.entry, fit),
        formulas=formulas(fit),
        fastest_B_per_s=float(rate[fastest]),
        fastest_at_B=float(curve.size_B[fastest]),
        peaks=[
            (peak, peak.share(reached, curve.directions))
            for peak in peaks
            if peak.limits(curve.entry.locality)
            and (reached := float(np.max(rate, where=peak.carries(curve.size_B), initial=0.0))) > 0
            and peak.may_carry(reached, curve.directions)
        ],
    )


def in_turn(heads: Sequence[Headline], most: int) -> list[Headline]:
    """At most so many headlines, of every place some, in their order."""
    by_place: dict[str, list[int]] = {}
    for index, head in enumerate(heads):
        by_place.setdefault(head.curve.place, []).append(index)
    turns = [index for turn in zip_longest(*by_place.values()) for index in turn if index is not None]
    return [heads[index] for index in sorted(turns[:most])]


def left_out(shown: Sequence[Headline], heads: Sequence[Headline], curves: Sequence[MessageCurve]) -> str:
    """What stands below and not in the headline; empty if nothing does."""
    sentences = []
    if len(shown) < len(heads):
        listed = {id(head) for head in shown}
        missing = [head.curve.label for head in heads if id(head) not in listed]
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        sentences.append(
            f"{len(shown)} of {len(heads)} configurations, of every place some; not here: "
            f"{'; '.join(missing[:MOST_NAMED])}{more}."
        )
    first = heads[0].curve.operation if heads else ""
    others = list(dict.fromkeys(curve.operation for curve in curves if first and curve.operation != first))
    if others:
        sentences.append(f"Also measured: {', '.join(others)}.")
    return " ".join(sentences)


def warnings(
    curves: Sequence[MessageCurve], launches: Sequence[Mapping[str, Any]], caveats: Iterable[str]
) -> list[str]:
    """Warnings about a page, the worst first; `caveats` are those of the data and the fits."""
    crowded = [curve for curve in curves if curve.entry.oversubscribed]
    first = []
    if crowded or any(launch.get("oversubscribed") for launch in launches):
        first.append(
            "Oversubscribed: there were more ranks than cores, so times contain waiting for a core"
            + (f" ({len(crowded)} of {len(curves)} configurations of messages)." if curves else ".")
        )
    # A machine file repeats the warnings of its campaign.
    return list(dict.fromkeys([*first, *caveats]))


def not_shown(frame: pd.DataFrame) -> list[str]:
    """A sentence on rows of operations that no section shows; rows are never dropped in silence."""
    counts = frame["operation"].value_counts()
    other = {str(name): int(counts[name]) for name in sorted(counts.index)}
    for name in (*POINT_TO_POINT, *collectives_in(frame)):
        other.pop(name, None)
    if not other:
        return []
    words = ", ".join(f"{name or 'no operation'} ({count})" for name, count in other.items())
    return [f"Rows of operations that this page has no section for: {words}."]
