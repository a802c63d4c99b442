"""The answer of a model that a machine file has of a measured collective: its formula, and the points around."""

from __future__ import annotations

import math

import numpy as np

from hockney.models.collectives.base import CollectiveModel, Term
from hockney.models.collectives.statements import formula_text, growth_text
from hockney.predict.collective import BOUND, AlgorithmTime
from hockney.units import format_bytes

PUBLISHED = "library"
"""Name of a model in the machine file that names no algorithm."""
MEASURED, FITTED, INTERPOLATED, EXTRAPOLATED = "measured", "fitted", "interpolated", "extrapolated"
"""Methods of a row: at a measured point, between the points, there without a formula, and beyond the points."""


def published(model: CollectiveModel, ranks: int, size_B: int) -> AlgorithmTime:
    """The answer of a machine file's own model of the collective; no time outside its ranks and sizes.

    Where the model is a lower bound it is `low_s`, and there is no time.
    """
    name = model.algorithm or PUBLISHED
    time_s, regime = model.time_s(ranks, size_B), model.regime(ranks, size_B)
    if time_s is None or regime is None:
        return AlgorithmTime(name, "none", None, note="the machine file's model is of other ranks or sizes")
    if not 0 <= time_s < math.inf:
        return AlgorithmTime(
            name, "none", None, note="the machine file's model gives no time here: it is negative or unbounded"
        )
    if regime.lower_bound:
        return AlgorithmTime(name, BOUND, None, low_s=time_s, note=model.source)
    return AlgorithmTime(name, "published", time_s, note=model.source)


def measured_there(model: CollectiveModel, ranks: int, size_B: int, name: str) -> AlgorithmTime:
    """The answer of a model that was fitted to measured times; beyond the points only where it has a formula."""
    predicted = model.predicted(np.array([float(ranks)]), np.array([float(size_B)]))
    time_s, beyond = float(predicted.time_s[0]), float(predicted.beyond[0])
    low_s, high_s = (
        float(end[0]) if np.isfinite(end[0]) else None for end in (predicted.low_s, predicted.high_s)
    )
    is_measured = any(row["ranks"] == ranks and row["bytes"] == size_B for row in model.points)
    if not model.regimes:
        if beyond:
            return AlgorithmTime(
                name, "none", None, note="; ".join([f"measured on {spans(model)}", *model.notes])
            )
        return AlgorithmTime(name, MEASURED if is_measured else INTERPOLATED, time_s, low_s, high_s)
    regime = model.regimes[int(model.nearest(*(np.array([float(at)]) for at in (ranks, size_B)))[0])]
    terms_s: dict[str, float] = {}
    for term in regime.terms:
        terms_s[_cause(term)] = terms_s.get(_cause(term), 0.0) + model.at([term], ranks, size_B)
    formula_s = sum(terms_s.values())
    if not 0 < formula_s < math.inf:
        return AlgorithmTime(name, "none", None, note=f"fitted to {spans(model)}: its formula is 0 here")
    return AlgorithmTime(
        name,
        EXTRAPOLATED if beyond else MEASURED if is_measured else FITTED,
        time_s,
        low_s,
        high_s,
        readable_s=formula_s,
        correction=time_s / formula_s - 1,
        weight=0.0,
        # Shares are those of the formula.
        terms_s={cause: seconds * time_s / formula_s for cause, seconds in terms_s.items()},
        formula=formula_text(model, regime),
        asymptotic=growth_text(model, regime),
        note=f"fitted to {spans(model)}" if beyond else "",
    )


def _cause(term: Term) -> str:
    """What a term is paid for, in the words of a simulated row."""
    if term.counts is not None:
        return {"alpha": "latency", "bytes": "bytes", "reduced": "work"}[term.counts]
    return "bytes" if term.per_byte else "latency"


def spans(model: CollectiveModel) -> str:
    """`2 to 32 ranks and 8 B to 4 MiB`: the ranks and sizes that were measured."""
    ranks, sizes = ([float(row[name] or 0) for row in model.points] for name in ("ranks", "bytes"))
    few, many = min(ranks), max(ranks)
    text = f"{few:.0f} to {many:.0f} ranks" if few < many else f"{many:.0f} ranks"
    low, high = format_bytes(min(sizes)), format_bytes(max(sizes))
    return f"{text} and {low} to {high}" if low != high else f"{text} and {high}" if max(sizes) else text
