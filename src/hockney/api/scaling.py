"""Laws of scaling, and studies of measured times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hockney.errors import RequestError
from hockney.models.base import Parameter as Parameter
from hockney.models.scaling.fit import LawFit as LawFit
from hockney.models.scaling.laws import LawAnswer, answer
from hockney.models.scaling.study import MeasuredPoint as MeasuredPoint
from hockney.models.scaling.study import ScalingStudies, StudyOfFile, study
from hockney.models.scaling.study import ScalingStudy as ScalingStudy
from hockney.models.scaling.times import curves
from hockney.options.scaling import LawOptions, ScalingOptions
from hockney.report.scaling import write

LEAST = 1e-12
MOST_COHERENCY = 1e6
"""Beyond these the bounds leave the range of numbers."""
EXAMPLES = {
    "amdahl": "`hockney scaling amdahl 0.1`",
    "gustafson": "`hockney scaling gustafson 0.1`",
    "usl": "`hockney scaling usl 0.02 0.0001`",
}


def scaling_law(name: str, options: LawOptions) -> LawAnswer:
    """What follows from a law; RequestError for parameters that it does not have."""
    efficiency = options.efficiency
    if efficiency is not None and not LEAST <= efficiency <= 1:
        raise RequestError(
            f"--efficiency {efficiency:g} is not an efficiency", "give a number above 0, up to 1, for example 0.7"
        )
    names = ("contention", "coherency") if name == "usl" else ("serial fraction",)
    values = options.parameters
    if len(values) != len(names):
        raise RequestError(
            f"{name} takes its {' and its '.join(names)}, not {len(values)} numbers", f"write {EXAMPLES[name]}"
        )
    _fraction(values[0], names[0])
    if name == "usl":
        if not 0 <= values[1] <= MOST_COHERENCY:
            raise RequestError(
                f"a coherency of {values[1]:g} is not a number from 0 to {MOST_COHERENCY:g}",
                "for example 0.0001; 0 is Amdahl's law",
            )
        _not_tiny(values[1], "coherency")
    return answer(name, values, efficiency, options.processes)


def _fraction(value: float, what: str) -> None:
    # Written so that NaN is refused.
    if not 0 <= value <= 1:
        raise RequestError(f"a {what} of {value:g} is not a fraction", "give one from 0 to 1, for example 0.1")
    _not_tiny(value, what)


def _not_tiny(value: float, what: str) -> None:
    if 0 < value < LEAST:
        raise RequestError(f"a {what} of {value:g} is too close to 0", "give 0")


def scaling_studies(options: ScalingOptions, warn: Callable[[str], None]) -> StudyOfFile | ScalingStudies:
    """Fit laws to each curve of a file, and draw them; `warn` hears which are left out.

    RequestError where all are.
    """
    studies: dict[str, ScalingStudy] = {}
    left_out = ""
    measured = curves(options.path, is_weak=options.weak)
    for curve in measured:
        try:
            made = study(curve.times, options.law, is_weak=options.weak)
        except RequestError as error:
            if len(measured) == 1:
                raise
            left_out = f"{curve.name} is left out: {error.message}; {error.hint}"
            warn(left_out)
            continue
        studies[curve.name] = replace(made, curve=curve.name, notes=[*curve.notes, *made.notes])
    if not studies:
        raise RequestError(f"{options.path}: no curve can be fitted", left_out)
    if options.figure:
        write(options.figure, studies)
    every = list(studies.values())
    if len(every) == 1:
        return StudyOfFile(**vars(every[0]), path=options.path, figure=options.figure)
    return ScalingStudies(options.path, options.figure, every)
