"""The times of a collective by every algorithm, calibrated on measured collectives, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.machine.locality import load
from hockney.machine.select import parse_where
from hockney.machine.system import find_system
from hockney.predict.answering import TableAnswer, answer
from hockney.predict.collective import AlgorithmTime, PredictedSize
from hockney.predict.estimators.base import FALLBACK, training_of
from hockney.predict.held_to_points import held
from hockney.predict.network_figures import figures_of
from hockney.predict.options import CollectiveCase
from hockney.predict.points import CHOICE, POINT, PointRow, beyond, limits, points, rows
from hockney.predict.scenario import MOST_STEPS
from hockney.progress import Progress
from hockney.records import table
from hockney.runner.remembered import growing
from hockney.units import format_bytes, written


@dataclass(frozen=True)
class _Learned:
    """What a table comes to: its points of one operation and statistic, and what answers by them."""

    points: pd.DataFrame
    statistic: str
    warnings: list[str]
    fitted: TableAnswer


def calibrated(
    case: CollectiveCase, path: Path, sizes_B: Sequence[int], digest: str, progress: Progress
) -> list[PredictedSize]:
    """The answers of the estimator `simulated`, with intervals, calibrated once for all sizes.

    What the table comes to is kept under `digest`, unless that is empty.
    """
    if (case.ranks or 0) > MOST_STEPS:
        raise RequestError(
            f"{case.ranks} ranks are more than the {MOST_STEPS} steps that are simulated",
            "ask for fewer, or leave out --table",
        )
    with growing(digest, lambda: _learned(case, path, progress), progress) as table:
        choices = _choices(case, table.points)
        origin = f"{path} ({table.statistic})"
        answers = []
        for size_B in sizes_B:
            times, doubts = _rows(choices.assign(bytes=size_B), table.points, table.fitted)
            answers.append(PredictedSize.of(case, size_B, origin, times, [*table.warnings, *doubts]))
        return answers


def _learned(case: CollectiveCase, path: Path, progress: Progress) -> _Learned:
    """RequestError where the case asks for what the table does not hold, before anything is calibrated."""
    system = find_system(case.system) if case.system else None
    loaded = load(path, case.statistic, [system] if system else [])
    frame = table.with_words(loaded, parse_where(case.where))
    pooled = points(frame, case.operation, case.statistic)
    learn = pooled.frame
    for name in ("system", "mpi"):
        if len(words := sorted(set(learn[name]))) > 1:
            raise RequestError(
                f"{path} holds {name} {', '.join(words)}", f"choose one: --where {name}='{words[0]}'"
            )
    _choices(case, learn)
    figures = figures_of(case)
    if system is not None:
        system = figures.of(system)
    elif figures.are_given:
        raise RequestError(
            "--network needs --system beside --table",
            "say which system the ranks are on",
        )
    training = training_of(frame, learn, case.operation, pooled.statistic, system, progress)
    progress(0.0, "calibrating")
    warnings = [*loaded.attrs.get("warnings", []), *pooled.warnings, *limits(learn)]
    return _Learned(learn, pooled.statistic, warnings, answer(training))


def _choices(case: CollectiveCase, learn: pd.DataFrame) -> pd.DataFrame:
    """Each algorithm as it was measured, with its segments and its radix, on the ranks of the case."""
    measured = sorted(set(learn["algorithm"]))
    chosen = case.chosen(measured)
    if strange := [name for name in chosen if name not in measured]:
        raise RequestError(
            f"{case.table} has no {case.operation} by {strange[0]}", f"known: {', '.join(measured)}"
        )
    if len(mappings := sorted(set(learn["mapping"]))) > 1 and not case.mapping:
        raise RequestError(
            f"{case.table} holds {len(mappings)} mappings: {', '.join(word or '(empty)' for word in mappings)}",
            "choose the one to predict with --mapping",
        )
    choices = learn[learn["algorithm"].isin(chosen)].drop_duplicates(list(CHOICE)).reset_index(drop=True)
    if case.segment_B:
        choices = choices[choices["segment_bytes"] == case.segment_B].reset_index(drop=True)
        if choices.empty:
            length = written(case.segment_B)
            raise RequestError(f"nothing was measured with segments of {length}", "leave out --segment")
    choices = choices.assign(
        mapping=case.mapping or str(learn["mapping"].iloc[0]),
        ranks=case.ranks,
        nodes=case.ppn and -(-(case.ranks or 1) // case.ppn),
        ppn=case.ppn,
        root=0,
    )
    choices[["nodes", "ppn", "root"]] = choices[["nodes", "ppn", "root"]].astype("Int64")
    return choices


def _rows(
    choices: pd.DataFrame, learn: pd.DataFrame, fitted: TableAnswer
) -> tuple[list[AlgorithmTime], list[str]]:
    """A row for each choice, and what limits them."""
    asked = choices[[*POINT, "time_s"]]
    alone, trend_s = fitted.predict(asked), fitted.trend_s(asked)
    prediction, contradicted = held(alone, choices, learn, fitted)
    notes, correction = alone.note or [], alone.correction
    assert correction is not None, "an answer says of each time whether it was simulated"
    made = []
    for i, point in enumerate(rows(choices)):
        name = _title(point)
        if not np.isfinite(prediction.time_s[i]):
            why = (note.partition(": ")[2] for note in notes if note.startswith(f"{point.algorithm}, "))
            made.append(AlgorithmTime(name, "none", None, note=next(why, (notes or ["not simulated"])[-1])))
            continue
        ends_s = prediction.time_s, prediction.low_s, prediction.high_s
        time_s, low_s, high_s = (float(values[i]) for values in ends_s)
        readable_s, weight = (float(values[i]) for values in (correction.readable_s, correction.weight))
        is_simulated = not np.isnan(readable_s)
        row = AlgorithmTime(name, "simulated, calibrated" if is_simulated else FALLBACK, time_s, low_s, high_s)
        if is_simulated:
            row = replace(row, readable_s=readable_s, correction=time_s / readable_s - 1, weight=weight)
        made.append(row if np.isnan(trend_s[i]) else replace(row, trend_s=float(trend_s[i])))
    return made, [*notes, *beyond(learn, choices), *contradicted]


def _title(point: PointRow) -> str:
    """`chain, segments of 1 KiB, radix 4`."""
    segments = f"segments of {format_bytes(point.segment_B)}" if point.segment_B else ""
    radix = f"radix {point.radix}" if point.radix else ""
    return ", ".join(filter(None, [point.algorithm, segments, radix]))
