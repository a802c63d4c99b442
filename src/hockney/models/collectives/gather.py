"""Every rank's block of n bytes to one rank."""

from __future__ import annotations

from hockney.models.collectives._forms import CHAN, PJESIVAC, ClosedForm, Counts, doubling, exchange
from hockney.models.collectives.base import Collective, Optimum, collective_models

collective_models.register("gather")(
    Collective(
        Optimum("q", "(P − 1)·n", lambda case: Counts(case.log, (case.ranks - 1) * case.m)),
        {
            "linear": ClosedForm(
                exchange, "(P − 1)", "(P − 1)·n", ("P", "n P"), source=PJESIVAC, serves_all=True
            ),
            # Every block is asked for with an empty message.
            "linear_sync": ClosedForm(
                lambda case: Counts(2 * (case.ranks - 1), (case.ranks - 1) * case.m),
                "2·(P − 1)",
                "(P − 1)·n",
                ("P", "n P"),
                source=PJESIVAC,
            ),
            "binomial": ClosedForm(doubling, "q", "(P − 1)·n", ("log P", "n P"), source=CHAN),
        },
    )
)
