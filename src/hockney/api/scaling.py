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
"""Nearer to 0, or above 10^6, the bounds leave the range of numbers."""
FRACTION = "serial fraction"
PARAMETERS = {
    "amdahl": {FRACTION: 1.0},
    "gustafson": {FRACTION: 1.0},
    "usl": {"contention": 1.0, "coherency": 1e6},
}
"""What each law takes, and the most that it may be."""


def scaling_law(name: str, options: LawOptions) -> LawAnswer:
    """What follows from a law; RequestError for parameters that it does not have."""
    efficiency = options.efficiency
    if efficiency is not None and not LEAST <= efficiency <= 1:
        raise RequestError(
            f"--efficiency {efficiency:g} is not an efficiency", "give a number above 0, up to 1, for example 0.7"
        )
    takes, values = PARAMETERS[name], options.parameters
    hint = f"write `hockney scaling {name} {' '.join(['0.1', '0.0001'][: len(takes)])}`"
    if len(values) != len(takes):
        raise RequestError(f"{name} takes its {' and its '.join(takes)}, not {len(values)} numbers", hint)
    for (what, most), value in zip(takes.items(), values, strict=True):
        # Written so that NaN is refused.
        if not (value == 0 or LEAST <= value <= most):
            raise RequestError(
                f"a {what} of {value:g} is neither 0 nor a number from {LEAST:g} to {most:g}", hint
            )
    return answer(name, values, efficiency, options.processes)


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
