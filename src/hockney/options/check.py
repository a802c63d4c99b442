"""Options of `hockney check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from hockney.check.advised import MANY_LAUNCHES as MANY_LAUNCHES
from hockney.check.advised import MOST_ROWS as MOST_ROWS
from hockney.errors import RequestError
from hockney.fields import Argument, Option
from hockney.units import names, percent


def _guidelines() -> list[str]:
    # Only a shell that completes asks for them, and only then it waits for numpy.
    from hockney.check.guidelines import guidelines

    return guidelines.names()


def _share(text: str) -> float:
    """`2%` or `0.02`."""
    word = text.strip()
    try:
        return float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError as error:
        raise RequestError(f"{text!r} is no share", "for example 2%") from error


class CheckOptions(BaseModel, defer_build=True):
    """What is checked, how sure an alarm must be, and where it is written."""

    empty_means_default: ClassVar[bool] = True

    campaign: Annotated[
        Path, Argument("Campaign folder, tidy table (.csv, .csv.gz, .parquet), or, with --against, machine file.")
    ]
    guidelines: Annotated[
        list[str],
        Option(
            "Only these guidelines, with commas between. [default: all]",
            read=names,
            known=_guidelines,
        ),
    ] = Field(default_factory=list)
    against: Annotated[
        Path | None,
        Option("Compare with this older campaign, table or machine file, too."),
    ] = None
    confirm: Annotated[
        Path | None,
        Option("Measure violations again into this folder, and say which stand."),
    ] = None
    family_error: Annotated[
        float,
        Option("Highest probability of any false alarm.", read=_share, show=percent),
        Field(gt=0, le=0.5),
    ] = 0.05
    least_factor: Annotated[float, Option("Ignore slowdowns up to this factor."), Field(ge=1, le=100)] = 1.05
    trust: Annotated[bool, Option(flags=("--trust",))] = False
