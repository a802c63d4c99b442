"""Every rank's block of n bytes to all ranks."""

from __future__ import annotations

from hockney.models.collectives._forms import (
    BRUCK,
    THAKUR,
    TRAEFF,
    ClosedForm,
    Counts,
    doubling,
    exchange,
)
from hockney.models.collectives.base import Collective, Optimum, collective_models

_DOUBLING = ("q", "(P − 1)·n", ("log P", "n P"))

collective_models.register("allgather")(
    Collective(
        Optimum("q", "(P − 1)·n", lambda case: Counts(case.log, (case.ranks - 1) * case.m)),
        {
            # Gathered at rank 0, which then sends everything to everybody.
            "linear": ClosedForm(
                lambda case: Counts(2 * (case.ranks - 1), (case.ranks - 1) * (case.ranks + 1) * case.m),
                "2·(P − 1)",
                "(P − 1)·(P + 1)·n",
                ("P", "n P²"),
                source="its schedule",
                serves_all=True,
            ),
            "ring": ClosedForm(exchange, "(P − 1)", "(P − 1)·n", ("P", "n P"), source=THAKUR),
            "neighbor_exchange": ClosedForm(
                lambda case: Counts(case.ranks / 2, (case.ranks - 1) * case.m),
                "P/2",
                "(P − 1)·n",
                ("P", "n P"),
                exact="even P",
                source="Chen, Zhang, Zhang and Yuan, HPC-Asia 2005",
            ),
            "bruck": ClosedForm(doubling, *_DOUBLING, source=BRUCK),
            "recursive_doubling": ClosedForm(doubling, *_DOUBLING, exact="P = 2^q", source=THAKUR),
            "circulant": ClosedForm(doubling, *_DOUBLING, source=TRAEFF),
        },
    )
)
