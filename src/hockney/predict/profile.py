"""What the communication of a profile would cost on another machine, and which algorithms would pay there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

from hockney.errors import RequestError
from hockney.fields import flags_written
from hockney.machine.file import load as load_machine
from hockney.machine.select import parse_where, select_entry
from hockney.predict.collective import UNCALIBRATED
from hockney.predict.decisions.base import decisions_for
from hockney.predict.every_algorithm import chosen, nodes_of, predict_collective
from hockney.predict.from_model import FITTED, INTERPOLATED, MEASURED
from hockney.predict.message import MessagePrediction, predict_message
from hockney.predict.options import CollectiveCase, MessageCosts, ProfileCase
from hockney.predict.points import DEFAULT
from hockney.records.keys import COLLECTIVES
from hockney.records.profile import Call, Profile, load
from hockney.records.record import LOCALITIES

SENDS = {"sendrecv", "isendrecv"} | {mode + "send" for mode in ("", "b", "s", "r", "i", "ib", "is", "ir")}
MOST_SIZES = 12
"""Sizes of one operation on one number of ranks that are predicted; of more, powers of two that hold them."""


@dataclass(frozen=True)
class CallCost:
    """One operation of one size on one number of ranks: times of one call.

    `default_s` and `default` are of what the profile's MPI chooses by itself, None where that is not known.
    """

    best_s: float
    best: str
    default_s: float | None = None
    default: str = ""


@dataclass(frozen=True)
class SumInterval:
    """Where a sum lies, as far as the costs that it adds have intervals."""

    low_s: float
    high_s: float


@dataclass(frozen=True)
class PredictedCalls:
    """Calls of the profile as they would be: `time_s` on a rank, by the library's own choice where it is known.

    `waiting_s`: the part of `measured_s` spent waiting for other ranks, None where the profile does not have it.
    `best_s` is by the best algorithm of each size. Both are None where nothing is predicted, and `note` says why.
    `unknown_s` is the part of `time_s` where the library's choice is not known: there the best stands for it.
    `interval` is that of `time_s`; None where some of its costs have none.
    """

    operation: str
    site: str
    communicator: str
    ranks: int
    calls_of_a_rank: float
    measured_s: float
    waiting_s: float | None = None
    time_s: float | None = None
    best_s: float | None = None
    unknown_s: float = 0.0
    interval: SumInterval | None = None
    note: str = ""


@dataclass(frozen=True)
class AlgorithmChange:
    """Another algorithm for calls of one size: what a rank would save."""

    operation: str
    ranks: int
    bytes: int
    calls_of_a_rank: float
    algorithm: str
    instead_of: str
    saved_s: float
    factor: float


@dataclass(frozen=True)
class PredictedProfile:
    """The profile's communication on so many ranks of a machine; sums are over what is predicted.

    `measured_s` and `waiting_s` (what is known of it) are of one of the `profiled_ranks` ranks.
    `unknown_s` and `interval` as of a row.
    """

    mpi: str
    ranks: int
    profiled_ranks: int
    measured_s: float
    waiting_s: float
    time_s: float
    best_s: float
    unknown_s: float
    interval: SumInterval | None
    rows: Sequence[PredictedCalls]
    changes: Sequence[AlgorithmChange]
    warnings: Sequence[str]


class _Costs:
    """Predicted times, each asked for once."""

    def __init__(self, case: MessageCosts, mpi: str) -> None:
        self.case = case
        self.decisions = decisions_for(mpi)
        self.warnings: list[str] = []
        self.of = cache(self._of)

    def _case(self, operation: str, ranks: int, size_B: int) -> CollectiveCase:
        shared = self.case.model_dump(include=set(MessageCosts.model_fields))
        return CollectiveCase.model_validate(
            shared | {"operation": operation, "ranks": ranks, "sizes_B": [size_B]}
        )

    def _of(self, operation: str, ranks: int, size_B: int) -> CallCost:
        """RequestError where nothing predicts it."""
        case = self._case(operation, ranks, size_B)
        (answer,) = predict_collective(case).predictions
        timed = [(row.time_s, row.algorithm, row.method) for row in answer.algorithms if row.time_s is not None]
        if not timed:
            raise RequestError(f"no time of {operation} is known", answer.algorithms[0].note)
        self.warnings += answer.warnings
        measured = [row for row in timed if row[2] in (MEASURED, FITTED, INTERPOLATED)]
        if own_rows := [row for row in measured if row[1].partition(",")[0] == DEFAULT]:
            # What was measured is compared with what was measured: a simulation may be off by more than the gain.
            return CallCost(*min(measured)[:2], *min(own_rows)[:2])
        best_s, best, _ = min(timed)
        choice = self.decisions.default(operation, ranks, size_B, nodes=nodes_of(case, ranks))
        if choice is not None:
            with suppress(RequestError):
                own = chosen(case, ranks, size_B, choice)
                self.warnings += own.warnings
                # In segments, or with a radix of its own, it may be quicker than every usual schedule.
                best_s, best = min((best_s, best), (own.time_s, own.algorithm))
                return CallCost(best_s, best, own.time_s, own.algorithm)
        return CallCost(best_s, best)


def predict_profile(case: ProfileCase) -> PredictedProfile:
    """Predict the profile of a file on the machine of the case.

    RequestError where not even that machine's messages are known.
    Communicators of all ranks become as large as asked; others, and the sizes of messages, stay as they are.
    """
    profile = load(case.file)
    ranks = profile.ranks if case.ranks is None else case.ranks
    if ranks < 1:
        raise RequestError(f"the number of ranks must be at least 1, not {ranks}", "for example --ranks 64")
    (place, *others) = case.each()
    of_traces = {"algorithm", "rules", "compute", "compute_of", "export"} & case.model_fields_set
    if others or of_traces:
        what = flags_written(case)[min(of_traces)] if of_traces else "several places"
        raise RequestError(
            f"{what}: {case.file} has no trace beside it, and a sum knows no order of events",
            "record the run again: hockney profile -o FILE -- mpirun … ./app",
        )
    costs = _Costs(place, profile.mpi)
    rows, changes = [], []
    for call in profile.calls:
        row, of_it = _row(profile, call, ranks, costs)
        rows.append(row)
        changes += of_it
    known = [row for row in rows if row.time_s is not None]
    if profile.calls and not known:
        raise RequestError(
            f"nothing of {case.file} can be predicted: {rows[0].note}", "see `hockney predict --help`"
        )
    warnings = list(dict.fromkeys(costs.warnings))
    if ranks != profile.ranks:
        warnings.append(
            f"assumed: communicators of all {profile.ranks} ranks grow to {ranks}; others keep their ranks, and "
            "calls their bytes and number. Calls are added up: a trace is of the ranks that were recorded"
        )
    if profile.left_out is not None:
        warnings.append(
            f"{profile.left_out.calls} calls of the run are not in {case.file}, which says no more of them"
        )
    return PredictedProfile(
        mpi=profile.mpi,
        ranks=ranks,
        profiled_ranks=profile.ranks,
        measured_s=sum(row.measured_s for row in known),
        waiting_s=sum(row.waiting_s or 0 for row in known),
        time_s=sum(row.time_s or 0 for row in known),
        best_s=sum(row.best_s or 0 for row in known),
        unknown_s=sum(row.unknown_s for row in known),
        interval=_sum([row.interval for row in known]),
        rows=rows,
        changes=_merged(changes),
        warnings=warnings,
    )


def _row(profile: Profile, call: Call, ranks: int, costs: _Costs) -> tuple[PredictedCalls, list[AlgorithmChange]]:
    place = profile.communicators[call.communicator]
    members = profile.ranks_of(call)
    row = PredictedCalls(
        operation=call.operation,
        site=call.site,
        communicator=place.name,
        ranks=ranks if place.ranks == profile.ranks else place.ranks,
        calls_of_a_rank=call.calls / members,
        measured_s=call.time_s / members,
        waiting_s=None if call.waiting_s is None else call.waiting_s / members,
    )
    sizes = Counter({size.bytes: size.calls for size in call.sizes})
    try:
        if call.operation.removesuffix("_replace") in SENDS:
            each = [(calls / members, _message(costs.case, size_B)) for size_B, calls in sizes.items()]
            time_s = sum(share * message.time_s for share, message in each)
            interval = _sum([_interval(share, message) for share, message in each])
            return replace(row, time_s=time_s, best_s=time_s, interval=interval), []
        if call.operation in COLLECTIVES and place.ranks > 1 and "between groups" not in place.name:
            return _collective(row, _fewer(sizes), members, costs)
        why = "waits and receives are a part of what is sent, and other calls have no model"
    except RequestError as error:
        why = error.message
    return replace(row, note=why), []


def _fewer(sizes: Counter[int]) -> Counter[int]:
    if len(sizes) <= MOST_SIZES:
        return sizes
    fewer: Counter[int] = Counter()
    for size_B, calls in sizes.items():
        fewer[1 << (size_B - 1).bit_length() if size_B else 0] += calls
    return fewer


def _collective(
    row: PredictedCalls, sizes: Counter[int], members: int, costs: _Costs
) -> tuple[PredictedCalls, list[AlgorithmChange]]:
    time_s = best_s = unknown_s = 0.0
    changes = []
    for size_B, calls in sizes.items():
        if size_B == 0 and COLLECTIVES[row.operation].has_size:
            continue
        cost = costs.of(row.operation, row.ranks, size_B)
        each = calls / members
        default_s = cost.best_s if cost.default_s is None else cost.default_s
        time_s += each * default_s
        best_s += each * cost.best_s
        unknown_s += each * cost.best_s if cost.default_s is None else 0.0
        # Without measured collectives smaller ratios may be none.
        if default_s > UNCALIBRATED * cost.best_s:
            changes.append(
                AlgorithmChange(
                    operation=row.operation,
                    ranks=row.ranks,
                    bytes=size_B,
                    calls_of_a_rank=each,
                    algorithm=cost.best,
                    instead_of=cost.default,
                    saved_s=each * (default_s - cost.best_s),
                    factor=default_s / cost.best_s,
                )
            )
    return replace(row, time_s=time_s, best_s=best_s, unknown_s=unknown_s), changes


def _merged(changes: list[AlgorithmChange]) -> list[AlgorithmChange]:
    """The changes of all call sites together, those that save most first."""
    by_size: dict[tuple[str, int, int], AlgorithmChange] = {}
    for change in changes:
        key = change.operation, change.ranks, change.bytes
        if (before := by_size.get(key)) is not None:
            calls = before.calls_of_a_rank + change.calls_of_a_rank
            change = replace(before, calls_of_a_rank=calls, saved_s=before.saved_s + change.saved_s)
        by_size[key] = change
    return sorted(by_size.values(), key=lambda change: -change.saved_s)


def _interval(times: float, message: MessagePrediction) -> SumInterval | None:
    if message.low_s is None or message.high_s is None:
        return None
    return SumInterval(low_s=times * message.low_s, high_s=times * message.high_s)


def _sum(intervals: Sequence[SumInterval | None]) -> SumInterval | None:
    """Ends add up, as all may be off to the same side; None where one is missing."""
    known = [interval for interval in intervals if interval is not None]
    if not known or len(known) < len(intervals):
        return None
    return SumInterval(low_s=sum(each.low_s for each in known), high_s=sum(each.high_s for each in known))


def _message(case: MessageCosts, size_B: int) -> MessagePrediction:
    """A message between the farthest ranks that were measured."""
    machine = load_machine(case.machine)
    keys = {"operation": "pingpong"} | parse_where(case.where)
    localities = [*reversed(LOCALITIES)]
    for locality in localities:
        try:
            entry = select_entry(machine, {"locality": locality, **keys})
        except RequestError:
            if locality == localities[-1]:
                raise
            continue
        return predict_message(entry, size_B, "piecewise")
    raise AssertionError("there are localities")
