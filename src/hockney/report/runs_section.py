"""The section on an application that repeats a unit of work: its figures, its table and its predictions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Contribution, Runs, as_data, errors_in_words, page_id, readable
from hockney.report.application import App
from hockney.report.page import Section
from hockney.report.run_figures import figures
from hockney.report.run_tables import ReportedRun, name_series, runs_table
from hockney.units import counted

Predict = Callable[[AppRecord, Basis], tuple[float | None, list[str]]]
"""Seconds of one unit of a run (None if there is nothing to predict), and what is assumed.

RequestError if the run cannot be predicted.
"""


def section(app: App, runs: Runs, report: Callable[[AppRecord], ReportedRun], predict: Predict) -> Contribution:
    """The section on all runs of an application; a run of another version is listed with what every record has.

    `report` makes of a record a run without its prediction; an exception of UNREADABLE if the answer lacks a
    value.
    """
    page = Section(page_id(app.name), app.title, app.meaning, is_application=True)
    contribution = Contribution([page])
    reported = readable(runs.records, report, page, contribution)
    reasons, assumptions = ([], []) if runs.basis is None else _predict(predict, reported, runs.basis)
    if reported:
        name_series(reported)
        page.figures = figures(app.name, app.title, app.unit, reported)
        page.tables.insert(0, runs_table(reported, app.unit, app.rate))
        has_bound = any(run.bound_share is not None for run in reported)
        bound = app.about_bound if has_bound else ""
        predictions = _about_predictions(app, reported, runs.basis, reasons, assumptions)
        page.note = " ".join(filter(None, [app.about, bound, *predictions]))
        contribution.runs += map(_data, reported)
        contribution.timed += [run.record for run in reported]
    return contribution


def _about_predictions(
    app: App,
    reported: Sequence[ReportedRun],
    basis: Basis | None,
    reasons: Sequence[tuple[str, int]],
    assumptions: Sequence[str],
) -> list[str]:
    if basis is None:
        return ["Nothing is predicted: there is no machine file (--machine, or machine.json in the folder)."]
    sentences = []
    if any(run.predicted_s is not None for run in reported):
        sentences.append(f"Predicted from {basis.origin}: {app.about_prediction}")
        sentences.append(f"{errors_in_words([run.error for run in reported if run.error is not None])}.")
        if assumptions:
            sentences.append(f"Assumed: {'; '.join(assumptions)}.")
    of = counted(len(reported), "run")
    return sentences + [f"Not predicted, {count} of {of}: {why}." for why, count in reasons]


def _data(run: ReportedRun) -> dict[str, Any]:
    """A run as data; times are seconds of one unit of the app."""
    of_time = ("time_s", "low_s", "high_s", "predicted_s", "error")
    names = ("problem", "grid", "way", *of_time, "bound_share", "communication")
    return as_data([run.record])[0] | {name: getattr(run, name) for name in names}


def _predict(
    predict: Predict, reported: list[ReportedRun], basis: Basis
) -> tuple[list[tuple[str, int]], list[str]]:
    """Fill in the predictions; returns the reasons for missing ones with their counts, and the assumptions."""
    reasons: dict[str, int] = {}
    assumptions: dict[str, None] = {}
    for run in reported:
        why = basis.refused(run.record)
        if not why:
            try:
                predicted_s, assumed = predict(run.record, basis)
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
