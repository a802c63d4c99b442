"""Reduction of n bytes of every rank, with the result at all of them."""

from __future__ import annotations

from hockney.models.collectives._forms import PJESIVAC, THAKUR, TRAEFF, Case, ClosedForm, Counts
from hockney.models.collectives.base import Collective, Optimum, collective_models


def _rabenseifner(case: Case) -> Counts:
    power = 2**case.floor
    share = (power - 1) / power
    return Counts(2 * case.floor + 2 * case.rest, 2 * (share + case.rest) * case.m, (share + case.rest) * case.m)


def _segmented_ring(case: Case) -> Counts:
    block = case.m / case.ranks
    segments = case.segments(block)
    times = (case.ranks - 1) * segments
    share = (case.ranks - 1) * block
    return Counts(times + case.ranks - 1, 2 * share, share)


collective_models.register("allreduce")(
    Collective(
        Optimum(
            "q",
            "2·(P − 1)/P·n",
            lambda case: Counts(case.log, 2 * case.share * case.m, case.share * case.m),
            "(P − 1)/P·n",
        ),
        {
            "linear": ClosedForm(
                lambda case: Counts(
                    2 * (case.ranks - 1), 2 * (case.ranks - 1) * case.m, (case.ranks - 1) * case.m
                ),
                "2·(P − 1)",
                "2·(P − 1)·n",
                ("P", "n P"),
                "(P − 1)·n",
                source=PJESIVAC,
                serves_all=True,
            ),
            "reduce_bcast": ClosedForm(
                lambda case: Counts(
                    2 * case.log * case.segments(case.m), 2 * case.log * case.m, case.log * case.m
                ),
                "2·q·S",
                "2·q·n",
                ("S log P", "n log P"),
                "q·n",
                source=PJESIVAC,
            ),
            "recursive_doubling": ClosedForm(
                lambda case: Counts(
                    case.floor + 2 * case.rest,
                    (case.floor + 2 * case.rest) * case.m,
                    (case.floor + case.rest) * case.m,
                ),
                "(d + 2·r)",
                "(d + 2·r)·n",
                ("log P", "n log P"),
                "(d + r)·n",
                source=THAKUR,
            ),
            "ring": ClosedForm(
                lambda case: Counts(2 * (case.ranks - 1), 2 * case.share * case.m, case.share * case.m),
                "2·(P − 1)",
                "2·(P − 1)/P·n",
                ("P", "n"),
                "(P − 1)/P·n",
                source=THAKUR,
            ),
            "segmented_ring": ClosedForm(
                _segmented_ring,
                "(P − 1)·(S + 1)",
                "2·(P − 1)/P·n",
                ("S P", "n"),
                "(P − 1)/P·n",
                source=PJESIVAC,
            ),
            "rabenseifner": ClosedForm(
                _rabenseifner,
                "2·(d + r)",
                "2·((N − 1)/N + r)·n",
                ("log P", "n"),
                "((N − 1)/N + r)·n",
                source=THAKUR,
            ),
            "circulant": ClosedForm(
                lambda case: Counts(2 * case.log, 2 * case.share * case.m, case.share * case.m),
                "2·q",
                "2·(P − 1)/P·n",
                ("log P", "n"),
                "(P − 1)/P·n",
                source=TRAEFF,
            ),
        },
    )
)
