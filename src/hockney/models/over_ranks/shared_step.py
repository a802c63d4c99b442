"""Several curves that may share a step: the most likely ones, by weights that follow heavy-tailed residuals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeVar

import numpy as np
from scipy.special import chdtrc, gammaln

from hockney.statistics import Array

ROUNDS = 100
"""Most of the fit: each weighs points anew by how far they lie from the curve. After 20 of them ln likelihood was
short by up to 16."""
SETTLED = 1e-3
"""The share by which scales no longer change in the last of them; a likelihood then errs by its square."""
MOST_SETTLED = 0.99
"""The share of scales that must have settled: of many sets that are drawn, one does not hold up the others."""
LEAST_SCALE = 0.004
"""No residual is told apart below this: times are printed with three digits or so."""
DRAWS = 100
"""Curves without a step that are drawn."""
SINGULAR = 1e-7
"""The least singular value of columns that the points tell apart, beside the largest."""

TAILS = (1.5, 2.0, 3.0, 5.0, 30.0)
"""Degrees of freedom of Student's t that residuals may follow; the last is a normal law, to the eye."""

Number = TypeVar("Number", float, Array)

Stepped = Literal["none", "shared", "own"] | Sequence[int]
"""Which step curves have: none, one that all share, each its own, or each group its own (the group of each)."""


@dataclass(frozen=True)
class StepShape:
    """What a curve at n ranks may be made of.

    `basis`: orthonormal columns of the smooth curve and of other steps, (n, p); `column`: 1 beyond the place,
    (n,).
    """

    basis: Array
    column: Array


def basis_of(design: Array) -> Array:
    """Orthonormal columns that span those of a design, (n, p)."""
    left, singular, _ = np.linalg.svd(design / np.linalg.norm(design, axis=0), full_matrices=False)
    return np.asarray(left[:, singular > SINGULAR * singular[0]])


def projected(design: Array) -> tuple[Array, int, float]:
    """The pseudo-inverse, degrees of freedom, and the squared length of what others leave of the last."""
    length = np.linalg.norm(design, axis=0)
    left, singular, right = np.linalg.svd(design / length, full_matrices=False)
    known = singular > SINGULAR * singular[0]
    inverse = (right[known].T / singular[known]) @ left[:, known].T / length[:, None]
    row = float(inverse[-1] @ inverse[-1])
    return inverse, design.shape[0] - int(known.sum()), 1 / row if row > 0 else 0.0


def smooth(table: Array, time: Array) -> Array:
    """The curve of these columns nearest to ln `time`, kept positive."""
    relative = table / time[:, None]
    solution, *_ = np.linalg.lstsq(relative, np.ones_like(time), rcond=None)
    made = table @ solution
    return np.asarray(np.where(made > 0.2 * time, made, 0.2 * time))


@dataclass(frozen=True)
class StepFit:
    """Of m sets of k curves: ln likelihood, step (0 without) and scale of the residuals of each, (k, m)."""

    of_each: Array
    level: Array
    scales: Array

    @property
    def likelihood(self) -> Array:
        """Of all curves of a set, ln, (m,)."""
        return np.asarray(self.of_each.sum(axis=0))

    def of(self, of_group: Sequence[int], group: int) -> StepFit:
        """Those of one group of curves."""
        own = np.equal(of_group, group)
        return StepFit(self.of_each[own], self.level[own], self.scales[own])


def fitted(curves: Sequence[StepShape], targets: Sequence[Array], tail: float | Array, step: Stepped) -> StepFit:
    """The most likely k curves and their steps, by weights that follow the residuals.

    `targets`: (m, n) for each curve; `tail`: one for all, of each set, (m,), or of each curve, (k, 1). All sets
    of all curves are one array, since each is small: zeros make the curves equally long, and their bases equally
    wide.
    """
    counts = np.array([[curve.column.size] for curve in curves])
    groups = np.eye(len(curves)) if step == "own" else np.ones((1, len(curves)))
    if not isinstance(step, str):
        groups = np.equal.outer(np.arange(max(step) + 1), step).astype(np.float64)
    widths = np.array([curve.basis.shape[1] for curve in curves])
    width = widths.max()
    target, basis = _padded(targets), _padded([curve.basis for curve in curves])
    column = _padded([curve.column[:, None] for curve in curves])
    known = np.concatenate([basis, column], axis=2)
    back = known.transpose(0, 2, 1)
    products = (known[:, :, :, None] * known[:, :, None, :]).reshape(*known.shape[:2], -1)
    unused = np.where(np.arange(width) < widths[:, None], 0.0, 1.0)[:, None, None, :] * np.eye(width)
    tail = np.atleast_2d(tail)[..., None]
    # What zeros at the end of a shorter curve weigh.
    beyond = (target.shape[2] - counts) * (tail[..., 0] + 1) / tail[..., 0]
    left = target - target @ basis @ back[:, :width]
    medians = [np.median(np.abs(own[:, :count]), axis=1) for own, (count,) in zip(left, counts, strict=True)]
    scale = np.maximum(1.4826 * np.array(medians), LEAST_SCALE)
    level = np.zeros_like(scale)
    for _ in range(ROUNDS):
        weight = (tail + 1) / (tail + (left / scale[:, :, None]) ** 2)
        normal = (weight @ products).reshape(*weight.shape[:2], width + 1, width + 1)
        sides = (weight * target) @ known
        of_column = normal[..., :width, width]
        both = np.stack([sides[..., :width], of_column], axis=-1)
        found, beside = np.moveaxis(np.linalg.solve(normal[..., :width, :width] + unused, both), -1, 0)
        if step != "none":
            above = (sides[..., width] - (beside * sides[..., :width]).sum(axis=-1)) / scale**2
            below = (normal[..., width, width] - (beside * of_column).sum(axis=-1)) / scale**2
            level = groups.T @ ((groups @ above) / (groups @ below))
        levels = level[..., None]
        left = target - np.concatenate([found - levels * beside, levels], axis=-1) @ back
        weight = (tail + 1) / (tail + (left / scale[:, :, None]) ** 2)
        # Over the weights, not over the points: the same where it settles, and it settles sooner (Kent, Tyler and
        # Vardi, Commun. Stat. Simul. Comput. 23, 1994).
        mean_square = (weight * left**2).sum(axis=-1) / (weight.sum(axis=-1) - beyond)
        before, scale = scale, np.maximum(np.sqrt(mean_square), LEAST_SCALE)
        if np.mean(np.abs(scale - before) < SETTLED * scale) >= MOST_SETTLED:
            break
    spread = np.log1p((left / scale[:, :, None]) ** 2 / tail).sum(axis=-1)
    tail = tail[..., 0]
    constant = gammaln((tail + 1) / 2) - gammaln(tail / 2) - np.log(np.pi * tail) / 2
    likelihood = counts * (constant - np.log(scale)) - (tail + 1) / 2 * spread
    return StepFit(likelihood, level, scale)


def likelihoods(curves: Sequence[StepShape], targets: Sequence[Array], points: int) -> Array:
    """ln likelihood of curves, each with a step of its own, with each of `TAILS`; targets of shape (n,).

    `points`: how many there are. Near several places one is in several curves, and tells of its tail once.
    """
    tails, once = np.array(TAILS), min(1.0, points / sum(one.size for one in targets))
    return once * fitted(curves, [np.tile(one, (tails.size, 1)) for one in targets], tails, "own").likelihood


def tails_of(by_allocation: Mapping[str, Array], significance: float) -> dict[str, float]:
    """The degrees of freedom with which all curves together are most likely, by their `likelihoods`.

    Of an allocation its own, where its curves tell them from those of all.
    """
    of_all = int(sum(by_allocation.values(), np.zeros(len(TAILS))).argmax())
    made = {}
    for name, own in by_allocation.items():
        differs = chdtrc(1, 2 * (own.max() - own[of_all])) < significance
        made[name] = TAILS[int(own.argmax()) if differs else of_all]
    return made


Drawn = tuple[int, bytes, float]
"""A curve to draw others like it: its n points, its columns, (n, p), the step's last, as bytes, and its tail."""


@lru_cache(maxsize=4096)
def excess_of(curves: tuple[Drawn, ...]) -> float:
    """The mean ratio of likelihoods of curves without a step, with one over without; of many points it is 1.

    Of each draw the score test of the same step, of curves and noise that are known, is taken off: it goes with
    the ratio and has the mean 1 exactly, so that a quarter of the draws tells as much (a control variate).
    """
    designs = [np.frombuffer(columns).reshape(points, -1) for points, columns, _ in curves]
    made = [StepShape(basis_of(design[:, :-1]), design[:, -1]) for design in designs]
    tails = [tail for *_, tail in curves]
    noise = np.random.default_rng(1)
    targets = [
        noise.standard_t(tail, (DRAWS, curve.column.size)) for curve, tail in zip(made, tails, strict=True)
    ]
    of_each = np.array(tails)[:, None]
    stepped, smooth = (fitted(made, targets, of_each, one).likelihood for one in ("shared", "none"))
    own = [curve.column - curve.basis @ (curve.basis.T @ curve.column) for curve in made]
    each = list(zip(targets, own, tails, strict=True))
    pulls = sum(((tail + 1) * drawn / (tail + drawn**2)) @ left for drawn, left, tail in each)
    score = pulls**2 / sum(information(tail) * float(left @ left) for _, left, tail in each)
    return max(1.0, 1 + float((2 * (stepped - smooth) - score).mean()))


def information(tail: Number) -> Number:
    """Fisher's information of a point of Student's t on its place, of scale 1."""
    return (tail + 1) / (tail + 3)


def _padded(tables: Sequence[Array]) -> Array:
    """Tables, each (a, b), as one array with zeros at the ends of the smaller ones."""
    result = np.zeros((len(tables), *(max(sizes) for sizes in zip(*(one.shape for one in tables), strict=True))))
    for own, one in zip(result, tables, strict=True):
        own[: one.shape[0], : one.shape[1]] = one
    return result
