"""Laws of scaling, and studies of measured times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hockney.errors import RequestError
from hockney.models.base import Parameter as Parameter
from hockney.models.scaling.fit import LawFit as LawFit
from hockney.models.scaling.laws import LawAnswer, answer, exact
from hockney.models.scaling.study import MeasuredPoint as MeasuredPoint
from hockney.models.scaling.study import ScalingStudies, StudyOfFile, study
from hockney.models.scaling.study import ScalingStudy as ScalingStudy
from hockney.models.scaling.times import curves
from hockney.options.scaling import LawOptions, ScalingOptions, SerialOptions, UslOptions
from hockney.report.scaling import write

LEAST = 1e-12
MOST_COHERENCY = 1e6
"""Beyond these the bounds leave the range of numbers."""


def scaling_law(name: str, options: LawOptions) -> LawAnswer:
    """What follows from a law; RequestError for parameters that it does not have."""
    efficiency = options.efficiency
    if efficiency is not None and not LEAST <= efficiency <= 1:
        raise RequestError(
            f"--efficiency {efficiency:g} is not an efficiency", "give a number above 0, up to 1, for example 0.7"
        )
    if isinstance(options, SerialOptions):
        return answer(name, [_serial_fraction(options)], efficiency, options.processes)
    assert isinstance(options, UslOptions)
    _fraction(options.contention, "--contention")
    if not 0 <= options.coherency <= MOST_COHERENCY:
        raise RequestError(
            f"--coherency {options.coherency:g} is not a number from 0 to {MOST_COHERENCY:g}",
            "for example 0.0001; 0 is Amdahl's law",
        )
    _not_tiny(options.coherency, "--coherency")
    return answer(name, [options.contention, options.coherency], efficiency, options.processes)


def _fraction(value: float, option: str) -> None:
    # Written so that NaN is refused.
    if not 0 <= value <= 1:
        raise RequestError(f"{option} {value:g} is not a fraction", "give a number from 0 to 1, for example 0.1")
    _not_tiny(value, option)


def _not_tiny(value: float, option: str) -> None:
    if 0 < value < LEAST:
        raise RequestError(f"{option} {value:g} is less than anybody can tell from 0", "give 0")


def _serial_fraction(options: SerialOptions) -> float:
    serial, parallel = options.serial, options.parallel
    if serial is not None and parallel is None:
        _fraction(serial, "--serial-fraction")
        return serial
    if parallel is not None and serial is None:
        _fraction(parallel, "--parallel-fraction")
        return float(1 - exact(parallel))
    what = "neither is given" if serial is None else "both are given"
    raise RequestError(
        f"--serial-fraction and --parallel-fraction say the same thing, and {what}", "give one of them"
    )


def scaling_studies(options: ScalingOptions, warn: Callable[[str], None]) -> StudyOfFile | ScalingStudies:
    """Fit laws to each curve of a file, and draw them; `warn` hears which are left out.

    RequestError where all are.
    """
    studies: dict[str, ScalingStudy] = {}
    measured = curves(options.path, is_weak=options.weak)
    for curve in measured:
        try:
            made = study(curve.times, options.law, is_weak=options.weak, extrapolate=options.extrapolate)
        except RequestError as error:
            if len(measured) == 1:
                raise
            warn(f"{curve.name} is left out: {error.message}; {error.hint}")
            continue
        studies[curve.name] = replace(made, curve=curve.name, notes=[*curve.notes, *made.notes])
    if not studies:
        raise RequestError(f"{options.path}: no curve can be fitted", "see the warnings")
    if options.figure:
        write(options.figure, studies)
    every = list(studies.values())
    if len(every) == 1:
        return StudyOfFile(**vars(every[0]), path=options.path, figure=options.figure)
    return ScalingStudies(options.path, options.figure, every)
