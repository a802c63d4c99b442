"""A block of n bytes for every rank, from one rank."""

from __future__ import annotations

from hockney.models.collectives._forms import CHAN, PJESIVAC, ClosedForm, Counts, doubling, exchange
from hockney.models.collectives.base import Collective, Optimum, collective_models

_LINEAR = ClosedForm(exchange, "(P − 1)", "(P − 1)·n", ("P", "n P"), source=PJESIVAC, serves_all=True)

collective_models.register("scatter")(
    Collective(
        Optimum("q", "(P − 1)·n", lambda case: Counts(case.log, (case.ranks - 1) * case.m)),
        {
            "linear": _LINEAR,
            "linear_nonblocking": _LINEAR,
            "binomial": ClosedForm(doubling, "q", "(P − 1)·n", ("log P", "n P"), source=CHAN),
        },
    )
)
