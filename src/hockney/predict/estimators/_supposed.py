"""A `default` of which nothing but its times is known, and no algorithm by name beside it.

It is taken for that of each library whose decisions are known: such schedules it may have, and such switches in
bytes and ranks. A calibration under each says by its interval how far off it is beyond training; so does
`combination`. The answer is the mixture of all, each weighing the inverse of its interval: less than the square
that would suit errors of their own (Bates and Granger, Oper. Res. Q. 20, 1969), because all miss alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.predict.decisions.base import decisions_for
from hockney.predict.estimators._default import Simulated, as_schedule, quantiles
from hockney.predict.estimators.base import FALLBACK, Array, Correction, FittedEstimator, Prediction, Training
from hockney.predict.estimators.combination import fit, usual
from hockney.predict.points import DEFAULT, is_grid, rows
from hockney.predict.scenario import OWN
from hockney.statistics import NORMAL
from hockney.units import percent
from hockney.words import listed

LIBRARIES = ("Open MPI 4.1", "MPICH 4.3")
"""Each stands for the libraries that descend from it, or were tuned beside it."""

WIDER = 1.25
"""Each interval by so much, for what none of the members knows; chosen on one simulated cluster."""


@dataclass(frozen=True)
class Supposed:
    """Calibrations by the library that is supposed, and curves that know no schedule."""

    members: Mapping[str, Simulated]
    curves: FittedEstimator
    is_grid: bool

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times of `points`, in their order."""
        asked = {library: scheduled(points, library) for library in self.members}
        made = [self.members[library].predict(each) for library, each in asked.items()]
        along = self.curves.predict(usual(points, is_grid=self.is_grid))
        low_ln, time_ln, high_ln = (
            np.log([getattr(each, end) for each in (*made, along)]) for end in ("low_s", "time_s", "high_s")
        )
        half = (high_ln - low_ln) / 2
        weight = 1 / np.where(np.isfinite(half), half, np.inf)
        readable_ln = np.log([each.correction.readable_s for each in made if each.correction])
        answer, readable_s = np.full((3, len(points)), np.nan), np.full(len(points), np.nan)
        for i in np.flatnonzero(weight.any(axis=0)):
            has = weight[:, i] > 0
            answer[:, i] = np.exp(quantiles(weight[has, i], time_ln[has, i], WIDER * half[has, i] / NORMAL))
            if has[:-1].any():
                readable_s[i] = np.exp(np.average(readable_ln[has[:-1], i], weights=weight[:-1][has[:-1], i]))
        share = weight / np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
        low_s, time_s, high_s = answer
        notes = [_said(asked, share), *dict.fromkeys(note for each in (*made, along) for note in each.note or [])]
        return Prediction(time_s, low_s, high_s, notes, Correction(readable_s, share[-1]))

    def steps(self, points: pd.DataFrame) -> Array:
        """Those of all that is supposed."""
        of_each = [member.steps(scheduled(points, library)) for library, member in self.members.items()]
        return np.asarray(np.sum(of_each, axis=0))


def _said(asked: Mapping[str, pd.DataFrame], share: Array) -> str:
    """What weighs how much among the points, and which schedules it stands for."""
    parts = []
    for (library, points), weight in zip(asked.items(), share, strict=False):
        names = [name.removeprefix(OWN) for name in dict.fromkeys(points["algorithm"]) if name.startswith(OWN)]
        parts.append(f"{library} ({listed(names or ['no schedule'])}) {percent(float(np.mean(weight)))}")
    parts.append(f"{FALLBACK} {percent(float(np.mean(share[-1])))}")
    return f"{DEFAULT}: its schedules are unknown; by their intervals count {', '.join(parts)}"


def scheduled(points: pd.DataFrame, library: str) -> pd.DataFrame:
    """The points by the schedules that a library chooses there; where it is not known, they stay as they are.

    Nodes share nothing but the network: how a library goes node by node is not supposed.
    """
    decisions, made = decisions_for(library), points.reset_index(drop=True)
    chosen = [
        decisions.default(point.operation, point.ranks, point.bytes, nodes=None)
        if point.algorithm == DEFAULT
        else None
        for point in rows(points)
    ]
    number = {choice: i for i, choice in enumerate(dict.fromkeys(chosen))}
    which = np.array([number[choice] for choice in chosen], dtype=np.intp)
    parts = [
        made[which == i] if choice is None else as_schedule(made[which == i], choice)
        for choice, i in number.items()
    ]
    whole: pd.DataFrame = pd.concat(parts or [made])
    return whole.sort_index()


def supposing(training: Training, calibrate: Callable[[Training], Simulated]) -> Supposed:
    """What `calibrate` makes of the points of `default` under each library's decisions.

    RequestError as of `calibrate` where no library's can be simulated.
    """
    members: dict[str, Simulated] = {}
    errors: list[RequestError] = []
    for library in LIBRARIES:
        points = scheduled(training.points, library)
        known = points[points["algorithm"] != DEFAULT].reset_index(drop=True)
        try:
            members[library] = calibrate(replace(training, points=known))
        except RequestError as error:
            errors.append(error)
    if not members:
        raise errors[0]
    grid = bool(is_grid(training.points).all())
    points = usual(training.points, is_grid=True)
    return Supposed(members, fit(replace(training, points=points)), grid)
