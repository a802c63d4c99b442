"""The section on an application that repeats something: its figures, its table, and how it was predicted."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Made, Runs, as_data, errors_in_words, page_id, readable
from hockney.report.page import Section
from hockney.report.run_figures import figures
from hockney.report.run_tables import Shown, name_series, runs_table


class Program(ABC):
    """An application whose times are those of one `unit`: a sweep, an iteration. `rate` heads the rates.

    `about` says what the numbers mean, `about_bound` what bounds the rate, `about_prediction` what is predicted
    and from what.
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
    def shown(self, record: AppRecord) -> Shown:
        """A run without its prediction; one of UNREADABLE where the answer lacks something."""

    @abstractmethod
    def predicted_s(self, record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
        """Seconds of one unit, None where nothing is to be predicted, and what is assumed instead of measured.

        RequestError where it cannot be predicted.
        """


def section(program: Program, runs: Runs) -> Made:
    """Of all runs of a program. One that another version wrote is listed as far as every record tells it."""
    page = Section(page_id(program.name), program.title, program.meaning, is_application=True)
    made = Made([page])
    shown = readable(runs.records, program.shown, page, made)
    reasons, assumptions = ([], []) if runs.basis is None else _predict(program, shown, runs.basis)
    if shown:
        name_series(shown)
        page.figures = figures(program.name, program.title, program.unit, shown)
        page.tables.insert(0, runs_table(shown, program.unit, program.rate))
        page.note = " ".join(
            filter(None, [program.about, *_about_predictions(program, shown, runs.basis, reasons, assumptions)])
        )
        made.runs += map(_data, shown)
        made.timed += [one.record for one in shown]
    return made


def _about_predictions(
    program: Program,
    shown: Sequence[Shown],
    basis: Basis | None,
    reasons: Sequence[tuple[str, int]],
    assumptions: Sequence[str],
) -> list[str]:
    if basis is None:
        return ["Nothing is predicted: there is no machine file (--machine, or machine.json in the folder)."]
    told = []
    if any(one.predicted_s is not None for one in shown):
        told.append(f"Predicted from {basis.origin}: {program.about_prediction}")
        told.append(f"{errors_in_words([one.error for one in shown if one.error is not None])}.")
        if assumptions:
            told.append(f"Assumed: {'; '.join(assumptions)}.")
    return told + [f"Not predicted, {count} of {len(shown)} runs: {why}." for why, count in reasons]


def _data(one: Shown) -> dict[str, Any]:
    """In seconds of one of the program's units."""
    names = ("problem", "grid", "way", "time_s", "low_s", "high_s", "bound_share", "communication")
    return {
        **as_data([one.record])[0],
        **{name: getattr(one, name) for name in names},
        "predicted_s": one.predicted_s,
        "error": one.error,
    }


def _predict(program: Program, shown: list[Shown], basis: Basis) -> tuple[list[tuple[str, int]], list[str]]:
    """Fill the predictions in; reasons why some are missing and how often, and what is assumed for the others."""
    reasons: dict[str, int] = {}
    assumptions: dict[str, None] = {}
    for one in shown:
        why = basis.refused(one.record)
        if not why:
            try:
                made, assumed = program.predicted_s(one.record, basis)
                if made is not None and not 0 < made < math.inf:
                    raise ValueError("no time")
                one.predicted_s = made
                assumptions |= dict.fromkeys(assumed)
            except RequestError as error:
                why = error.message
            except (IndexError, KeyError, ValueError):
                why = "the answer lacks what the prediction needs"
        if why:
            reasons[why] = reasons.get(why, 0) + 1
    return list(reasons.items()), list(assumptions)
