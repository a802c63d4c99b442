"""Options of `hockney evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hockney.fields import Option
from hockney.options.measured import MeasuredData
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT


class EvaluateOptions(MeasuredData):
    """What is predicted from what, by which models, and where the errors go."""

    operation: Annotated[str, Option(known=lambda: (*POINT_TO_POINT, *COLLECTIVES))] = "pingpong"
    statistic: Annotated[
        str, Option("Statistic that is predicted. [default: the first of those in the table]")
    ] = ""
    models: Annotated[
        list[str],
        Option(
            "Models to judge, with all baselines where it is the one of `predict`.",
            flags=("--model",),
            read=str,
            repeat=True,
            commas=True,
        ),
    ] = Field(default_factory=list)
    train: Annotated[str, Option("Points of a collective to learn from, for example 'ranks <= 64'.")] = ""
    test: Annotated[str, Option("Points to predict. [default: all others]")] = ""
    system: Annotated[str, Option("System of the ranks: a known name, or a JSON file.")] = ""
    by: Annotated[
        Literal["", "algorithm", "mapping"], Option("Give the errors of each `algorithm` or each `mapping`.")
    ] = ""
    predictions: Annotated[
        Path | None,
        Option("File for test points and predictions: .csv, .csv.gz, .parquet.", flags=("--output", "-o")),
    ] = None
    figure: Annotated[Path | None, Option("Draw predicted against measured times: .svg, .png or .html.")] = None

    @property
    def is_split(self) -> bool:
        """Whether points of a collective are held out, and not sizes."""
        return bool(self.train.strip() or self.test.strip())
