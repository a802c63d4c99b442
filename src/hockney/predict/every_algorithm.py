"""Every algorithm of a collective on so many ranks, as `hockney predict` answers: a table of each size.

The times come from point-to-point costs; `hockney.predict.calibrated` takes them from measured collectives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hockney import reading
from hockney.errors import RequestError
from hockney.machine.select import collective_title, collective_words, expect_names, parse_where, words
from hockney.machine.system import find_system
from hockney.models.base import DEFAULT
from hockney.models.collectives.base import CollectiveModel
from hockney.models.collectives.closed_form import collective_models
from hockney.models.collectives.expression import FormulaCall
from hockney.predict.collective import BOUND, AlgorithmTime, PredictedSize, predict_one
from hockney.predict.decisions.base import ScheduleChoice, decisions_for, libraries
from hockney.predict.from_model import EXTRAPOLATED, FITTED, MEASURED, measured_there, published
from hockney.predict.machine_costs import MachineCosts, placed
from hockney.predict.message_costs import SIZES_B
from hockney.predict.network_figures import UNSHARED_LINKS, costs_of, has_machine, machine_of
from hockney.predict.options import CollectiveCase, MessageCosts
from hockney.predict.place import Place
from hockney.predict.segments import best_segment
from hockney.progress import Progress, silent
from hockney.records.keys import COLLECTIVES
from hockney.runner.cache import answered, contents, digest_of
from hockney.schedule.catalogue import ScheduleRequest, algorithms, ask, find, offered
from hockney.schedule.written import ENDING
from hockney.units import format_time

if TYPE_CHECKING:
    from hockney.predict.on_topology import RanksOnTopology

ROUNDING = 1e-9
"""Times that differ by no more are equal."""
NEWEST = (5, 0)
"""The version of Open MPI whose algorithms a name means where no table says which; MPICH has one meaning each."""
USUAL_B = 1024
"""Size of a message where none is named."""


@dataclass(frozen=True)
class PredictedCollective:
    """A collective by every algorithm, at each size that was asked for."""

    operation: str
    ranks: int
    predictions: Sequence[PredictedSize]


def predict_collective(case: CollectiveCase, progress: Progress = silent) -> PredictedCollective:
    """Predict each size; RequestError for what cannot be predicted."""
    if case.statistic and case.table is None:
        raise RequestError("--statistic needs --table", "leave it out, or give a table")
    if case.ranks is None:
        raise RequestError(f"{case.operation} needs --ranks", "for example --ranks 64")
    if case.ranks < 1:
        raise RequestError(f"the number of ranks must be at least 1, not {case.ranks}", "for example --ranks 64")
    sizes_B = (case.sizes_B or [USUAL_B]) if COLLECTIVES[case.operation].has_size else [0]
    if case.table is None:
        sizes = [_from_costs(case, case.ranks, size_B) for size_B in sizes_B]
        return PredictedCollective(case.operation, case.ranks, sizes)
    if case.topology:
        raise RequestError("--topology means nothing with --table", "its times have the network in them")
    if "machine" in case.model_fields_set and case._held is None:
        raise RequestError("--machine means nothing with --table", "its own times say what messages cost")
    path, described = case.table, find_system(case.system) if case.system else None
    if path.is_dir():
        from hockney.records.folder import Campaign

        Campaign.open(path)  # whatever else it is, not all of its files need be read to refuse it
    written = Path(case.algorithm or "")
    schedule = reading.content(written) if written.suffix == ENDING and written.is_file() else b""
    # What the table comes to depends on these; the answer on the whole case.
    files = contents(path)
    of_table = files, case.operation, case.statistic, case.where, case.network, described, schedule
    learned = digest_of(*of_table) if files else ""

    def anew() -> list[PredictedSize]:
        # Whoever has no table, or asks again, does not wait for what calibrates.
        from hockney.predict.calibrated import calibrated

        return calibrated(case, path, sizes_B, learned, progress)

    asked = learned and digest_of(learned, case, sizes_B)
    sizes = answered(asked, list[PredictedSize], anew)
    return PredictedCollective(case.operation, case.ranks, sizes)


@dataclass(frozen=True)
class Chosen:
    """A library's own choice: its name, its time, and what limits that."""

    algorithm: str
    time_s: float
    warnings: tuple[str, ...]


def chosen(case: CollectiveCase, ranks: int, size_B: int, choice: ScheduleChoice) -> Chosen:
    """What the choice takes, from point-to-point costs: with its segments, its radix, and its parts one by one.

    RequestError where some part has no time.
    """
    time_s = 0.0
    warnings: list[str] = []
    for inner in choice.phases(case.operation, size_B):
        inside = {
            "operation": inner.operation,
            "algorithm": inner.choice.algorithm,
            "segment_B": inner.segment_B,
        }
        answer = _from_costs(case.model_copy(update=inside), ranks, inner.size_B, inner.choice.radix or 0)
        times = [row.time_s for row in answer.algorithms if row.time_s is not None]
        if not times:
            raise RequestError(f"no time of {inner.operation} is known", answer.algorithms[0].note)
        time_s += min(times)
        warnings += answer.warnings
    return Chosen(choice.algorithm, time_s, tuple(warnings))


def nodes_of(case: CollectiveCase, ranks: int) -> int | None:
    """How many nodes the ranks are on; without places None where a network was measured: several."""
    costs, place = _costs(case, ranks)
    if place is not None:
        return len(set(place.node))
    return None if costs.crosses_network(None, ranks) else 1


def _from_costs(case: CollectiveCase, ranks: int, size_B: int, radix: int = 0) -> PredictedSize:
    """The answer from point-to-point costs: no collective was measured. `radix` 0: each algorithm's usual one."""
    rows, beyond_models = _of_models(case, ranks, size_B)
    # What was measured in segments says nothing of the same without them, and neither says which are best.
    stated = [
        row.algorithm.partition(",")[0]
        for row in rows
        if case.segment_B
        or row.method == "published"
        or (case.segment_B == 0 and "segments" not in row.algorithm)
    ]
    linked = _linked(case, ranks)
    if linked is not None:
        # A network that is too small is refused, whatever was measured.
        linked.place(ranks)
    try:
        costs, place = _costs(case, ranks)
    except RequestError as error:
        if all(row.time_s is None and row.method != BOUND for row in rows):
            if beyond_models:
                hint = "measure there, or a ping-pong, which simulates it"
                raise RequestError("; ".join(beyond_models), hint) from error
            raise
        warnings = [f"{error.message}: only what was measured is predicted", *beyond_models]
        return PredictedSize.of(case, size_B, str(case.machine), rows, warnings)
    names = case.chosen([algorithm.name for algorithm in offered(case.operation)])
    names = [name for name in names if name not in stated]
    for name in names:
        if name != DEFAULT and ":" not in name:
            # A word that is no algorithm's is a mistake, whatever the others come to.
            find(case.operation, name)
    refused: dict[str, str] = {}
    bounds: Mapping[str, float] = {}

    def predict(request: ScheduleRequest) -> AlgorithmTime:
        return predict_one(request, costs, place) if linked is None else linked.predict(request, costs)

    for name in names:
        try:
            schedule, own_radix, takes_segments = _schedule(case, name, ranks, size_B)
            in_segments = partial(
                ask,
                case.operation,
                schedule,
                ranks=ranks,
                size_B=size_B,
                radix=radix or own_radix,
            )
            request = in_segments(segment_B=(case.segment_B or 0) if takes_segments else 0)
        except RequestError as error:
            if len(names) == 1 and not rows:
                raise
            refused[name] = error.message
            continue
        if place is None or len(set(place.node)) == 1:
            bounds = bounds or lower_bound(request, costs if place else costs.alike(ranks))
        is_searched = case.segment_B is None and takes_segments
        row = best_segment(in_segments, predict, costs) if is_searched else predict(request)
        rows.append(replace(row, algorithm=name))
    if not rows:
        name, why = next(iter(refused.items()))
        raise RequestError(f"{name}: {why}", "the other algorithms of it refuse too")
    warnings = [*beyond_models, *costs.warnings, *costs.assumptions(place, ranks), *costs.beyond(size_B)]
    if linked is not None:
        warnings.append(linked.words)
    elif ranks > 2 and costs.crosses_network(place, ranks) and not (costs.link_s_per_B or costs.node_s_per_B):
        warnings.append(UNSHARED_LINKS)
    least_s = max((row.low_s or 0.0 for row in rows if row.method == BOUND), default=0.0)
    if below := [
        row.algorithm for row in rows if row.time_s is not None and row.time_s < least_s * (1 - ROUNDING)
    ]:
        warnings.append(
            f"{', '.join(below)}: predicted below the machine's least time of {format_time(least_s)}, as "
            "messages share no link here. Give --topology"
        )
    if any(row.method == "published" for row in rows):
        warnings.append(
            "a published model may use hardware that point-to-point messages do not: bounds are not its own"
        )
    off = [
        simulated.time_s / row.time_s
        for row in rows
        if row.time_s and row.method in (FITTED, MEASURED) and "segments" not in row.algorithm
        if (simulated := _simulated(case, row.algorithm.partition(",")[0], ranks, size_B, predict)) is not None
        and simulated.time_s
    ]
    factors = [max(ratio, 1 / ratio) for ratio in off]
    model_off = (min(factors), max(factors)) if factors else None
    return PredictedSize.of(case, size_B, costs.origin, rows, warnings, refused, bounds, model_off)


def _simulated(
    case: CollectiveCase, name: str, ranks: int, size_B: int, predict: Callable[[ScheduleRequest], AlgorithmTime]
) -> AlgorithmTime | None:
    """What the simulation says of an algorithm that was measured, the library's own choice too; None: nothing."""
    call = {"ranks": ranks, "size_B": size_B}
    with suppress(RequestError):
        if name != DEFAULT:
            schedule, radix, _ = _schedule(case, name, ranks, size_B)
            return predict(ask(case.operation, schedule, radix=radix, segment_B=0, **call))
        libraries = {mpi.name for mpi in machine_of(case).mpi}
        known = decisions_for(libraries.pop()) if len(libraries) == 1 else None
        choice = known and known.default(case.operation, ranks, size_B, nodes=nodes_of(case, ranks))
        if choice and not choice.parts:
            own = {"radix": choice.radix or 0, "segment_B": choice.segment_B or 0}
            return predict(ask(case.operation, choice.algorithm, **own, **call))
    return None


def _schedule(case: CollectiveCase, name: str, ranks: int, size_B: int) -> tuple[str, int, bool]:
    """The schedule of an algorithm, its radix, 0 for the usual, and whether it may be asked for in segments.

    Of a library's name (`tuned:chain`) what runs under it on so many ranks.

    RequestError where that is not one schedule.
    """
    library, _, own = name.partition(":")
    if not library or not own:
        return name, 0, True
    call = {"ranks": ranks, "size_B": size_B, "segment_B": case.segment_B or 1}
    for _, decisions in libraries:
        choice = decisions.named(case.operation, name, NEWEST, **call)
        if choice is not None and not choice.parts:
            return choice.algorithm, choice.radix or 0, choice.segment_B is not None
    names = [algorithm.name for algorithm in algorithms(case.operation)]
    raise RequestError(
        f"no one schedule of {case.operation} is known that {library} runs as {name!r} on {ranks} ranks",
        f"known: {', '.join(names)}; --table predicts from its measured times",
    )


def _of_models(case: CollectiveCase, ranks: int, size_B: int) -> tuple[list[AlgorithmTime], list[str]]:
    """Rows of the models of this collective that the machine file brings with it, and what these do not reach.

    Points without a formula have no row beyond their ranks and sizes: costs of messages answer.
    """
    if not has_machine(case):
        return [], []
    filters = _filters(case)
    machine = machine_of(case)
    named = [*map(words, machine.point_to_point), *map(collective_words, machine.collectives)]
    expect_names(filters, chain.from_iterable(named))
    models = [model for model in machine.collectives if model.operation == case.operation]
    published_ones = [published(model, ranks, size_B) for model in models if not model.statistic]
    fitted = [model for model in models if model.statistic and _answers(model, filters, case.segment_B)]
    rows = [
        measured_there(model, ranks, size_B, collective_title(model, fitted).partition(" — ")[2])
        for model in fitted
    ]
    rows = [*published_ones, *rows]
    names = case.chosen([row.algorithm.partition(",")[0] for row in rows])
    rows = [row for row in rows if row.algorithm.partition(",")[0] in names or row.algorithm in names]
    silent = [row for row in rows if row.time_s is None and row not in published_ones]
    texts = [f"{case.operation} {row.algorithm}: {row.note}; not predicted from measured times" for row in silent]
    texts += [
        f"{case.operation} {row.algorithm}: extrapolated, {row.note}; a change of algorithm beyond is not seen"
        for row in rows
        if row.method == EXTRAPOLATED
    ]
    return [row for row in rows if row not in silent], texts


def measured_time(
    case: MessageCosts,
    operation: str,
    algorithm: str,
    ranks: int,
    size_B: int,
    *,
    segment_B: int = 0,
    radix: int = 0,
) -> tuple[CollectiveModel, AlgorithmTime] | None:
    """What was measured of one algorithm, as `predict_collective` answers; None where nothing says a time, or
    several measured configurations do."""
    filters = _filters(case)
    asked = operation, algorithm, segment_B, radix
    answers = [
        (model, row)
        for model in machine_of(case).collectives
        if model.statistic and _answers(model, filters, segment_B)
        if asked == (model.operation, model.algorithm or DEFAULT, model.segment_B, model.radix)
        if (row := measured_there(model, ranks, size_B, algorithm)).time_s is not None
    ]
    return answers[0] if len(answers) == 1 else None


def _filters(case: MessageCosts) -> dict[str, str]:
    return {**parse_where(case.where), **({"mapping": case.mapping} if case.mapping else {})}


def _answers(model: CollectiveModel, filters: Mapping[str, str], segment_B: int | None) -> bool:
    """Whether a fitted model is of what was asked for; what it does not name may be anything."""
    own = collective_words(model)
    return (not segment_B or segment_B == model.segment_B) and all(
        own[name] == word for name, word in filters.items() if own.get(name)
    )


def _linked(case: CollectiveCase, ranks: int) -> RanksOnTopology | None:
    if not case.topology:
        return None
    from hockney.predict.on_topology import on_topology

    return on_topology(case, ranks)


def _costs(case: CollectiveCase, ranks: int) -> tuple[MachineCosts, Place | None]:
    costs, system = costs_of(case)
    if system is not None:
        return placed(costs, system, case.mapping, ranks, None, case.ppn)
    linked = _linked(case, ranks)
    return costs, None if linked is None else linked.place(ranks)


def lower_bound(request: ScheduleRequest, costs: MachineCosts) -> dict[str, float]:
    """Two bounds of every algorithm: the time to spread one rank's knowledge to all, and to move a rank's bytes.

    With d the time of an empty message and s the time between two of a rank, at most x^t ranks know by the time
    t, where x^−s + x^−d = 1 (Karp, Sahay, Santos and Schauser 1993 count them exactly). A byte takes what it does
    in messages of the best size. Neither bound stands on an assumed o or g.
    """
    p = request.problem
    known = costs.messages.values()
    message_s = min(float(messages.one_way_s[0]) for messages in known)
    between_s = min(messages.least_s[0] for messages in known)
    optimum = collective_models.get(request.algorithm.collective).optimum
    moved_B = float(optimum.counts(FormulaCall(p.ranks, float(p.bytes))).bytes) if p.ranks > 1 else 0.0
    # A curve is straight between two sizes, so that the best size is one of them.
    sizes = slice(1, 2 + int(np.searchsorted(SIZES_B[1:], moved_B)))
    per_byte_s = min(float(np.min(messages.least_s[1][sizes] / SIZES_B[sizes])) for messages in known)
    volume = {"volume_s": moved_B * max(per_byte_s, 0.0)}
    # Where nothing says how soon a rank sends again, one message is all that is sure.
    if between_s <= 0 and p.ranks > 2:
        return volume
    return {"latency_s": _spread_s(p.ranks, message_s, between_s), **volume}


def _spread_s(ranks: int, message_s: float, between_s: float) -> float:
    """The least time in which one rank's knowledge can reach all."""
    if ranks == 1 or message_s <= 0:
        return 0.0
    if between_s <= 0:
        return message_s
    from scipy.optimize import brentq

    # In units of a message's time, so that the root is a number of ordinary size.
    ratio = between_s / message_s
    rate = brentq(lambda x: math.exp(-x * ratio) + math.exp(-x) - 1, 1e-9, 50 / min(ratio, 1.0))
    return max(message_s, math.log(ranks) / rate * message_s)
