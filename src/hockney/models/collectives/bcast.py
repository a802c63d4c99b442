"""Broadcast of n bytes from one rank to all."""

from __future__ import annotations

from hockney.models.collectives._forms import (
    PJESIVAC,
    THAKUR,
    TRAEFF,
    Case,
    ClosedForm,
    Counts,
    chains,
    height,
    knomial_levels,
    rounds,
    segmented,
)
from hockney.models.collectives.base import Collective, Optimum, collective_models


def _split_binary(case: Case) -> Counts:
    half = case.m / 2
    segments = case.segments(half)
    times = 2 * (height(case) + segments - 1)
    return Counts(times + 1, times * half / segments + half)


_TREE = ("log P", "n log P")

collective_models.register("bcast")(
    Collective(
        Optimum("q", "n", lambda case: Counts(case.log, case.m)),
        {
            "linear": ClosedForm(
                rounds(lambda case, _: case.ranks - 1),
                "(P − 1)",
                "(P − 1)·n",
                ("P", "n P"),
                source=PJESIVAC,
                serves_all=True,
            ),
            "chain": ClosedForm(
                rounds(chains),
                *segmented("(k·S + ⌈(P − 1)/k⌉ − 1)"),
                ("S + P", "n + n P/S"),
                exact="k | P − 1",
                source=PJESIVAC,
            ),
            "pipeline": ClosedForm(
                rounds(lambda case, n: case.ranks - 2 + n),
                *segmented("(P − 2 + S)"),
                ("S + P", "n + n P/S"),
                source=PJESIVAC,
            ),
            "binary": ClosedForm(
                rounds(lambda case, n: 2 * (height(case) + n - 1)),
                *segmented("2·(d + S − 1)"),
                ("S + log P", "n + n log P/S"),
                exact="P = 2^h − 1",
                source=PJESIVAC,
            ),
            "split_binary": ClosedForm(
                _split_binary,
                "(2·(d + S − 1) + 1)",
                "(2·(d + S − 1)·n/(2·S) + n/2)",
                ("S + log P", "n + n log P/S"),
                exact="P = 2^h − 1",
                source=PJESIVAC,
            ),
            "binomial": ClosedForm(
                rounds(lambda case, n: case.log * n), "q·S", "q·n", ("S log P", "n log P"), source=THAKUR
            ),
            "knomial": ClosedForm(
                rounds(knomial_levels),
                "(k − 1)·⌈log(P)/log(k)⌉·S",
                "(k − 1)·⌈log(P)/log(k)⌉·n",
                ("S log P", "n log P"),
                exact="P = k^d",
                source=PJESIVAC,
            ),
            "halving_tree": ClosedForm(
                rounds(lambda case, _: case.log), "q", "q·n", _TREE, source="its schedule"
            ),
            "pipelined_tree": ClosedForm(
                rounds(lambda case, n: case.floor * (n - 1) + case.log),
                *segmented("(d·(S − 1) + q)"),
                ("S log P", "n log P"),
                source="its schedule",
            ),
            "scatter_allgather": ClosedForm(
                lambda case: Counts(2 * case.log, 2 * case.share * case.m),
                "2·q",
                "2·(P − 1)/P·n",
                ("log P", "n"),
                exact="P = 2^q",
                bounds=False,
                source=THAKUR,
            ),
            "scatter_allgather_ring": ClosedForm(
                lambda case: Counts(case.log + case.ranks - 1, 2 * case.share * case.m),
                "(q + P − 1)",
                "2·(P − 1)/P·n",
                ("P", "n"),
                source=THAKUR,
            ),
            "circulant": ClosedForm(
                rounds(lambda case, n: n - 1 + case.log),
                *segmented("(S − 1 + q)"),
                ("S + log P", "n + n log P/S"),
                source=TRAEFF,
            ),
        },
    )
)
