"""Runs of applications that other programs timed: rows of a tidy table, and repetitions joined to one run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from hockney.errors import RequestError
from hockney.records.answers import first_problem
from hockney.records.app_record import AppRecord
from hockney.records.columns import ALL
from hockney.registry import unit_files
from hockney.statistics import CONFIDENCE

LEAST_SAMPLES = 6
"""With fewer, no two of them bound the median at 95 %."""
_OWN = {column.name for column in ALL}
_EXTENTS = re.compile(r"([0-9]{1,10})x([0-9]{1,10})x([0-9]{1,10})")
_IDENTITY = (
    "operation", "ranks", "parameters", "system", "mpi", "mapping", "variant", "nodes", "ppn", "oversubscribed",
)  # fmt: skip


@lru_cache
def applications() -> tuple[str, ...]:
    """Operations whose rows are runs of an application."""
    return tuple(unit_files("hockney.apps.{}.section"))


def apart(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[AppRecord]]:
    """A tidy table (times in seconds) without its rows of applications, and these as runs.

    Columns that no tidy table has (`exchange`, `split`, …) are the parameters of a run, and so is an algorithm;
    `size` 9x8x7 and `grid` 3x2x1 become `nx`, `ny`, `nz` and `px`, `py`, `pz`, as the runner calls them. Rows
    that differ in `repetition` alone are the repetitions of one run. RequestError for a row without ranks or
    time.
    """
    is_run = frame["operation"].isin(applications())
    if not is_run.any():
        return frame, []
    rest = frame[~is_run].reset_index(drop=True)
    rest.attrs = dict(frame.attrs)
    rows = frame[is_run].to_dict("records")
    return rest, joined([_run({str(name): value for name, value in row.items()}) for row in rows])


def joined(records: Sequence[AppRecord]) -> list[AppRecord]:
    """Runs that differ in nothing but times, answers and launch as one, whose samples these times are.

    Answer and launch are those of the first. Its time is their median, with the order statistics that bound it at
    95 % from six samples on.
    """
    groups: dict[str, list[AppRecord]] = {}
    for record in records:
        identity = {name: getattr(record, name) for name in _IDENTITY}
        groups.setdefault(json.dumps(identity, sort_keys=True, default=str), []).append(record)
    return [_joined(group) if len(group) > 1 else group[0] for group in groups.values()]


def bounds_of_median(samples_s: Sequence[float]) -> tuple[float | None, float | None]:
    """The order statistics that bound the median at 95 %; None for both of fewer than six samples."""
    if len(samples_s) < LEAST_SAMPLES:
        return None, None
    # It takes half a second to import, and whoever reads a table of messages does without.
    from scipy import stats

    interval: Any = stats.quantile_test(samples_s, p=0.5).confidence_interval(CONFIDENCE)
    return float(interval.low), float(interval.high)


def _joined(group: Sequence[AppRecord]) -> AppRecord:
    samples_s = [time_s for record in group for time_s in record.samples_s or [record.time_s]]
    low_s, high_s = bounds_of_median(samples_s)
    middle = float(np.median(samples_s))
    return group[0].model_copy(
        update={"time_s": middle, "samples_s": samples_s, "low_s": low_s, "high_s": high_s}
    )


def _run(row: Mapping[str, Any]) -> AppRecord:
    known = {name: value for name, value in row.items() if not _is_unknown(value)}
    where = f"a run of {known['operation']}"
    if "ranks" not in known:
        raise RequestError(f"{where} has no ranks", "fill the column ranks, or give `hockney import --ranks`")
    if "time_s" not in known:
        raise RequestError(f"{where} on {known['ranks']} ranks has no time", "fill the column time_us")
    parameters = {name: _value(str(value)) for name, value in known.items() if name not in _OWN}
    for name, letter in (("size", "n"), ("grid", "p")):
        if (sides := _EXTENTS.fullmatch(str(parameters.get(name, "")))) is not None:
            del parameters[name]
            parameters |= {f"{letter}{axis}": int(side) for axis, side in zip("xyz", sides.groups(), strict=True)}
    if known.get("algorithm", "default") != "default":
        parameters["algorithm"] = known["algorithm"]
    names = ("operation", "ranks", "time_s", "low_s", "high_s", "system", "mpi", "mapping", "variant", "nodes")
    fields = {
        **{name: known[name] for name in (*names, "ppn", "oversubscribed") if name in known},
        "parameters": parameters,
        "answer": {name: known[name] for name in ("statistic", "source") if name in known},
    }
    try:
        return AppRecord.model_validate(fields)
    except ValidationError as error:
        raise RequestError(f"{where}: {first_problem(error)}", "correct or remove that row") from error


def _is_unknown(value: object) -> bool:
    return value is None or value is pd.NA or value == "" or (isinstance(value, float) and np.isnan(value))


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
