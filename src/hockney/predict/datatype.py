"""What it costs to send scattered data, and whether to leave it to an MPI datatype or to pack by hand.

The costs are those of the effect `datatypes` (docs/reference/effects.md), rebuilt from the points of a machine
file: a term that the data cannot tell alone is no parameter there, and still belongs to the sum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import Host
from hockney.models.effects._layouts import (
    BLOCK_TERMS,
    BYTE_TERM,
    SETUP_TERM,
    STRIDED_TERM,
    Costs,
    Shape,
    counts,
    fit_costs,
    level_of,
    levels_of,
)
from hockney.models.effects._least_squares import relative_error
from hockney.models.effects.base import Cell, Effect
from hockney.models.effects.datatypes import LIBRARY, LOOP, UNTOLD, WAYS
from hockney.predict.message import STEP

LEVEL = 0.95
ENOUGH = 19
"""Errors from which the 95 % quantile is one of them: of n it is the ⌈0.95 (n + 1)⌉th (split conformal
prediction, Lei et al. 2018), which 19 have and 18 do not."""
FEWEST = 5
"""Errors below which no interval is given."""

Row = Mapping[str, Cell]


@dataclass(frozen=True)
class Way:
    """The costs of one way, and what they were fitted to."""

    name: str
    costs: Costs
    rows: Sequence[Row]
    shapes: Sequence[Shape]

    def carries(self, term: str) -> bool:
        """Whether any layout measured has this term more than zero times."""
        return any(counts(shape, self.costs.levels).get(term, 0.0) > 0 for shape in self.shapes)


@dataclass(frozen=True)
class Prediction:
    """Seconds of one way. `time_s` and its interval are measured where `measured`; None: not known.

    `model_s` is the sum of its four parts: contiguous, fixed (set-up and bytes), blocks and lines. `lower_bound`
    where a term of the layout was never measured.
    """

    way: str
    time_s: float
    low_s: float | None
    high_s: float | None
    measured: bool
    lower_bound: bool
    model_s: float
    contiguous_s: float
    fixed_s: float
    blocks_s: float
    lines_s: float
    level: float | None = None
    """Of the interval, where it is the model's."""
    errors: int = 0
    """Of layouts left out, that the interval comes from."""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    """`answer`: library, by hand, or cannot be told. `factor`: seconds of send / seconds of hand, with interval."""

    answer: str
    why: str
    factor: float | None = None
    low: float | None = None
    high: float | None = None


def ways_of(effect: Effect, hosts: Sequence[Host]) -> dict[str, Way]:
    """The costs of each way that was measured.

    RequestError where no host's caches are those that the points were sorted by.
    """
    levels = _levels(effect.points, hosts)
    found = {}
    for name in WAYS:
        rows = [row for row in effect.points if row["way"] == name]
        if rows:
            shapes = [_shape_of(row) for row in rows]
            time_s = np.array([_number(row, "time_s") for row in rows])
            error = np.array([relative_error(_bound(row, "low_s"), _bound(row, "high_s")) for row in rows])
            found[name] = Way(name, fit_costs(shapes, time_s, error, levels), rows, shapes)
    return found


def predict_way(way: Way, shape: Shape, unidentified: Mapping[str, str]) -> Prediction:
    """The time of a layout sent one way. `unidentified`: of the effect, by `<way>_<term>`."""
    costs, notes = way.costs, []
    contiguous_s, steps = _contiguous(costs, shape.bytes, notes)
    counted = {name: count for name, count in counts(shape, costs.levels).items() if count > 0}
    missing = [name for name in counted if not way.carries(name)]
    notes += [f"{_named(name)} was not measured: the time is a lower bound" for name in missing]
    notes += [
        f"{name}: {unidentified[f'{way.name}_{name}']}"
        for name in counted
        if name not in missing and f"{way.name}_{name}" in unidentified
    ]
    part_s = {name: count * costs.terms[name] for name, count in counted.items() if name not in missing}
    fixed_s = part_s.pop(SETUP_TERM, 0.0) + part_s.pop(BYTE_TERM, 0.0)
    lines_s = sum(part_s.pop(name) for name in list(part_s) if name.startswith("line_"))
    blocks_s = sum(part_s.values())
    model_s = contiguous_s + fixed_s + blocks_s + lines_s
    parts = {
        "way": way.name,
        "model_s": model_s,
        "contiguous_s": contiguous_s,
        "fixed_s": fixed_s,
        "blocks_s": blocks_s,
        "lines_s": lines_s,
    }
    if mine := _measured(way, shape):
        time_s, low_s, high_s = _pooled(mine)
        if shape.layout == "irregular":
            notes.append("measured with blocks at other random places of the same strides")
        return Prediction(
            **parts, time_s=time_s, low_s=low_s, high_s=high_s, measured=True, lower_bound=False, notes=notes
        )
    errors = [] if shape.is_contiguous else _errors(way, shape)
    if shape.is_contiguous:
        notes.append("no interval: no contiguous size was predicted from the others")
    reach, level = _quantile(errors)
    if level is not None and level < LEVEL:
        notes.append(f"the interval is one of {level:.0%}: {len(errors)} layouts could be left out")
    if level is None:
        return Prediction(**parts, time_s=model_s, low_s=None, high_s=None, measured=False, lower_bound=bool(missing), notes=notes)
    wide = math.exp(reach * (1 + steps))
    return Prediction(
        **parts,
        time_s=model_s,
        low_s=model_s / wide,
        high_s=None if missing else model_s * wide,
        measured=False,
        lower_bound=bool(missing),
        level=level,
        errors=len(errors),
        notes=notes,
    )
