"""What `hockney predict` answers, as its verbs print it and as a frame."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel

from hockney.api.datatypes import datatypes, way_data
from hockney.errors import RequestError
from hockney.fields import keywords, named, of_keywords, refuse_unknown
from hockney.machine.file import Entry, EntryLevel, Machine
from hockney.machine.levels import at_any_level, at_reference
from hockney.machine.select import parse_where, select_entry
from hockney.machine.select import words as words_of
from hockney.models.base import PREFERRED
from hockney.predict.added import AddedTime, added
from hockney.predict.added_options import AddedEffects
from hockney.predict.collective_options import CollectiveCase
from hockney.predict.datatype_options import BlockFace, BlockLayout, EffectOptions
from hockney.predict.estimators.base import Progress, silent
from hockney.predict.every_algorithm import UNSHARED_LINKS
from hockney.predict.every_algorithm import predictions as of_every_algorithm
from hockney.predict.fft import Division, FftDecision, Together, decide, measured_together
from hockney.predict.fft_options import FftCase
from hockney.predict.message import MessagePrediction, predict_message
from hockney.predict.message_options import Message
from hockney.predict.network_figures import costs_of, machine_of
from hockney.predict.on_topology import on_topology
from hockney.predict.verb import MachineFile
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT
from hockney.registry import did_you_mean
from hockney.report.application import apps
from hockney.report.views.prediction import added_data, as_data
from hockney.units import format_time
from hockney.words import LARGEST, listed, several, wholes


@dataclass(frozen=True)
class MessageTimes:
    """Times of messages by the models of one entry; `sums` with the effects that were asked for, else empty."""

    machine: Machine
    entry: Entry
    predictions: list[MessagePrediction]
    sums: list[AddedTime]


def messages(operation: str, message: Message, effects: AddedEffects | None = None) -> MessageTimes:
    """Predict each size, with `effects` what a ping-pong hides; RequestError for what cannot be predicted."""
    if not message.sizes_B:
        raise RequestError(f"{operation} needs --bytes", "for example --bytes 64KiB")
    keys = {"operation": operation, **message.model_dump(include={"locality", "variant", "cache"})}
    machine = machine_of(message)
    if message.any_level:
        (machine,) = at_any_level(machine)
    entry = select_entry(machine, keys | parse_where(message.where))
    if message.reference_s is not None:
        entry = _at_reference(entry, message)
    elif message.large_reference_s is not None:
        raise RequestError("--large-reference goes with --reference", "give the time of the short one too")
    predictions = [predict_message(entry, size_B, message.model) for size_B in message.sizes_B]
    sums = [added(machine, entry, prediction, effects) for prediction in predictions] if effects else []
    return MessageTimes(machine, entry, predictions, sums)


def _at_reference(entry: Entry, message: Message) -> Entry:
    """The entry at the reference that was given; RequestError where that says nothing."""
    if message.any_level:
        raise RequestError(
            "--reference and --any-level exclude each other", "a reference is of one level: leave one out"
        )
    if message.model not in PREFERRED:
        raise RequestError(
            f"--reference does not go with the model {message.model!r}", f"it goes with {listed(PREFERRED)}"
        )
    assert message.reference_s is not None
    if message.large_reference_s is not None and entry.level and entry.level.large_reference_s is None:
        raise RequestError(
            "no large message was timed as a reference in this campaign",
            "leave --large-reference out, or measure anew",
        )
    nearer = [
        other.level.reference_s
        for other in entry.other_levels
        if other.level and entry.level and _apart(other.level, message) < _apart(entry.level, message)
    ]
    if nearer:
        raise RequestError(
            f"a reference of {format_time(message.reference_s)} is nearer to another level of the machine, with "
            f"one of {format_time(nearer[0])}, than to that at which {entry.operation} was measured",
            "measure at that level: hockney measure --level",
        )
    return at_reference(entry, message.reference_s, message.large_reference_s)


def _apart(level: EntryLevel, message: Message) -> float:
    """How far the reference that was given lies from a level: |ln of the ratio|."""
    assert message.reference_s is not None
    return abs(math.log(message.reference_s / level.reference_s))


def collectives(case: CollectiveCase, progress: Progress = silent) -> list[dict[str, Any]]:
    """The answer for each size, as `hockney predict … --json` has it; RequestError where there is none."""
    return of_every_algorithm(case, progress)


def frame(machine: Machine, path: Path, operation: str, given: Mapping[str, Any]) -> pd.DataFrame:
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
    rows, warnings = known[operation](machine, path, operation, given)
    table = pd.DataFrame(rows)
    table.attrs["warnings"] = list(dict.fromkeys(warnings))
    return table


Rows = tuple[list[dict[str, Any]], list[str]]
"""Rows of a frame, and what limits them."""


def _of_messages(machine: Machine, path: Path, operation: str, given: Mapping[str, Any]) -> Rows:
    message, effects = _asked(machine, path, operation, given, Message, AddedEffects)
    times = messages(operation, message, effects if effects.are_asked else None)
    answer = as_data(times.entry, message.model, times.predictions)
    words = {
        name: value for name, value in answer.items() if name not in ("predictions", "warnings", "oversubscribed")
    }
    rows = []
    for number, each in enumerate(answer["predictions"]):
        row = {**words, "bytes": each.pop("size_B"), **{key: each[key] for key in each if key != "regime"}}
        if times.sums:
            with_effects = added_data(times.sums[number])
            row |= {f"{name}_with_effects": with_effects[name] for name in ("time_s", "low_s", "high_s")}
        rows.append(row)
    return rows, answer["warnings"]


def _of_collective(machine: Machine, path: Path, operation: str, given: Mapping[str, Any]) -> Rows:
    asked = dict(given)
    counts = _counts(asked.pop("ranks", None))
    (case,) = _asked(machine, path, operation, asked, CollectiveCase)
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for ranks in counts:
        for answer in collectives(case.model_copy(update={"operation": operation, "ranks": ranks})):
            told_apart = {answer["best"], *answer["not_told_apart_from"]}
            for row in answer["algorithms"]:
                known = {"operation": operation, "ranks": ranks, "bytes": answer["bytes"]}
                messages_on_path = {"critical_bytes": row["bytes"]}
                parts = {name: value for name, value in row.items() if name not in ("bytes", "terms_s")}
                name = row["algorithm"]
                best = {"is_best": name == answer["best"], "may_be_best": name in told_apart}
                rows.append({**known, **parts, **messages_on_path, **best})
            warnings += answer["warnings"]
    return rows, warnings


def _counts(ranks: Any) -> list[int | None]:
    """Numbers of ranks: one, several, or a text as on the command line; None for none. RequestError else."""
    if ranks is None:
        return [None]
    counts: list[int | None] = []
    with named("ranks"):
        for one in several(ranks):
            is_whole = isinstance(one, float) and one.is_integer()
            counts += wholes(str(int(one) if is_whole else one), range(1, LARGEST + 1))
        if not counts:
            raise RequestError("an empty list names nothing", "for example 64, or [8, 16]")
    return counts


def _of_application(machine: Machine, path: Path, operation: str, given: Mapping[str, Any]) -> Rows:
    app = apps.get(operation)
    assert app.predict is not None
    models = app.predict.of_a_machine()
    cases = _asked(machine, path, operation, given, *models.values())
    answer = app.answer("predict", dict(zip(models, cases, strict=True)), silent)
    return answer.rows(), list(answer.limits())


def _of_fft(machine: Machine, path: Path, operation: str, given: Mapping[str, Any]) -> Rows:
    (case,) = _asked(machine, path, operation, given, FftCase)
    decisions, _, warnings = fft_decisions(case)
    rows = [
        {
            "operation": operation,
            "size": case.size,
            "ranks": decision.ranks,
            **{name: value for name, value in fft_row(way).items() if name != "terms_s"},
            "is_best": way.name == decision.verdict["best"],
            "may_be_best": way.name in (decision.verdict["best"], *decision.verdict["not_told_apart_from"]),
        }
        for decision in decisions
        for way in decision.divisions
    ]
    refused = [why for decision in decisions for why in decision.refused.values()]
    return rows, [*warnings, *refused]


def _of_datatype(machine: Machine, path: Path, operation: str, given: Mapping[str, Any]) -> Rows:
    times = datatypes(*_asked(machine, path, operation, given, BlockLayout, BlockFace, EffectOptions))
    layout = {**words_of(times.effect), "operation": operation, **vars(times.shape)}
    rows = [
        {**layout, "way": name, **way_data(prediction), "answer": times.verdict.answer}
        for name, prediction in times.predictions.items()
    ]
    return rows, [note for prediction in times.predictions.values() for note in prediction.notes]


def fft_together(case: FftCase) -> list[Together]:
    """What was measured of groups that transpose at once; nothing where costs are a system's alone."""
    return measured_together(machine_of(case).effects, parse_where(case.where)) if case.is_there else []


def fft_decisions(case: FftCase) -> tuple[list[FftDecision], str, list[str]]:
    """Both divisions on each number of ranks, where costs come from, and what limits the answer."""
    options = case.costs
    costs, _ = costs_of(options)
    most = max(case.ranks)
    decisions = decide(case.size, case.ranks, costs, case.algorithm, lambda ranks: on_topology(options, ranks))
    linked = on_topology(options, most)
    largest_B = max(
        (part.block_B for each in decisions for way in each.divisions for part in way.transpositions), default=0
    )
    warnings = [*costs.warnings, *costs.assumptions(None, most), *costs.beyond(largest_B)]
    return decisions, costs.origin, [*warnings, UNSHARED_LINKS if linked is None else linked.words]


def fft_row(way: Division) -> dict[str, Any]:
    """A division as a table has it: seconds of its transpositions, and what a rank sends."""
    return {
        "division": way.name,
        "grid": "x".join(map(str, way.grid)),
        "time_s": way.row.time_s,
        "low_s": way.row.low_s,
        "high_s": way.row.high_s,
        "messages": way.messages,
        "sent_B": way.sent_B,
        "terms_s": way.row.terms_s,
    }


def _asked(
    machine: Machine, path: Path, operation: str, given: Mapping[str, Any], *models: type[BaseModel]
) -> list[Any]:
    """The models of a verb, filled with keywords; those of a machine file hold the machine.

    A word goes to the first model that has such an option; RequestError where none has.
    """
    refuse_unknown(given, {word for model in models for word in keywords(model)}, f"predict {operation}")
    parts: list[dict[str, Any]] = [{} for _ in models]
    for name, value in given.items():
        place = next(number for number, model in enumerate(models) if name in keywords(model))
        parts[place][name] = value
    made: list[Any] = []
    for model, part in zip(models, parts, strict=True):
        if issubclass(model, MachineFile):
            made.append(of_keywords(model, {"machine": path, **part}, f"predict {operation}").holding(machine))
        else:
            made.append(of_keywords(model, part, f"predict {operation}"))
    return made
