"""Curves whose residuals have heavy tails: the most likely ones, by weights that follow the residuals.

A benchmark's repeats have heavy tails: residuals are taken to follow Student's t (Lange, Little and Taylor, J.
Am. Stat. Assoc. 84, 1989), so that a disturbed run counts for little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from hockney.statistics import Array

TAILS = np.array((1.5, 2.0, 3.0, 5.0, 30.0))
"""Degrees of freedom that residuals may have; the last is a normal law, to the eye."""
LEAST_SCALE = 0.004
"""No residual is told apart below this: times are printed with three digits or so."""
ROUNDS = 60
SETTLED = 2e-3
"""The share by which scales no longer change in the last round; a likelihood then errs by its square."""


@dataclass(frozen=True)
class StudentFit:
    """Of m fits of n points by p columns: coefficients (m, p), scales (m,), weights and residuals (m, n).

    `likelihood`: ln, (m,).
    """

    coefficients: Array
    scale: Array
    weight: Array
    residual: Array
    likelihood: Array


def fitted(designs: Array, target: Array, tails: Array, weight: Array) -> StudentFit:
    """The most likely curves of m designs, (m, n, p) or one for all, each with its tail, (m,).

    `weight`: (n,), of the points, where the rounds begin. A column of zeros has the coefficient 0.
    """
    tail = tails[:, None]
    columns = np.broadcast_to(designs, (tails.size, *designs.shape[-2:]))
    rows = columns.transpose(0, 2, 1)
    weight = np.broadcast_to(weight, (tails.size, target.size))
    unused = np.eye(columns.shape[2]) * (1e-9 + (np.abs(columns).max(axis=1) == 0))[:, None, :]
    scale = np.full(tails.size, np.inf)
    for _ in range(ROUNDS):
        weighed = rows * weight[:, None]
        solution = np.linalg.solve(weighed @ columns + unused, weighed @ target[:, None])
        residual = target - (columns @ solution)[..., 0]
        # Over the weights, not over the points: the same where it settles, and it settles sooner (Kent, Tyler and
        # Vardi, Commun. Stat. Simul. Comput. 23, 1994).
        mean_square = (weight * residual**2).sum(axis=1) / weight.sum(axis=1)
        before, scale = scale, np.maximum(np.sqrt(mean_square), LEAST_SCALE)
        weight = (tail + 1) / (tail + (residual / scale[:, None]) ** 2)
        if np.all(np.abs(scale - before) < SETTLED * scale):
            break
    spread = np.log1p((residual / scale[:, None]) ** 2 / tail).sum(axis=1)
    constant = special.gammaln((tails + 1) / 2) - special.gammaln(tails / 2) - np.log(np.pi * tails) / 2
    likelihood = target.size * (constant - np.log(scale)) - (tails + 1) / 2 * spread
    return StudentFit(solution[..., 0], scale, weight, residual, likelihood)
