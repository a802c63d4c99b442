"""The answer of a model that a machine file has of a measured collective: its formula, and the points around."""

from __future__ import annotations

import math

import numpy as np

from hockney.models.collectives.base import CollectiveModel, Term
from hockney.models.collectives.statements import formula_text
from hockney.predict.collective import BOUND, AlgorithmTime
from hockney.units import format_bytes

PUBLISHED = "library"
"""Name of a model in the machine file that names no algorithm."""
MEASURED, FITTED = "measured", "fitted"
"""Methods of a row: at a measured point, and between the points."""


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
    """The answer of a model that was fitted to measured times; no time outside the ranks and sizes of these."""
    regime = model.regime(ranks, size_B)
    if regime is None:
        why = f"fitted to {spans(model)}" if model.regimes else "; ".join(model.notes)
        return AlgorithmTime(name, "none", None, note=why)
    asked = np.array([float(ranks)]), np.array([float(size_B)])
    made = model.predicted(*asked)
    low_s, high_s = (float(end[0]) if np.isfinite(end[0]) else None for end in (made.low_s, made.high_s))
    terms_s: dict[str, float] = {}
    for term in regime.terms:
        seconds = model.at(regime.model_copy(update={"terms": [term]}), ranks, size_B)
        terms_s[_cause(term)] = terms_s.get(_cause(term), 0.0) + seconds
    formula_s, time_s = sum(terms_s.values()), float(made.time_s[0])
    return AlgorithmTime(
        name,
        MEASURED if any(row["ranks"] == ranks and row["bytes"] == size_B for row in model.points) else FITTED,
        time_s,
        low_s,
        high_s,
        readable_s=formula_s,
        correction=time_s / formula_s - 1,
        weight=0.0,
        # Shares are those of the formula.
        terms_s={cause: seconds * time_s / formula_s for cause, seconds in terms_s.items()},
        formula=formula_text(model, regime),
        asymptotic=" ".join(statement.text.partition(" = ")[2] for statement in model.views.asymptotic),
    )


def _cause(term: Term) -> str:
    """What a term is paid for, in the words of a simulated row."""
    if term.counts is not None:
        return {"alpha": "latency", "bytes": "bytes", "reduced": "work"}[term.counts]
    return "bytes" if term.per_byte else "latency"


def spans(model: CollectiveModel) -> str:
    """`2 to 32 ranks and 8 B to 4 MiB`: the ranks and sizes that a fitted model holds for."""
    ranks = [count for regime in model.regimes for count in (regime.min_ranks, regime.max_ranks or 0)]
    sizes = [size for regime in model.regimes for size in (regime.min_B, regime.max_B or 0.0)]
    many = f"{min(ranks)} to {max(ranks)} ranks" if min(ranks) < max(ranks) else f"{max(ranks)} ranks"
    return f"{many} and {format_bytes(min(sizes))} to {format_bytes(max(sizes))}" if max(sizes) else many
