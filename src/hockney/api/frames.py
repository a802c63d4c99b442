"""What a machine predicts, as a frame: `Machine.predict`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, TypeAdapter

from hockney.errors import RequestError
from hockney.fields import Value, keywords, named, of_keywords, refuse_unknown, several
from hockney.machine.file import Machine
from hockney.predict.datatype import predict_datatype
from hockney.predict.every_algorithm import predict_collective
from hockney.predict.fft import predict_fft
from hockney.predict.messages import predict_messages
from hockney.predict.options import (
    AddedEffects,
    CollectiveCase,
    EffectOptions,
    FftCase,
    MachineFile,
    Message,
    ScatteredData,
)
from hockney.progress import silent
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT
from hockney.registry import did_you_mean
from hockney.report.application import apps
from hockney.units import LARGEST, listed, wholes


def frame(machine: Machine, path: Path, operation: str, given: Mapping[str, Value]) -> pd.DataFrame:
    """What `given`, options of `hockney predict OPERATION` as keywords, asks of a machine: `Machine.predict`."""
    known = dict.fromkeys(COLLECTIVES, _of_collective) | dict.fromkeys(POINT_TO_POINT, _of_messages)
    known |= {name: _of_application for name, app in apps if app.predict is not None}
    known |= {"fft": _of_fft, "datatype": _of_datatype}
    if operation not in known:
        raise RequestError(
            f"there is no frame of {operation!r}", f"{did_you_mean(operation, known)}known: {listed(list(known))}"
        )
    if "machine" in given:
        raise RequestError(
            "predict has no option 'machine' here", "ask the other machine: load_machine(…).predict(…)"
        )
    rows, warnings = known[operation](_Asking(machine, path, operation, given))
    table = pd.DataFrame(rows)
    table.attrs["warnings"] = list(dict.fromkeys(warnings))
    return table


@dataclass(frozen=True)
class _Asking:
    """A verb's words of Python, put to a machine."""

    machine: Machine
    path: Path
    operation: str
    given: Mapping[str, Value]

    def models(self, *models: type[BaseModel]) -> list[Any]:
        """The models of the verb, filled with the words; those of a machine file hold the machine.

        A word goes to the first model that has such an option; RequestError where none has.
        """
        verb = f"predict {self.operation}"
        place = {word: model for model in reversed(models) for word in keywords(model)}
        refuse_unknown(self.given, place, verb)
        filled: list[Any] = []
        for model in models:
            words = {word: value for word, value in self.given.items() if place[word] is model}
            if issubclass(model, MachineFile):
                filled.append(of_keywords(model, words, verb, {"machine": self.path}).holding(self.machine))
            else:
                filled.append(of_keywords(model, words, verb))
        return filled


Rows = tuple[list[Any], Sequence[str]]
"""Rows of a frame, and what limits them."""


def _of_messages(asking: _Asking) -> Rows:
    message, effects = asking.models(Message, AddedEffects)
    answer = predict_messages(asking.operation, message, effects)
    words = answer.model_dump(
        exclude={"machine", "reference_s", "large_reference_s", "oversubscribed", "predictions", "warnings"}
        | {"with_effects"}
    )
    rows = []
    for number, prediction in enumerate(answer.predictions):
        row = {**words, "bytes": prediction.size_B, **_columns(prediction, "size_B", "regime", "concerns")}
        if answer.with_effects:
            added = answer.with_effects[number]
            row |= {f"{name}_with_effects": getattr(added, name) for name in ("time_s", "low_s", "high_s")}
        rows.append(row)
    return rows, answer.warnings


def _columns(answer: object, *without: str) -> Any:
    """The fields and computed values of an answer, but some."""
    plain = TypeAdapter(type(answer)).dump_python(answer)
    return {name: value for name, value in plain.items() if name not in without}


def _of_collective(asking: _Asking) -> Rows:
    operation, words = asking.operation, dict(asking.given)
    counts = _counts(words.pop("ranks", None))
    (case,) = replace(asking, given=words).models(CollectiveCase)
    rows = []
    warnings: list[str] = []
    for ranks in counts:
        for size in predict_collective(
            case.model_copy(update={"operation": operation, "ranks": ranks})
        ).predictions:
            for row in size.algorithms:
                name = row.algorithm
                rows.append(
                    {
                        "operation": operation,
                        "ranks": ranks,
                        "bytes": size.bytes,
                        **_columns(row, "bytes", "terms_s"),
                        "critical_bytes": row.bytes,
                        "is_best": name == size.best,
                        "may_be_best": name == size.best or name in size.not_told_apart_from,
                    }
                )
            warnings += size.warnings
    return rows, warnings


def _counts(ranks: Any) -> list[int | None]:
    """Numbers of ranks: one, several, or a text as on the command line; None for none. RequestError else."""
    if ranks is None:
        return [None]
    counts: list[int | None] = []
    with named("ranks"):
        for count in several(ranks):
            is_whole = isinstance(count, float) and count.is_integer()
            counts += wholes(str(int(count) if is_whole else count), range(1, LARGEST + 1))
        if not counts:
            raise RequestError("an empty list names nothing", "for example 64, or [8, 16]")
    return counts


def _of_application(asking: _Asking) -> Rows:
    app = apps.get(asking.operation)
    assert app.predict is not None
    models = app.predict.of_a_machine()
    cases = asking.models(*models.values())
    answer = app.answer("predict", dict(zip(models, cases, strict=True)), silent)
    return [{**row} for row in answer.rows()], answer.limits()


def _of_fft(asking: _Asking) -> Rows:
    (case,) = asking.models(FftCase)
    answer = predict_fft(case)
    rows = [
        {
            "operation": asking.operation,
            "size": answer.size,
            "ranks": decision.ranks,
            **_columns(way, "grid", "terms_s", "transpositions"),
            "grid": "x".join(map(str, way.grid)),
            "is_best": way.division == decision.best,
            "may_be_best": way.division in (decision.best, *decision.not_told_apart_from),
        }
        for decision in answer.decisions
        for way in decision.divisions
    ]
    return rows, [*answer.warnings, *(why for decision in answer.decisions for why in decision.refused.values())]


def _of_datatype(asking: _Asking) -> Rows:
    answer = predict_datatype(*asking.models(ScatteredData, EffectOptions))
    layout = {
        **_columns(answer, "machine", "layout", "ways", "verdict", "notes"),
        "operation": asking.operation,
        **_columns(answer.layout, "contiguous", "level"),
    }
    rows = [
        {**layout, "way": name, **_columns(prediction), "answer": answer.verdict.answer}
        for name, prediction in answer.ways.items()
    ]
    return rows, [note for prediction in answer.ways.values() for note in prediction.notes]
