"""What `hockney report` is told, and the part of it that a study is told too."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from hockney.fields import Option
from hockney.units import parse_bytes
from hockney.words import words


class CollectiveTimes(BaseModel):
    """The statistic over ranks, and the sizes at which times are drawn against ranks."""

    statistic: Annotated[
        Literal["", "completion", "max_over_ranks", "mean_over_ranks", "min_over_ranks"],
        Option("[default: of those in the table the one that says most]"),
    ] = ""
    sizes_B: Annotated[
        list[int],
        Option(
            "Times of collectives are drawn and fitted against ranks at these, with commas between. "
            "[default: a small, a middle and a large one]",
            flags=("--bytes",),
            read=lambda text: sorted({parse_bytes(word) for word in words(text)}),
        ),
    ] = Field(default_factory=list)
