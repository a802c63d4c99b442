"""The section on an application that repeats a unit of work: its figures, its table and its predictions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Contribution, Runs, as_data, errors_in_words, page_id, readable
from hockney.report.page import Section
from hockney.report.run_figures import figures
from hockney.report.run_tables import ReportedRun, name_series, runs_table


class Program(ABC):
    """An application whose times are those of one `unit`: a sweep, an iteration. `rate` heads the rates.

    `about` explains the numbers, `about_bound` the bound of the rate, `about_prediction` the predictions.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    meaning: ClassVar[str]
    unit: ClassVar[str]
    rate: ClassVar[str]
    about: ClassVar[str] = ""
    about_bound: ClassVar[str] = ""
    about_prediction: ClassVar[str]

    @abstractmethod
    def reported(self, record: AppRecord) -> ReportedRun:
        """A run without its prediction; an exception of UNREADABLE if the answer lacks a value."""

    @abstractmethod
    def predicted_s(self, record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
        """Seconds of one unit (None if there is nothing to predict), and the assumptions of the prediction.

        RequestError if the run cannot be predicted.
        """


def section(program: Program, runs: Runs) -> Contribution:
    """The section on all runs of a program; a run of another version is listed with what every record has."""
    page = Section(page_id(program.name), program.title, program.meaning, is_application=True)
    contribution = Contribution([page])
    reported = readable(runs.records, program.reported, page, contribution)
    reasons, assumptions = ([], []) if runs.basis is None else _predict(program, reported, runs.basis)
    if reported:
        name_series(reported)
        page.figures = figures(program.name, program.title, program.unit, reported)
        page.tables.insert(0, runs_table(reported, program.unit, program.rate))
        page.note = " ".join(
            filter(
                None, [program.about, *_about_predictions(program, reported, runs.basis, reasons, assumptions)]
            )
        )
        contribution.runs += map(_data, reported)
        contribution.timed += [run.record for run in reported]
    return contribution


def _about_predictions(
    program: Program,
    reported: Sequence[ReportedRun],
    basis: Basis | None,
    reasons: Sequence[tuple[str, int]],
    assumptions: Sequence[str],
) -> list[str]:
    if basis is None:
        return ["Nothing is predicted: there is no machine file (--machine, or machine.json in the folder)."]
    sentences = []
    if any(run.predicted_s is not None for run in reported):
        sentences.append(f"Predicted from {basis.origin}: {program.about_prediction}")
        sentences.append(f"{errors_in_words([run.error for run in reported if run.error is not None])}.")
        if assumptions:
            sentences.append(f"Assumed: {'; '.join(assumptions)}.")
    return sentences + [f"Not predicted, {count} of {len(reported)} runs: {why}." for why, count in reasons]


def _data(run: ReportedRun) -> dict[str, Any]:
    """A run as data; times are seconds of one unit of the program."""
    names = ("problem", "grid", "way", "time_s", "low_s", "high_s", "bound_share", "communication")
    return {
        **as_data([run.record])[0],
        **{name: getattr(run, name) for name in names},
        "predicted_s": run.predicted_s,
        "error": run.error,
    }


def _predict(
    program: Program, reported: list[ReportedRun], basis: Basis
) -> tuple[list[tuple[str, int]], list[str]]:
    """Fill in the predictions; returns the reasons for missing ones with their counts, and the assumptions."""
    reasons: dict[str, int] = {}
    assumptions: dict[str, None] = {}
    for run in reported:
        why = basis.refused(run.record)
        if not why:
            try:
                predicted_s, assumed = program.predicted_s(run.record, basis)
                if predicted_s is not None and not 0 < predicted_s < math.inf:
                    raise ValueError("no time")
                run.predicted_s = predicted_s
                assumptions |= dict.fromkeys(assumed)
            except RequestError as error:
                why = error.message
            except (IndexError, KeyError, ValueError):
                why = "the answer lacks what the prediction needs"
        if why:
            reasons[why] = reasons.get(why, 0) + 1
    return list(reasons.items()), list(assumptions)
