"""Extra-P as a peer: for each algorithm, size and mapping its model of time against ranks.

A. Calotoiu, T. Hoefler, M. Poke, F. Wolf, "Using automated performance modeling to find scalability bugs in
complex codes", SC13.
"""

from __future__ import annotations

from hockney.predict.estimators._extra_p import models
from hockney.predict.estimators.base import FittedEstimator, Training, estimators
from hockney.predict.estimators.linear_in_ranks import GROUP


@estimators.register("extra_p")
def fit(training: Training) -> FittedEstimator:
    """A function for each group with two numbers of ranks; EnvironmentLack without the package."""
    return models(training, GROUP, ["ranks"])
