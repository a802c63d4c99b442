"""Extra-P as a peer: for each algorithm and mapping its model of time against ranks and bytes together.

A. Calotoiu, D. Beckingsale, C. W. Earl, T. Hoefler, I. Karlin, M. Schulz, F. Wolf, "Fast multi-parameter
performance modeling", CLUSTER 2016.
"""

from __future__ import annotations

from hockney.predict.estimators._extra_p import models
from hockney.predict.estimators.base import FittedEstimator, Training, estimators
from hockney.predict.estimators.linear_in_ranks import GROUP


@estimators.register("extra_p_joint")
def fit(training: Training) -> FittedEstimator:
    """A function for each group with two numbers of ranks and two sizes; EnvironmentLack without the package."""
    return models(training, [name for name in GROUP if name != "bytes"], ["ranks", "bytes"])
