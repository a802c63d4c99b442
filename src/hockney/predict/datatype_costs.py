"""The costs of every way of sending scattered data, rebuilt from the points of a machine file.

A term that the data cannot tell alone is no parameter of the effect `datatypes`, and still belongs to the sum:
hence from the points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import Host
from hockney.models.effects._layouts import LayoutCosts, fit_costs
from hockney.models.effects._least_squares import relative_error
from hockney.models.effects._shapes import MEMORY, WAYS, Shape, level_of, levels_of, measured_element_B
from hockney.models.effects.base import Cell, Effect
from hockney.predict.layout import strided

PointRow = Mapping[str, Cell]
_COLUMNS = {"way", "layout", "bytes", "blocks", "stride_B", "lines", "extent_B", "level", "time_s"}
_NUMBERS = (*sorted(_COLUMNS - {"way", "layout", "level"}), "low_s", "high_s", "left_out_s")


@dataclass(frozen=True)
class Way:
    """The costs of one way, and what they were fitted to."""

    name: str
    costs: LayoutCosts
    rows: Sequence[PointRow]
    shapes: Sequence[Shape]

    def carries(self, term: str) -> bool:
        """Whether any layout measured has this term more than zero times."""
        return any(self.costs.counts(shape).get(term, 0.0) > 0 for shape in self.shapes)


def ways_of(effect: Effect, hosts: Sequence[Host]) -> dict[str, Way]:
    """The costs of each way that was measured.

    RequestError where the points are others than hockney's own, as published ones are, or damaged, and where no
    host's caches are those that they were sorted by (by another version of hockney, perhaps).
    """
    if not all(row.keys() >= _COLUMNS for row in effect.points):
        by = f" ({effect.source})" if effect.source else ""
        raise RequestError(
            f"of datatypes only single times are known{by}, not how each layout lies in memory: no costs follow",
            "measure it: `hockney measure --operation datatypes -o FOLDER`, then `hockney fit FOLDER`",
        )
    for name, cell in ((name, row.get(name)) for row in effect.points for name in _NUMBERS):
        if isinstance(cell, str | bool):
            raise RequestError(
                f"a point of the effect {effect.effect} has {name} {cell!r}, which is no number",
                "fit the campaign again: `hockney fit FOLDER`",
            )
    levels = _levels(effect.points, hosts)
    ways = {}
    for name in WAYS:
        rows = [row for row in effect.points if row["way"] == name]
        if rows:
            shapes = [_shape_of(row) for row in rows]
            time_s = np.array([number(row, "time_s") for row in rows])
            error = np.array([relative_error(bound(row, "low_s"), bound(row, "high_s")) for row in rows])
            ways[name] = Way(name, fit_costs(shapes, time_s, error, levels), rows, shapes)
    return ways


def rows_of(way: Way, shape: Shape) -> list[PointRow]:
    """The rows of this very layout, one for each launch; where blocks touch, a contiguous message will do."""
    same = [row for row, each in zip(way.rows, way.shapes, strict=True) if _is_same(each, row, shape)]
    if same or not shape.is_contiguous:
        return same
    plain = zip(way.rows, way.shapes, strict=True)
    return [row for row, each in plain if each.layout == "contiguous" and each.bytes == shape.bytes]


def _is_same(each: Shape, row: PointRow, shape: Shape) -> bool:
    if any(getattr(each, name) != getattr(shape, name) for name in ("layout", "bytes", "blocks", "element_B")):
        return False
    if shape.layout == "irregular":
        # Where the span ends is drawn; what is expected of the same stride is not.
        each = strided("irregular", each.blocks, each.bytes // each.blocks, int(number(row, "stride_B")))
    return each.extent_B == shape.extent_B


def _levels(rows: Sequence[PointRow], hosts: Sequence[Host]) -> list[tuple[str, int]]:
    for host in hosts:
        sizes = {cache.level: cache.size_B for cache in host.caches if cache.type != "Instruction"}
        levels = levels_of([{"level": level, "size_B": size_B} for level, size_B in sorted(sizes.items())])
        if all(level_of(_shape_of(row), levels) == row["level"] for row in rows):
            return levels
    if all(row["level"] == MEMORY for row in rows):
        return []
    raise RequestError(
        "no host's caches in the machine file are those by which the points of datatypes are sorted",
        "another host measured them, or an earlier version sorted them; fit again: `hockney fit FOLDER`",
    )


def _shape_of(row: PointRow) -> Shape:
    lines = int(number(row, "lines"))
    return Shape(
        layout=str(row["layout"]),
        bytes=int(number(row, "bytes")),
        blocks=int(number(row, "blocks")),
        lines=lines,
        # Not kept in a machine file; no cost depends on them.
        accesses=lines,
        extent_B=int(number(row, "extent_B")),
        element_B=measured_element_B(str(row["layout"])),
    )


def number(row: PointRow, name: str) -> float:
    return float(row[name] or 0)


def bound(row: PointRow, name: str) -> float | None:
    value = row.get(name)
    return None if value is None else float(value)
