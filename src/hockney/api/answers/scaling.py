"""The answers of `hockney scaling`."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.models.base import Parameter


class LawPoint(TypedDict):
    """Speed-up by a law."""

    processes: int
    speedup: float
    efficiency: float


class LawAnswer(TypedDict):
    """A law and what follows from it; a limit that there is none of is null."""

    law: str
    serial_fraction: NotRequired[float]
    parallel_fraction: NotRequired[float]
    contention: NotRequired[float]
    coherency: NotRequired[float]
    speedup_limit: float | None
    efficiency_limit: NotRequired[float | None]
    peak_processes: NotRequired[float | None]
    peak_speedup: NotRequired[float | None]
    efficiency: NotRequired[float]
    max_processes: NotRequired[int | None]
    max_processes_bound: NotRequired[float | None]
    points: list[LawPoint]


answer("scaling amdahl", "scaling gustafson", "scaling usl")(LawAnswer)


class MeasuredPoint(TypedDict):
    """Measured times on so many processes."""

    processes: int
    repetitions: int
    median_time_s: float
    speedup: float
    efficiency: float
    karp_flatt: float | None
    law_speedup: dict[str, float]


class FittedLaw(TypedDict):
    """A law that was fitted."""

    serial_time_s: Parameter
    parameters: dict[str, Parameter]
    limits: dict[str, float | None]
    relative_scatter: float | None
    degrees_of_freedom: int
    lack_of_fit_p: float | None
    aicc: float | None
    notes: list[str]
    step_at: float | None
    step: Parameter | None


class SkippedLaw(TypedDict):
    """A law that could not be fitted, and why."""

    skipped: str


Study = TypedDict(
    "Study",
    {
        "curve": str,
        "scaling": str,
        "baseline_s": float,
        "baseline": str,
        "points": list[MeasuredPoint],
        "laws": dict[str, FittedLaw | SkippedLaw],
        "preferred": str | None,
        "comparison": str,
        "notes": list[str],
        "break": dict[str, Any] | None,
    },
)


class StudyOfFile(Study):
    """One curve, and where it is from."""

    times: str
    figure: str | None


class StudiesOfFile(TypedDict):
    """Several curves."""

    times: str
    figure: str | None
    curves: list[Study]


answer("scaling fit")(StudyOfFile | StudiesOfFile)
