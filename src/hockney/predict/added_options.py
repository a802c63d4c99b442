"""What lies between a ping-pong and a message of a program, as options of `hockney predict pingpong`."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from hockney.errors import RequestError
from hockney.fields import Option
from hockney.predict.verb import Strided
from hockney.units import parse_time

WORST = "worst"
"""The word for the congestion of the worst mapping."""


def _congestion(text: str) -> str:
    """The text itself; RequestError for what is neither a factor of at least 1 nor WORST."""
    if text == WORST:
        return text
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 1 <= factor < math.inf:
        raise RequestError(
            f"{text!r} is no congestion: it says how many times as long a byte takes, 1 or more",
            f"for example 2.1, or {WORST}",
        )
    return text


class AddedEffects(Strided):
    """Effects that a ping-pong hides; each that is named is added to its time."""

    hops: Annotated[int | None, Option("Links that the message crosses."), Field(ge=1)] = None
    hop_latency_s: Annotated[
        float | None,
        Option(
            "With --hops: latency of a link, such as 45ns, where the machine file has none.",
            flags=("--hop-latency",),
            read=parse_time,
        ),
        Field(ge=0),
    ] = None
    queue: Annotated[int | None, Option("Posted receives that lie before the matching one."), Field(ge=0)] = None
    congestion: Annotated[
        str | None,
        Option(
            f"Times as long that a byte takes, such as 2.1; {WORST}: under the machine's worst mapping.",
            read=_congestion,
        ),
    ] = None
    busy_sender: Annotated[
        bool, Option("The sender computes meanwhile, as long as the transfer takes.", flags=("--busy-sender",))
    ] = False
    overlap: Annotated[
        float | None,
        Option("With --busy-sender: share of the transfer that proceeds meanwhile, where it was not measured."),
        Field(ge=0, le=1),
    ] = None

    @property
    def are_asked(self) -> bool:
        """Whether any effect is named. RequestError for an option that says something of one that is not."""
        for given, needed, flag in (
            (self.hop_latency_s, self.hops, "--hop-latency needs --hops"),
            (self.overlap, self.busy_sender or None, "--overlap needs --busy-sender"),
            (self.block_B, self.layout, "--block needs --layout"),
            (self.stride_B, self.layout, "--stride needs --layout"),
        ):
            if given is not None and needed is None:
                raise RequestError(flag, "give both, or leave both out")
        if self.layout is not None and (self.block_B is None or self.stride_B is None):
            raise RequestError(
                "--layout needs --block and --stride", "for example --layout vector --block 8B --stride 64B"
            )
        asked = (self.hops, self.queue, self.layout, self.congestion)
        return self.busy_sender or any(effect is not None for effect in asked)
