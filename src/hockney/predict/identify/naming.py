"""From probabilities to names: candidates that nobody could tell apart are one name, and few names are an
answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ALIKE = 0.03
"""Schedules whose simulated times differ by less than this share count as one name."""
TOLD = 2.0
"""Deviations beyond which two times are told apart."""
SURE = 0.95
"""Probability that a set of names must reach."""
MOST_NAMES = 3
"""A set of more names says nothing."""


def alike(simulated_s: Array, expected_ln: Array, deviation: Array) -> NDArray[np.bool_]:
    """Which candidates are one name, from arrays of shape (series, candidates); shape (candidates, candidates).

    They are where, in all series, their simulated times are alike, and what is known of their times (in ln, with
    its deviation) does not tell them apart either. Where one has no schedule to simulate, NaN, what is known of
    both must be as much alike. A candidate without any time is alike itself only.
    """
    ln = np.log(simulated_s)
    known = np.abs(expected_ln[:, :, None] - expected_ln[:, None, :])
    apart = np.abs(ln[:, :, None] - ln[:, None, :])
    apart = np.where(np.isnan(apart), known, apart)
    doubt = np.hypot(deviation[:, :, None], deviation[:, None, :])
    same = np.all((apart < np.log1p(ALIKE)) & (known < np.maximum(TOLD * doubt, np.log1p(ALIKE))), axis=0)
    same[np.diag_indices(same.shape[0])] = True
    return np.asarray(same)


def names(share: Array, same: NDArray[np.bool_]) -> list[list[int]] | None:
    """The fewest names that together reach `SURE`, the likeliest first, each with its candidates.

    `share`, shape (candidates + 1,), last that it is none of them; `same` as of `alike`. None: it cannot be told,
    because more than `MOST_NAMES` would be needed or because it is likely to be none of the candidates.
    """
    found: list[list[int]] = []
    strange = share.size - 1
    for state in np.argsort(-share, kind="stable").tolist():
        if state == strange or share[state] <= 0:
            continue
        for name in found:
            if all(same[state, other] for other in name):
                name.append(state)
                break
        else:
            found.append([state])
    found.sort(key=lambda name: -float(share[name].sum()))
    for count in range(1, min(MOST_NAMES, len(found)) + 1):
        if sum(float(share[name].sum()) for name in found[:count]) >= SURE:
            return found[:count]
    return None
