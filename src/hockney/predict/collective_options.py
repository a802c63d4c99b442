"""The options of `hockney predict` of a collective."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hockney.fields import Option
from hockney.predict.verb import MessageCosts, Sizes
from hockney.schedule.catalogue import algorithm_names
from hockney.words import segment, written


class CollectiveCase(MessageCosts, Sizes):
    """Which collective is predicted, on which ranks, and from what."""

    operation: str = ""
    ranks: Annotated[int | None, Option()] = None
    algorithm: Annotated[
        str,
        Option(
            "One, several, `all`, or `best` for the fastest alone.",
            commas=True,
            known=lambda: ("all", "best", *algorithm_names()),
        ),
    ] = "all"
    root: Annotated[int, Option()] = 0
    segment_B: Annotated[
        int | None,
        Option(
            "Or best: the best of each algorithm.",
            flags=("--segment",),
            read=lambda text: None if text == "best" else segment(text),
            show=lambda size_B: written(size_B or 0),
        ),
    ] = 0
    """None: the best of each algorithm."""
    table: Annotated[Path | None, Option("Predictions are calibrated on them.")] = None
    statistic: Annotated[str, Option("The one of --table that is predicted.")] = ""
