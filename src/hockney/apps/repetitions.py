"""How often a timed application is repeated: the option, and the keys of the request."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hockney.fields import Option

LEAST_SAMPLES = 6
BUDGET_S = 2.0
TOLERANCE = 0.01

Repetitions = Annotated[
    int | None,
    Option("Time so many repetitions. [default: until the interval is ±1 %, for 2 s at most]"),
    Field(ge=1),
]


def repetitions(count: int | None) -> dict[str, float]:
    """The keys that every timed application takes: a fixed number, or as many as the interval asks for."""
    return {
        "repetitions": count or 0,
        "least_samples": LEAST_SAMPLES,
        "budget_s": BUDGET_S,
        "tolerance": TOLERANCE,
    }
