"""Reduction of n bytes of every rank at one of them."""

from __future__ import annotations

from hockney.models.collectives._forms import (
    PJESIVAC,
    THAKUR,
    Case,
    ClosedForm,
    Counts,
    chains,
    height,
    reducing,
    rounds,
    segmented,
)
from hockney.models.collectives.base import Collective, Optimum, collective_models


def _rabenseifner(case: Case) -> Counts:
    power = 2**case.floor
    share = (power - 1) / power
    # Ranks beyond the power of two hand their vector over first; the root has nothing to give back.
    return Counts(2 * case.floor + case.rest, (2 * share + case.rest) * case.m, (share + case.rest) * case.m)


collective_models.register("reduce")(
    Collective(
        Optimum("q", "n", lambda case: Counts(case.log, case.m, case.share * case.m), "(P − 1)/P·n"),
        {
            "linear": ClosedForm(
                reducing(rounds(lambda case, _: case.ranks - 1)),
                "(P − 1)",
                "(P − 1)·n",
                ("P", "n P"),
                "(P − 1)·n",
                source=PJESIVAC,
                serves_all=True,
            ),
            "chain": ClosedForm(
                reducing(rounds(chains)),
                *segmented("(k·S + ⌈(P − 1)/k⌉ − 1)"),
                ("S + P", "n + n P/S"),
                segmented("(k·S + ⌈(P − 1)/k⌉ − 1)")[1],
                source=PJESIVAC,
            ),
            "pipeline": ClosedForm(
                reducing(rounds(lambda case, n: case.ranks - 2 + n)),
                *segmented("(P − 2 + S)"),
                ("S + P", "n + n P/S"),
                segmented("(P − 2 + S)")[1],
                source=PJESIVAC,
            ),
            "binary": ClosedForm(
                reducing(rounds(lambda case, n: 2 * (height(case) + n - 1))),
                *segmented("2·(d + S − 1)"),
                ("S + log P", "n + n log P/S"),
                segmented("2·(d + S − 1)")[1],
                exact="P = 2^h − 1",
                source=PJESIVAC,
            ),
            "binomial": ClosedForm(
                reducing(rounds(lambda case, n: case.log * n)),
                "q·S",
                "q·n",
                ("S log P", "n log P"),
                "q·n",
                source=THAKUR,
            ),
            "rabenseifner": ClosedForm(
                _rabenseifner,
                "(2·d + r)",
                "(2·(N − 1)/N + r)·n",
                ("log P", "n"),
                "((N − 1)/N + r)·n",
                source=THAKUR,
            ),
        },
    )
)
