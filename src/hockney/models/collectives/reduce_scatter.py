"""Reduction of a block of n bytes for every rank, of all ranks."""

from __future__ import annotations

from hockney.models.collectives._forms import (
    THAKUR,
    TRAEFF,
    Case,
    ClosedForm,
    Counts,
    doubling,
    exchange,
    reducing,
)
from hockney.models.collectives.base import Collective, Optimum, collective_models

_BLOCKS = "(P − 1)·n"


def _halving(case: Case) -> Counts:
    whole = case.ranks * case.m
    if not case.rest:
        return Counts(case.log, case.share * whole, case.share * whole)
    return Counts(case.floor + 2, 2 * whole, (1 + case.share) * whole)


collective_models.register("reduce_scatter")(
    Collective(
        Optimum(
            "q",
            _BLOCKS,
            lambda case: Counts(case.log, (case.ranks - 1) * case.m, (case.ranks - 1) * case.m),
            _BLOCKS,
        ),
        {
            "ring": ClosedForm(reducing(exchange), "(P − 1)", _BLOCKS, ("P", "n P"), _BLOCKS, source=THAKUR),
            "pairwise": ClosedForm(reducing(exchange), "(P − 1)", _BLOCKS, ("P", "n P"), _BLOCKS, source=THAKUR),
            "recursive_halving": ClosedForm(
                _halving,
                "(d + 2·r)",
                "(P − 1 + r·(P + 1))·n",
                ("log P", "n P"),
                "(P − 1 + r·P)·n",
                exact="P = 2^q",
                bounds=False,
                source=THAKUR,
            ),
            "circulant": ClosedForm(reducing(doubling), "q", _BLOCKS, ("log P", "n P"), _BLOCKS, source=TRAEFF),
        },
    )
)
