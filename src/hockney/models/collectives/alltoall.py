"""A block of n bytes from every rank to every other one."""

from __future__ import annotations

from hockney.models.collectives._forms import BRUCK, PJESIVAC, THAKUR, ClosedForm, Counts, exchange
from hockney.models.collectives.base import Collective, Optimum, collective_models

_EXCHANGE = ("(P − 1)", "(P − 1)·n", ("P", "n P"))

collective_models.register("alltoall")(
    Collective(
        Optimum("q", "(P − 1)·n", lambda case: Counts(case.log, (case.ranks - 1) * case.m)),
        {
            "linear": ClosedForm(exchange, *_EXCHANGE, source=PJESIVAC, serves_all=True),
            "linear_sync": ClosedForm(exchange, *_EXCHANGE, source=PJESIVAC, serves_all=True),
            "pairwise": ClosedForm(exchange, *_EXCHANGE, source=THAKUR),
            "bruck": ClosedForm(
                lambda case: Counts(case.log, case.log * case.ranks / 2 * case.m),
                "q",
                "q·P/2·n",
                ("log P", "n P log P"),
                exact="P = 2^q",
                source=BRUCK,
            ),
        },
    )
)
