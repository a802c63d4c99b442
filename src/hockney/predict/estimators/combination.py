"""What answers where no schedule does: a surface inside the measured points, and beyond them a combination.

Beyond the nodes (ranks, where no nodes are known), the ranks a node or the bytes of training each curve goes on
from its last point by the ways of `_along`, weighed by what they missed at ends of trained curves. Axes add up.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from hockney.models.collectives.closed_form import closed_form
from hockney.models.collectives.expression import FormulaCall
from hockney.predict.estimators._along import WAYS, Curves, Direction, combined, direction
from hockney.predict.estimators._places import SURFACE, places
from hockney.predict.estimators.base import Array, Prediction, Training, estimators, unknown
from hockney.predict.estimators.gaussian_process import Surfaces, surfaces_of
from hockney.predict.points import is_grid, positions
from hockney.statistics import NORMAL
from hockney.units import counted

AXES = ("nodes or ranks", "bytes", "ranks a node")
SIZE = AXES.index("bytes")
SURE = 0.2
"""In ln: where no point is, the surface stands for one if it is no less sure."""
NEW = 0.7
"""In ln: what 95 % of times between nodes are off at most, where training has one node."""
ROUNDING = 1e-9
LACKING = (
    "are of algorithms or placements that were not trained, or nothing in training shows how their times grow"
)


def counts(points: pd.DataFrame) -> Array:
    """How often α, β and γ count in the closed form of each point, shape (n, 3); NaN without a closed form."""
    columns = ["ranks", "bytes", "segment_bytes", "radix"]
    numbers = points[columns].astype(np.float64).fillna(0).to_numpy()
    table = np.full((len(points), 3), np.nan)
    for index in positions(points, ["operation", "algorithm"]).values():
        first = points.iloc[index[0]]
        form = closed_form(str(first["operation"]), str(first["algorithm"]))
        if form is not None:
            several = index[numbers[index, 0] > 1]
            table[several] = np.column_stack(np.broadcast_arrays(*form.counts(FormulaCall(*numbers[several].T))))
    return table


@dataclass(frozen=True, eq=False)
class Group:
    """Training points of one algorithm and placement: places (n, 3) and ln seconds (n,), one of them as a row."""

    at: Array
    ln_s: Array
    row: pd.DataFrame
    surfaces: Surfaces
    is_one_node: bool

    def curves(self, axis: int, others: Array, *, is_up: bool, asked: Array) -> Curves:
        """Along an axis, through places (c, 3) of which the other axes count; `asked`: places on it, rows too."""
        along = np.unique(self.at[:, axis])[:: 1 if is_up else -1]
        cross = 0 if axis == SIZE else SIZE
        rest = 3 - axis - cross
        ln_s = np.full((along.size, len(others)), np.nan)
        for row, here in enumerate(along):
            for value in np.unique(others[:, rest]):
                is_on = np.abs(self.at[:, [axis, rest]] - (here, value)).max(axis=1) < ROUNDING
                if is_on.any():
                    known, number = np.unique(self.at[is_on, cross], return_inverse=True)
                    mean = np.bincount(number, self.ln_s[is_on]) / np.bincount(number)
                    of = others[:, rest] == value
                    ln_s[row, of] = np.interp(others[of, cross], known, mean, left=np.nan, right=np.nan)
        measured = np.isfinite(ln_s)
        rows = np.concatenate([along, asked])
        at = np.repeat(others[None], rows.size, axis=0)
        at[:, :, axis] = rows[:, None]
        points = self.points(at.reshape(-1, 3))
        if not measured.all():
            surface = self.surfaces.predict(points[: ln_s.size])
            is_sure = np.log(surface.high_s / surface.low_s) < 2 * NORMAL * SURE
            estimate = np.where(is_sure, np.log(surface.time_s), np.nan).reshape(ln_s.shape)
            ln_s = np.where(measured, ln_s, estimate)
        ranks, size_B = (points[name].to_numpy(np.float64).reshape(at.shape[:2]) for name in ("ranks", "bytes"))
        return Curves(rows, ln_s, measured, ranks, size_B, counts(points).reshape(at.shape), axis == SIZE)

    def points(self, at: Array) -> pd.DataFrame:
        """Points of this group at places (n, 3)."""
        ppn, size_B = np.exp(at[:, 2]), np.where(at[:, SIZE] < 0, 0.0, np.exp(at[:, SIZE]))
        numbers = {"ranks": np.exp(at[:, 0]) * ppn, "bytes": size_B}
        if is_grid(self.row)[0]:
            numbers |= {"ppn": ppn}
        points = self.row.iloc[np.zeros(len(at), np.intp)].reset_index(drop=True)
        return points.assign(**{name: np.rint(values).astype(np.int64) for name, values in numbers.items()})


@dataclass(frozen=True, eq=False)
class Combination:
    """Groups of training points, and their surfaces.

    `windows`: of axes, and whether up or down along them, by group, as of `Curves.windows`: of those asked for.
    """

    groups: Mapping[Hashable, Group]
    surfaces: Surfaces
    is_repeated: bool
    windows: dict[tuple[int, bool], dict[Hashable, tuple[Array, Array]]] = field(default_factory=dict)

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times of `points`, in their order."""
        at, answer = places(points), unknown(len(points))
        trusted: dict[str, dict[str, int]] = {}
        is_new = np.zeros(len(points), dtype=np.bool_)
        for key, index in positions(points, SURFACE).items():
            if key in self.groups:
                ln_s, width = self._times(key, at[index], trusted)
                if self.groups[key].is_one_node:
                    is_new[index] = (points["nodes"].iloc[index] > 1).fillna(value=False)
                    width = np.hypot(width, NEW * is_new[index])
                answer.time_s[index] = np.exp(ln_s)
                answer.low_s[index], answer.high_s[index] = np.exp(ln_s - width), np.exp(ln_s + width)
        notes = [
            f"beyond training in {axis} mostly by {' and '.join(sorted(ways, key=lambda way: -ways[way])[:2])}"
            for axis, ways in trusted.items()
        ]
        if is_new.any():
            notes.append(
                f"training has one node, {counted(int(is_new.sum()), 'point')} have more: nothing shows that step"
            )
        if not self.is_repeated:
            notes.append("no point was measured twice: intervals rest on points and ends of curves left out")
        if missing := int(np.isnan(answer.time_s).sum()):
            notes.append(f"{counted(missing, 'point')} {LACKING}")
        return Prediction(answer.time_s, answer.low_s, answer.high_s, notes)

    def _times(self, key: Hashable, at: Array, trusted: dict[str, dict[str, int]]) -> tuple[Array, Array]:
        """ln times of a group's places (n, 3) and half the widths of their intervals; `trusted`: by axis how many
        points weigh a way most, added up."""
        group = self.groups[key]
        edge = np.clip(at, group.at.min(axis=0), group.at.max(axis=0))
        inside = self.surfaces.predict(group.points(edge))
        ln_s, square = np.log(inside.time_s), np.log(inside.high_s / inside.low_s) ** 2 / 4
        beyond = np.where(np.abs(at - edge) > ROUNDING, np.sign(at - edge), 0)
        for axis, is_up in ((axis, is_up) for axis in range(len(AXES)) for is_up in (True, False)):
            of = np.flatnonzero(beyond[:, axis] == (1 if is_up else -1))
            if not of.size:
                continue
            others, column = np.unique(np.where(np.arange(3) == axis, 0.0, edge[of]), axis=0, return_inverse=True)
            asked, row = np.unique(at[of, axis], return_inverse=True)
            curves = group.curves(axis, others, is_up=is_up, asked=asked)
            added, far, last = curves.grown(len(curves.ln_s))
            chosen = self._direction(axis, key, is_up=is_up)
            row, column = row.ravel(), column.ravel()
            # The last point itself, not the surface at it, where one axis alone leads away.
            starts = (np.count_nonzero(beyond[of], axis=1) == 1) & np.isfinite(last[column])
            ln_s[of] = np.where(starts, last[column], ln_s[of]) + combined(added, chosen.weight)[row, column]
            square[of] += chosen.reach(far[row, column]) ** 2
            ways = trusted.setdefault(AXES[axis], dict.fromkeys(WAYS, 0))
            ways[WAYS[int(chosen.weight.argmax())]] += of.size
        return ln_s, np.sqrt(square)

    def _direction(self, axis: int, key: Hashable, *, is_up: bool) -> Direction:
        if (axis, is_up) not in self.windows:
            windows = self.windows[axis, is_up] = {}
            for other, group in self.groups.items():
                through = np.unique(np.where(np.arange(3) == axis, 0.0, group.at), axis=0)
                windows[other] = group.curves(axis, through, is_up=is_up, asked=np.empty(0)).windows()
        windows = self.windows[axis, is_up]
        return direction(windows[key], [windows[other] for other in windows if other != key])


def usual(points: pd.DataFrame, *, is_grid: bool) -> pd.DataFrame:
    """The points with the usual root where a table names none, and ranks a node on a grid alone."""
    ppn = points["ppn"].where(np.full(len(points), is_grid))
    return points.assign(root=points["root"].fillna(0), ppn=ppn)


def fit(training: Training) -> Combination:
    """A surface for each algorithm and placement, and what continues it."""
    points, surfaces = training.points, surfaces_of(training)
    at, ln_s = places(points), np.log(points["time_s"].to_numpy(np.float64))
    groups = {
        key: Group(at[index], ln_s[index], points.iloc[index[:1]], surfaces, bool(is_one.iloc[index].all()))
        for is_one in [points["nodes"].eq(1).fillna(value=False)]
        for key, index in positions(points, SURFACE).items()
    }
    return Combination(groups, surfaces, bool((points["repetitions"] > 1).any()))


estimators.register("combination")(fit)
