"""Every algorithm of a collective on so many ranks, as `hockney predict` answers: a table of each size.

The times come from point-to-point costs, or from measured collectives, on which an estimator is calibrated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.machine.select import collective_title, collective_words, parse_where
from hockney.machine.system import find_system
from hockney.models.collectives.base import CollectiveModel
from hockney.predict.bounds import lower_bound
from hockney.predict.collective import BOUND, Row, predict_one, published, verdict
from hockney.predict.collective_options import CollectiveCase
from hockney.predict.decisions.base import ScheduleChoice, libraries
from hockney.predict.estimators.base import ANSWER, FittedEstimator, Progress, Training, estimators
from hockney.predict.from_model import measured_there
from hockney.predict.held_to_points import held
from hockney.predict.identify.told import known_defaults
from hockney.predict.machine_costs import MachineCosts, placed
from hockney.predict.network_figures import costs_of, figures_of, machine_of
from hockney.predict.on_topology import on_topology
from hockney.predict.points import CHOICE, POINT, beside, beyond, limits, points
from hockney.predict.scenario import MOST_STEPS, Place
from hockney.predict.segments import best_segment
from hockney.records import table
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT
from hockney.schedule.catalogue import ScheduleRequest, algorithms, ask, offered
from hockney.units import format_bytes, format_time
from hockney.words import written

UNSHARED_LINKS = (
    "messages share no link of the network in these times; where many cross at once they take longer "
    "(`hockney simulate --torus` or `--fat-tree` has the links)"
)
ROUNDING = 1e-9
"""Times that differ by no more are equal."""
NEWEST = (5, 0)
"""The version of Open MPI whose algorithms a name means where no table says which; MPICH has one meaning each."""
USUAL_B = 1024
"""Size of a message where none is named."""


def predictions(case: CollectiveCase, progress: Progress) -> list[dict[str, Any]]:
    """The answer for each size, as `--json` has it; RequestError for what cannot be predicted."""
    if case.statistic and case.table is None:
        raise RequestError("--statistic needs --table", "leave it out, or give a table")
    ranks = _ranks(case)
    if ranks < 1:
        raise RequestError(f"the number of ranks must be at least 1, not {ranks}", "for example --ranks 64")
    if not 0 <= case.root < ranks:
        raise RequestError(f"root {case.root} is none of the {ranks} ranks", "ranks count from 0")
    sizes_B = (case.sizes_B or [USUAL_B]) if COLLECTIVES[case.operation].has_size else [0]
    if case.table:
        if case.topology:
            raise RequestError("--topology means nothing with --table", "its times have the network in them")
        return _calibrated(case, sizes_B, progress)
    return [_from_costs(case, size_B) for size_B in sizes_B]


@dataclass(frozen=True)
class Chosen:
    """A library's own choice: its name, its time, and what limits that."""

    algorithm: str
    time_s: float
    warnings: tuple[str, ...]


def chosen(case: CollectiveCase, size_B: int, choice: ScheduleChoice) -> Chosen:
    """What the choice takes, from point-to-point costs: with its segments, its radix, and its parts one by one.

    RequestError where some part has no time.
    """
    time_s = 0.0
    warnings: list[str] = []
    for inner in choice.phases(case.operation, size_B):
        asked = {
            "operation": inner.operation,
            "algorithm": inner.choice.algorithm,
            "segment_B": inner.segment_B,
        }
        answer = _from_costs(case.model_copy(update=asked), inner.size_B, inner.choice.radix or 0)
        times = [row["time_s"] for row in answer["algorithms"] if row["time_s"] is not None]
        if not times:
            raise RequestError(f"no time of {inner.operation} is known", answer["algorithms"][0]["note"])
        time_s += min(times)
        warnings += answer["warnings"]
    return Chosen(choice.algorithm, time_s, tuple(warnings))


def nodes_of(case: CollectiveCase) -> int | None:
    """How many nodes the ranks are on; without places None where a network was measured: several."""
    costs, place = _costs(case)
    if place is not None:
        return len(set(place.node))
    return None if costs.crosses_network(None, _ranks(case)) else 1


def _ranks(case: CollectiveCase) -> int:
    if case.ranks is None:
        raise RequestError(f"{case.operation} needs --ranks", "for example --ranks 64")
    return case.ranks


def _names(case: CollectiveCase, known: Sequence[str]) -> list[str]:
    if case.algorithm in ("all", "best"):
        return list(known)
    return list(dict.fromkeys(name.strip() for name in case.algorithm.split(",")))


def _from_costs(case: CollectiveCase, size_B: int, radix: int = 0) -> dict[str, Any]:
    """The answer from point-to-point costs: no collective was measured. `radix` 0: each algorithm's usual one."""
    rows, beyond_models = _of_models(case, size_B)
    # What was measured in segments says nothing of the same without them, and neither says which are best.
    stated = [
        row.algorithm.partition(",")[0]
        for row in rows
        if case.segment_B
        or row.method == "published"
        or (case.segment_B == 0 and "segments" not in row.algorithm)
    ]
    linked = on_topology(case, _ranks(case))
    if linked is not None:
        # A network that is too small is refused, whatever was measured.
        linked.place(_ranks(case))
    try:
        costs, place = _costs(case)
    except RequestError as error:
        if all(row.time_s is None and row.method != BOUND for row in rows):
            raise
        warnings = [f"{error.message}: only what was measured is predicted", *beyond_models]
        return _answer(case, size_B, rows, str(case.machine), warnings, {}, {})
    names = _names(case, [algorithm.name for algorithm in offered(case.operation)])
    names = [name for name in names if name not in stated]
    refused: dict[str, str] = {}
    bound: dict[str, float] = {}

    def predict(request: ScheduleRequest) -> Row:
        return predict_one(request, costs, place) if linked is None else linked.predict(request, costs)

    for name in names:
        try:
            schedule, own_radix, takes_segments = _schedule(case, name, size_B)
            asked = partial(
                ask,
                case.operation,
                schedule,
                ranks=_ranks(case),
                root=case.root,
                size_B=size_B,
                radix=radix or own_radix,
            )
            request = asked(segment_B=(case.segment_B or 0) if takes_segments else 0)
        except RequestError as error:
            if len(names) == 1 and not rows:
                raise
            refused[name] = error.message
            continue
        bound = bound or lower_bound(request, costs)
        is_searched = case.segment_B is None and takes_segments
        row = best_segment(asked, predict, costs) if is_searched else predict(request)
        rows.append(replace(row, algorithm=name))
    if not rows:
        name, why = next(iter(refused.items()))
        raise RequestError(f"{name}: {why}", "the other algorithms of it refuse too")
    warnings = [*beyond_models, *costs.warnings, *costs.assumptions(place, _ranks(case)), *costs.beyond(size_B)]
    if linked is not None:
        warnings.append(linked.words)
    elif _ranks(case) > 2 and costs.crosses_network(place, _ranks(case)):
        warnings.append(UNSHARED_LINKS)
    least_s = max((row.low_s or 0.0 for row in rows if row.method == BOUND), default=0.0)
    if below := [
        row.algorithm for row in rows if row.time_s is not None and row.time_s < least_s * (1 - ROUNDING)
    ]:
        warnings.append(
            f"{', '.join(below)}: predicted below the {format_time(least_s)} that the machine file has as the "
            "least time of this collective, because messages share no link here: --topology shares them"
        )
    if any(row.method == "published" for row in rows):
        warnings.append(
            "a published model may use hardware that point-to-point messages do not: bounds are not its own"
        )
    return _answer(case, size_B, rows, costs.origin, warnings, refused, bound)


def _schedule(case: CollectiveCase, name: str, size_B: int) -> tuple[str, int, bool]:
    """The schedule of an algorithm, its radix, 0 for the usual, and whether it may be asked for in segments.

    Of a library's name (`tuned:chain`) what runs under it on so many ranks.

    RequestError where that is not one schedule.
    """
    library, _, own = name.partition(":")
    if not library or not own:
        return name, 0, True
    asked = {"ranks": _ranks(case), "size_B": size_B, "segment_B": case.segment_B or 1}
    for _, decisions in libraries:
        choice = decisions.named(case.operation, name, NEWEST, **asked)
        if choice is not None and not choice.parts:
            return choice.algorithm, choice.radix or 0, choice.segment_B is not None
    known = [one.name for one in algorithms(case.operation)]
    raise RequestError(
        f"no one schedule of {case.operation} is known that {library} runs as {name!r} on {_ranks(case)} ranks",
        f"known: {', '.join(known)}; --table predicts from its measured times",
    )


def _of_models(case: CollectiveCase, size_B: int) -> tuple[list[Row], list[str]]:
    """Rows of the models of this collective that the machine file brings with it, and what these do not reach.

    A fitted model outside of whose ranks or sizes the question lies has no row: costs of messages answer.
    """
    if not case.is_there:
        return [], []
    filters = {**parse_where(case.where), **({"mapping": case.mapping} if case.mapping else {})}
    models = [model for model in machine_of(case).collectives if model.operation == case.operation]
    published_ones = [published(model, _ranks(case), size_B) for model in models if not model.statistic]
    fitted = [model for model in models if model.statistic and _answers(model, filters, case.segment_B)]
    rows = [
        measured_there(model, _ranks(case), size_B, collective_title(model, fitted).partition(" — ")[2])
        for model in fitted
    ]
    rows = [*published_ones, *rows]
    chosen = _names(case, [row.algorithm.partition(",")[0] for row in rows])
    rows = [row for row in rows if row.algorithm.partition(",")[0] in chosen or row.algorithm in chosen]
    silent = [row for row in rows if row.time_s is None and row not in published_ones]
    texts = [f"{case.operation} {row.algorithm}: {row.note}; not predicted from measured times" for row in silent]
    return [row for row in rows if row not in silent], texts


def _answers(model: CollectiveModel, filters: Mapping[str, str], segment_B: int | None) -> bool:
    """Whether a fitted model is of what was asked for; what it does not name may be anything."""
    own = collective_words(model)
    return (not segment_B or segment_B == model.segment_B) and all(
        own[name] == word for name, word in filters.items() if own.get(name)
    )


def _costs(case: CollectiveCase) -> tuple[MachineCosts, Place | None]:
    costs, system = costs_of(case)
    if system is None:
        linked = on_topology(case, _ranks(case))
        return costs, None if linked is None else linked.place(_ranks(case))
    return placed(costs, system, case.mapping, _ranks(case), case.nodes, case.ppn)


def _calibrated(case: CollectiveCase, sizes_B: Sequence[int], progress: Progress) -> list[dict[str, Any]]:
    """The answers of the estimator `simulated`, with intervals, calibrated once for all sizes."""
    if _ranks(case) > MOST_STEPS:
        raise RequestError(
            f"{case.ranks} ranks are more than the {MOST_STEPS} steps that are simulated",
            "ask for fewer, or leave out --table",
        )
    frame = table.with_words(table.load(case.table or Path(), case.statistic), parse_where(case.where))
    pooled = points(frame, case.operation, case.statistic)
    learn = pooled.frame
    for name in ("system", "mpi"):
        if len(words := sorted(set(learn[name]))) > 1:
            raise RequestError(
                f"{case.table} holds {name} {', '.join(words)}", f"choose one: --where {name}='{words[0]}'"
            )
    choices = _choices(case, learn)
    if len(mappings := sorted(set(learn["mapping"]))) > 1 and not case.mapping:
        raise RequestError(
            f"{case.table} holds {len(mappings)} mappings: {', '.join(word or '(empty)' for word in mappings)}",
            "choose the one to predict with --mapping",
        )
    figures = figures_of(case)
    system = find_system(case.system) if case.system else None
    if system is not None:
        system = figures.of(system)
    elif figures.are_given:
        raise RequestError(
            "--network-latency and --network-bandwidth need --system beside --table",
            "say which system the ranks are on",
        )
    pairs = frame[frame["operation"].isin(POINT_TO_POINT)].reset_index(drop=True)
    defaults = known_defaults(frame)
    others = beside(frame, learn, case.operation, pooled.statistic)
    training = Training(learn, pairs, system, case.operation, pooled.statistic, progress, defaults, beside=others)
    progress(0.0, "calibrating")
    fitted = estimators.get(ANSWER)(training)
    warnings = [*pooled.warnings, *limits(learn)]
    origin = f"{case.table} ({pooled.statistic})"
    answers = []
    for size_B in sizes_B:
        rows, doubts = _rows(choices.assign(bytes=size_B), learn, fitted)
        answers.append(_answer(case, size_B, rows, origin, [*warnings, *doubts], {}, {}))
    return answers


def _choices(case: CollectiveCase, learn: pd.DataFrame) -> pd.DataFrame:
    """Each algorithm as it was measured, with its segments and its radix, on the ranks of the case."""
    known = sorted(set(learn["algorithm"]))
    chosen = _names(case, known)
    if strange := [name for name in chosen if name not in known]:
        raise RequestError(f"{case.table} has no {case.operation} by {strange[0]}", f"known: {', '.join(known)}")
    choices = learn[learn["algorithm"].isin(chosen)].drop_duplicates(list(CHOICE)).reset_index(drop=True)
    if case.segment_B:
        choices = choices[choices["segment_bytes"] == case.segment_B].reset_index(drop=True)
        if choices.empty:
            length = written(case.segment_B)
            raise RequestError(f"nothing was measured with segments of {length}", "leave out --segment")
    choices = choices.assign(
        mapping=case.mapping or str(learn["mapping"].iloc[0]),
        ranks=case.ranks,
        nodes=case.nodes,
        ppn=case.ppn,
        root=case.root,
    )
    choices[["nodes", "ppn", "root"]] = choices[["nodes", "ppn", "root"]].astype("Int64")
    return choices


def _rows(choices: pd.DataFrame, learn: pd.DataFrame, fitted: FittedEstimator) -> tuple[list[Row], list[str]]:
    """A row for each choice, and what limits them."""
    alone = fitted.predict(choices[[*POINT, "time_s"]])
    prediction, contradicted = held(alone, choices, learn, fitted)
    notes, correction = alone.note or [], alone.correction
    assert correction is not None, f"{ANSWER} corrects what it simulates"
    rows = []
    for i, point in enumerate(choices.to_dict("records")):
        name = _title(point)
        if not np.isfinite(prediction.time_s[i]):
            why = (note.partition(": ")[2] for note in notes if note.startswith(f"{point['algorithm']}, "))
            rows.append(Row(name, "none", None, note=next(why, "not simulated")))
            continue
        ends_s = prediction.time_s, prediction.low_s, prediction.high_s
        time_s, low_s, high_s = (float(values[i]) for values in ends_s)
        readable_s, weight = (float(values[i]) for values in (correction.readable_s, correction.weight))
        share = time_s / readable_s - 1
        rows.append(Row(name, "simulated, calibrated", time_s, low_s, high_s, readable_s, share, weight))
    return rows, [*notes, *beyond(learn, choices), *contradicted]


def _title(point: Mapping[Any, Any]) -> str:
    """`chain, segments of 1 KiB, radix 4`."""
    parts = [str(point["algorithm"])]
    for name, words in (("segment_bytes", "segments of {}"), ("radix", "radix {}")):
        try:
            value = int(point[name])
        except (TypeError, ValueError):
            continue
        if value:
            parts.append(words.format(format_bytes(value) if name == "segment_bytes" else value))
    return ", ".join(parts)


def _answer(
    case: CollectiveCase,
    size_B: int,
    rows: Sequence[Row],
    origin: str,
    warnings: Sequence[str],
    refused: dict[str, str],
    bound: dict[str, float],
) -> dict[str, Any]:
    decided = verdict(rows)
    ordered = sorted(rows, key=lambda row: (row.time_s is None, row.time_s or 0.0))
    if case.algorithm == "best":
        ordered = ordered[:1]
    return {
        "bytes": size_B,
        "origin": origin,
        **decided,
        "bounds": bound,
        "algorithms": [{**vars(row), "dominant": row.dominant} for row in ordered],
        "refused": refused,
        "warnings": list(dict.fromkeys(warnings)),
    }
