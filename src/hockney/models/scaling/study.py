"""A scaling study: speed-up and efficiency of measured times, and the laws beside one another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, InstanceOf, computed_field

from hockney.errors import RequestError
from hockney.models.scaling.fit import MISFIT, TELLING, Break, LawFit, find_break, fit_law
from hockney.models.scaling.laws import laws
from hockney.models.scaling.times import Times


@dataclass(frozen=True)
class SkippedLaw:
    """A law that could not be fitted, and why."""

    skipped: str


@dataclass(frozen=True, kw_only=True)
class MeasuredPoint:
    """Measured times on so many processes."""

    processes: int
    repetitions: int
    median_time_s: float
    speedup: float
    efficiency: float
    karp_flatt: float | None
    law_speedup: dict[str, float]


@dataclass(frozen=True)
class ScalingStudy:
    """`fits` by law, `skipped` the laws that cannot be fitted and why, `preferred` None where none stands out.

    `baseline_s` is the median of the times of one process.
    `broken`: where the time steps, so that laws have a factor from there on.
    """

    times: Annotated[InstanceOf[Times], Field(exclude=True)]
    is_weak: Annotated[bool, Field(exclude=True)]
    fits: Annotated[dict[str, LawFit], Field(exclude=True)]
    skipped: Annotated[dict[str, str], Field(exclude=True)]
    baseline_s: float
    preferred: str | None
    comparison: str
    notes: list[str]
    broken: Annotated[Break | None, Field(serialization_alias="break")] = None
    curve: str = ""

    @computed_field
    @property
    def scaling(self) -> str:
        """`weak`, where the work grew with the processes, or `strong`."""
        return "weak" if self.is_weak else "strong"

    @computed_field
    @property
    def laws(self) -> dict[str, LawFit | SkippedLaw]:
        """Each law, or why there is none."""
        return {**self.fits, **{name: SkippedLaw(why) for name, why in self.skipped.items()}}

    @computed_field
    @property
    def points(self) -> list[MeasuredPoint]:
        """The medians, with their speed-ups."""
        counts, medians_s = self.times.counts, self.times.medians_s()
        return [
            MeasuredPoint(
                processes=int(count),
                repetitions=int(np.count_nonzero(self.times.processes == count)),
                median_time_s=float(time_s),
                speedup=float(speedup),
                efficiency=float(speedup / count),
                karp_flatt=None if self.is_weak or count == 1 else _karp_flatt(count, speedup),
                law_speedup={name: float(self.law_speedups(name, count)) for name in self.fits},
            )
            for count, time_s, speedup in zip(counts, medians_s, self.speedups(counts, medians_s), strict=True)
        ]

    def speedups(self, processes: NDArray[np.float64], time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """T(1)/T(p), with weak scaling p·T(1)/T(p); shapes (N,)."""
        return self.baseline_s / time_s * (processes if self.is_weak else 1.0)

    def law_speedups(self, law: str, processes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The speed-up by a fitted law, against the study's baseline, not the law's own T(1); same shape."""
        fit = self.fits[law]
        return self.baseline_s / fit.serial_time_s.value * fit.speedup(processes)


@dataclass(frozen=True, kw_only=True)
class StudyOfFile(ScalingStudy):
    """One curve, and where it is from."""

    path: Annotated[Path, Field(serialization_alias="times")]
    figure: Path | None

    @property
    def studies(self) -> list[ScalingStudy]:
        """Itself."""
        return [self]


@dataclass(frozen=True)
class ScalingStudies:
    """Several curves."""

    path: Annotated[Path, Field(serialization_alias="times")]
    figure: Path | None
    studies: Annotated[list[ScalingStudy], Field(serialization_alias="curves")]


def _karp_flatt(count: float, speedup: float) -> float:
    """The serial fraction that one time by itself would have by Amdahl's law (Karp and Flatt, CACM 1990)."""
    return float((1 / speedup - 1 / count) / (1 - 1 / count))


def study(times: Times, law: str = "all", *, is_weak: bool = False) -> ScalingStudy:
    """Fit one law, or all that are for this kind of scaling.

    RequestError where a law is for the other kind of scaling, where no time of one process was measured, and
    where no law can be identified.
    """
    known = [name for name, candidate in laws if candidate.is_weak == is_weak]
    if law != "all" and law not in known:
        title = laws.get(law).title
        kind, hint = ("strong", "leave out --weak") if is_weak else ("weak", "add --weak if the work grew too")
        raise RequestError(f"{title} is for {kind} scaling", f"{hint}, or choose {', '.join(known)}")
    counts = times.counts
    if counts.size < 2:
        raise RequestError(
            f"all times are of {counts[0]:.0f} process{'es' if counts[0] > 1 else ''}: that is no scaling",
            "measure other numbers of processes too",
        )
    if counts[0] != 1:
        raise RequestError(
            f"there is no time of 1 process, the fewest are {counts[0]:.0f}: speed-up has no baseline",
            "measure 1 process, too",
        )
    fits: dict[str, LawFit] = {}
    skipped: dict[str, str] = {}
    asked = known if law == "all" else [law]
    broken = find_break(asked, times)
    for name in asked:
        try:
            fits[name] = fit_law(name, times, None if broken is None else broken.after)
        except RequestError as error:
            if law != "all":
                raise
            skipped[name] = error.message
    preferred, comparison = _prefer(fits, skipped)
    medians_s = times.medians_s()
    baseline_s = float(medians_s[0])
    notes = []
    speedup = baseline_s / medians_s * (counts if is_weak else 1.0)
    if beyond := [f"{count:.0f}" for count, ratio in zip(counts, speedup, strict=True) if ratio > 1.02 * count]:
        notes.append(
            f"more than the ideal speed-up at {', '.join(beyond)} processes (more cache?): no law here has that"
        )
    if broken is not None:
        notes.append(in_words(broken))
    return ScalingStudy(times, is_weak, fits, skipped, baseline_s, preferred, comparison, notes, broken)


def in_words(broken: Break) -> str:
    """The break with its interval."""
    return (
        f"between {broken.before} and {broken.after} processes the time steps by a factor of "
        f"{broken.ratio.value:.3g}{broken.ratio.bounds(about='')}: the laws have that factor from there "
        "on"
    )


def _prefer(fits: dict[str, LawFit], skipped: dict[str, str]) -> tuple[str | None, str]:
    if len(fits) == 1:
        name = next(iter(fits))
        if skipped:
            return None, f"only {name} could be fitted: there is nothing to compare it with"
        return name, f"{name} is the only law that was fitted"
    scores = {name: fit.aicc for name, fit in fits.items() if fit.aicc is not None}
    if len(scores) < len(fits):
        return None, "too few times to compare the laws (AICc)"
    first, second = sorted(scores, key=lambda name: scores[name])[:2]
    difference = scores[second] - scores[first]
    statement = f"AICc of {second} is {difference:.3g} above that of {first}"
    if difference < TELLING:
        return None, f"{statement}: too little to prefer one"
    poor = fits[first].lack_of_fit_p
    return first, f"{statement}: {first} is preferred" + (
        ", although repetitions show that it is off too" if poor is not None and poor < MISFIT else ""
    )
