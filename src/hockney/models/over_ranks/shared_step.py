"""Several curves that may share a step: the most likely ones, by weights that follow heavy-tailed residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from hockney.statistics import Array

ROUNDS = 20
"""Of the fit: each weighs points anew by how far they lie from the curve."""
LEAST_SCALE = 0.004
"""No residual is told apart below this: times are printed with three digits or so."""
SINGULAR = 1e-7
"""The least singular value of columns that the points tell apart, beside the largest."""


@dataclass(frozen=True)
class Shape:
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


@dataclass(frozen=True)
class Fit:
    """Of m sets of curves: ln likelihood and common step, and for each curve the scale of its residuals; (m,)."""

    likelihood: Array
    level: Array
    scales: list[Array]


def fitted(curves: Sequence[Shape], targets: Sequence[Array], tail: float | Array, *, is_stepped: bool) -> Fit:
    """The most likely curves and their common step, by weights that follow the residuals.

    `targets`: (m, n) for each curve; `tail`: one for all, or (m,).
    """
    level = np.zeros(targets[0].shape[0])
    tail = np.reshape(tail, (-1, 1))
    smooth = [target @ curve.basis @ curve.basis.T for curve, target in zip(curves, targets, strict=True)]
    scales = [
        np.maximum(1.4826 * np.median(np.abs(target - made), axis=1), LEAST_SCALE)
        for target, made in zip(targets, smooth, strict=True)
    ]

    # One product of matrices for all sets: a set's own would each be small.
    products = [(one.basis[:, :, None] * one.basis[:, None, :]).reshape(len(one.basis), -1) for one in curves]

    def missed(number: int) -> Array:
        return np.asarray(targets[number] - smooth[number] - level[:, None] * curves[number].column)

    def weights(number: int) -> Array:
        return np.asarray((tail + 1) / (tail + (missed(number) / scales[number][:, None]) ** 2))

    for _ in range(ROUNDS):
        solved = []
        above, below = np.zeros_like(level), np.zeros_like(level)
        for number, (curve, target) in enumerate(zip(curves, targets, strict=True)):
            weight = weights(number)
            normal = (weight @ products[number]).reshape(-1, *2 * curve.basis.shape[1:])
            sides = np.stack([weight * target, weight * curve.column], axis=1) @ curve.basis
            of_target, of_column = np.moveaxis(np.linalg.solve(normal, np.moveaxis(sides, 1, 2)), 2, 0)
            solved.append((of_target, of_column))
            left = weight * curve.column - (of_column @ curve.basis.T) * weight
            above += (left * target).sum(axis=1) / scales[number] ** 2
            below += (left * curve.column).sum(axis=1) / scales[number] ** 2
        if is_stepped:
            level = above / below
        for number, (curve, (of_target, of_column)) in enumerate(zip(curves, solved, strict=True)):
            smooth[number] = (of_target - level[:, None] * of_column) @ curve.basis.T
            again = missed(number)
            scales[number] = np.maximum(np.sqrt((weights(number) * again**2).mean(axis=1)), LEAST_SCALE)
    likelihood = np.zeros_like(level)
    constant = (gammaln((tail + 1) / 2) - gammaln(tail / 2) - np.log(np.pi * tail) / 2)[:, 0]
    for number, target in enumerate(targets):
        spread = np.log1p((missed(number) / scales[number][:, None]) ** 2 / tail).sum(axis=1)
        likelihood += target.shape[1] * (constant - np.log(scales[number])) - (tail[:, 0] + 1) / 2 * spread
    return Fit(likelihood, level, scales)
