"""Cells by the model: calibrated on a table, or from what messages cost by a machine file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.models.over_ranks.choice import Time
from hockney.predict.collective import HALF, predict_one
from hockney.predict.decisions.base import ScheduleChoice, decisions_for
from hockney.predict.estimators.base import (
    ANSWER,
    Array,
    Prediction,
    Training,
    estimators,
    known_defaults,
    unknown,
)
from hockney.predict.identify.told import is_unknown
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.points import CHOICE, DEFAULT, POINT, points
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT
from hockney.schedule.catalogue import ask, offered
from hockney.tune.between import between
from hockney.tune.cells import CallTimes, whole
from hockney.tune.rules import Method
from hockney.tune.targets.base import Reader, RuleForm


def calibrated(
    frame: pd.DataFrame, operation: str, knows: Callable[[str], bool], ranks: Sequence[int]
) -> list[CallTimes]:
    """Cells on numbers of ranks that were not measured, at the table's sizes.

    Their times are those of `hockney predict`'s model, corrected by the measured ranks around them.

    RequestError where neither that nor what was measured around them says what the library would do by itself.
    """
    pooled = points(frame, operation)
    learn = pooled.frame
    pairs = frame[frame["operation"].isin(POINT_TO_POINT)].reset_index(drop=True)
    training = Training(learn, pairs, None, operation, pooled.statistic, defaults=known_defaults(frame))
    rows = learn[[name == DEFAULT or knows(name) for name in learn["algorithm"]]]
    sizes_B = sorted({int(size) for size in learn["bytes"]})
    asked = pd.concat(
        [_on(rows, count).assign(bytes=size_B) for count in ranks for size_B in sizes_B],
        ignore_index=True,
    )
    asked[["ranks", "bytes", "nodes", "ppn"]] = asked[["ranks", "bytes", "nodes", "ppn"]].astype("Int64")
    predicted, why = _predicted(training, asked[[*POINT, "time_s"]])
    times: dict[tuple[int, int], dict[Method, Time]] = {}
    for point, (time_s, low_s, high_s) in zip(asked.to_dict("records"), predicted.tolist(), strict=True):
        if np.isfinite(time_s):
            key = Method(point["algorithm"], whole(point["segment_bytes"]), whole(point["radix"]))
            place = int(point["ranks"]), int(point["bytes"])
            times.setdefault(place, {})[key] = Time(time_s, low_s, high_s)
    found = list(_cells(operation, times))
    if not found:
        raise RequestError(
            f"{operation} on {ranks[0]} ranks was not measured, and cannot be predicted: {why}",
            "measure it: `hockney measure --rank-counts …`",
        )
    return found


def _predicted(training: Training, asked: pd.DataFrame) -> tuple[Array, str]:
    """Times with the ends of their intervals, of shape (n, 3), and why some are unknown (NaN).

    A default that nobody knows has no model here: `simulated` takes it for a mixture of all that it may be, and
    how that grows says nothing of which one is faster.
    """
    reasons: list[str] = []
    fitted = None
    try:
        fitted = estimators.get(ANSWER)(training)
    except RequestError as error:
        reasons.append(error.message)

    def model(points: pd.DataFrame) -> Prediction:
        time_s = unknown(len(points))
        has = ~is_unknown(points, asks_library=training.asks_library, defaults=training.defaults)
        if fitted is not None and has.any():
            predicted = fitted.predict(points.loc[has, [*POINT, "time_s"]].reset_index(drop=True))
            reasons.extend(predicted.note or [])
            for name in ("time_s", "low_s", "high_s"):
                getattr(time_s, name)[has] = getattr(predicted, name)
        return time_s

    times_s = between(training.points, asked, model)
    return times_s, "; ".join(dict.fromkeys(reasons)) or "no algorithm that the target can name was measured"


def _on(rows: pd.DataFrame, ranks: int) -> pd.DataFrame:
    """Each algorithm on so many ranks, which fill nodes as the table's do; else nobody knows where they are.

    All else is as on the nearest measured number of ranks: few may have cores of their own, where more share.
    """
    nearest = (rows["ranks"] - ranks).abs().sort_values(kind="stable").index
    kinds = rows.loc[nearest].drop_duplicates(list(CHOICE))
    ppn = set(rows["ppn"].dropna())
    one_node = set(rows["nodes"].dropna()) == {1}
    most = int(max(ppn)) if len(ppn) == 1 else None
    nodes = 1 if one_node else -(-ranks // most) if most else None
    return kinds.assign(ranks=ranks, nodes=nodes, ppn=ranks if one_node else most)


def _cells(operation: str, times: dict[tuple[int, int], dict[Method, Time]]) -> Iterator[CallTimes]:
    for (ranks, size_B), of_all in sorted(times.items()):
        default = of_all.pop(Method(DEFAULT), None)
        if default is not None and of_all:
            yield CallTimes(operation, ranks, size_B, default, of_all, "model")


def from_costs(
    costs: MachineCosts,
    target: RuleForm,
    library: Reader,
    operation: str,
    ranks: Sequence[int],
    sizes_B: Sequence[int],
) -> list[CallTimes]:
    """Cells from what messages cost, for libraries of which it is known what they choose by themselves.

    RequestError where that is not known, or the schedules behind the target's names are not.
    """
    known = decisions_for(library.name)
    if known.decisions is None:
        raise RequestError(
            f"nothing was measured, and {known.reason}", "measure the default: `hockney measure --algorithm …`"
        )
    own_names = [schedule.name for schedule in offered(operation)]
    is_ours = target.knows(operation, own_names[0], library)
    names = [
        name
        for name in (own_names if is_ours else target.names(operation))
        if target.knows(operation, name, library)
    ]
    if not names:
        raise RequestError(
            f"which schedules {target.title} name is not known here, and a machine file has no times",
            "give a campaign that measured them, or choose --for hockney",
        )
    decisions = known.decisions

    def scheduled(name: str, count: int, size_B: int) -> ScheduleChoice | None:
        if is_ours:
            return ScheduleChoice(name)
        return decisions.named(operation, name, library.version, ranks=count, size_B=size_B)

    times: dict[tuple[int, int], dict[Method, Time]] = {}
    for count in ranks:
        _expect_messages(costs, count)
        nodes = None if costs.crosses_network(None, count) else 1
        for size_B in sizes_B if COLLECTIVES[operation].has_size else [0]:
            choice = decisions.default(operation, count, size_B, known.version, nodes=nodes)
            if choice is None or (default := _time(costs, operation, choice, count, size_B)) is None:
                continue
            of_all = times.setdefault((count, size_B), {Method(DEFAULT): default})
            for name in names:
                schedule = scheduled(name, count, size_B)
                if schedule and (time := _time(costs, operation, schedule, count, size_B)) is not None:
                    of_all[Method(name)] = time
    if not times:
        raise RequestError(
            f"{library.name}'s own choice for {operation} on {ranks[0]} ranks has no schedule here",
            "measure it: `hockney measure --algorithm default,…`",
        )
    return list(_cells(operation, times))


def _expect_messages(costs: MachineCosts, ranks: int) -> None:
    try:
        costs.check_network(None, ranks)
    except RequestError as error:
        raise RequestError(
            error.message, "give a machine file that has such messages, or fewer --ranks"
        ) from error


def _time(costs: MachineCosts, operation: str, choice: ScheduleChoice, ranks: int, size_B: int) -> Time | None:
    """None where the schedule refuses such a call, or is not what runs."""
    if choice.parts:
        return None
    try:
        request = ask(
            operation,
            choice.algorithm,
            ranks=ranks,
            size_B=size_B,
            segment_B=choice.segment_B or 0,
            radix=choice.radix or 0,
        )
    except RequestError:
        return None
    time_s = predict_one(request, costs, None).time_s
    return None if not time_s else Time(time_s, time_s / HALF, time_s * HALF)
