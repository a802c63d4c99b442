"""What `hockney predict` answers of a recorded run: on each machine, by each rules, beside what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError, computed_field

from hockney import _core, reading
from hockney._core import TraceFault
from hockney.errors import RequestError
from hockney.predict.network_figures import has_machine, machine_of
from hockney.predict.options import MOST_FACTOR, MessageCosts, ProfileCase
from hockney.predict.replay.algorithms import Rules
from hockney.predict.replay.recorded import read, refused
from hockney.predict.replay.replay_case import ReplayCase
from hockney.predict.replay.run import PathParts, ReplaySetting, SpotTime
from hockney.predict.replay.tolerance import Tolerance, tolerances
from hockney.runner.traced import trace_of


@dataclass(frozen=True)
class RunInterval:
    """The run's time where all messages take the low, or the high end of their intervals."""

    low_s: float
    high_s: float


@dataclass(frozen=True)
class PredictedRun:
    """A recorded run elsewhere: `run_s` from MPI_Init to MPI_Finalize, its last rank.

    `measured_s` is what the recorded run took; where it ran on this machine (`is_its_own`), `off` says by what
    share the model misses it. Seconds of `critical_path` add up to the run. A rank computes, is idle, and is idle
    for others that are late, for so long (mean over ranks). `algorithms`: how many calls each serves.
    """

    machine: str
    system: str
    mapping: str
    rules: str
    mpi: str
    ranks: int
    events: int
    messages: int
    run_s: float
    interval: RunInterval | None
    measured_s: float
    is_its_own: bool
    computing_s: float
    waiting_s: float
    late_s: float
    critical_path: PathParts
    by_site: Sequence[SpotTime]
    by_communicator: Sequence[SpotTime]
    tolerance: Sequence[Tolerance]
    algorithms: Mapping[str, Mapping[str, int]]
    exported: str | None
    warnings: Sequence[str]

    @computed_field
    @property
    def off(self) -> float:
        """By what share of the measured time the prediction is longer."""
        return self.run_s / self.measured_s - 1 if self.measured_s else 0.0


@dataclass(frozen=True)
class PredictedRuns:
    """A row for each machine, system, mapping and rules."""

    runs: Sequence[PredictedRun]


ReadRules = Callable[[Path, str], Rules]
"""The rules of a file for a library of that name."""


def is_recorded(case: ProfileCase) -> bool:
    """Whether there is a trace: it is replayed. A profile without one, or on other `ranks`, is summed."""
    return trace_of(case.file) is not None and (case.ranks is None or case.file.is_dir())


def predict_run(case: ProfileCase, read_rules: ReadRules) -> PredictedRun | PredictedRuns:
    """RequestError for a trace that is damaged, or costs that are not known."""
    answers = []
    for replayed, rules in replay_cases(case, read_rules):
        exported = _exported(case, replayed)
        answers.append(replace(answered(replayed, rules), exported=exported))
    return answers[0] if len(answers) == 1 else PredictedRuns(answers)


def replay_cases(case: ProfileCase, read_rules: ReadRules) -> Iterator[tuple[ReplayCase, str]]:
    """Each that is asked for, with the file of its rules; RequestError as `predict_run`."""
    path = trace_of(case.file)
    assert path is not None
    if case.ranks is not None:
        raise RequestError(
            "--ranks means nothing with a trace: a run has the ranks that it was recorded with",
            "record it with as many ranks: they may share cores",
        )
    run = read(path)
    if run.events == 0:
        raise RequestError(
            f"{path} has no call of any rank", "the program ended before its first one: record it anew"
        )
    factors = run.factors(case.compute, {} if case.compute_of is None else _factors(case.compute_of))
    rules: list[tuple[str, Rules]] = [("", _no_rules)]
    if case.rules:
        rules = [(str(file), read_rules(file, run.trace.mpi)) for file in case.rules]
    for place in case.each():
        around = ReplaySetting.of(place, run)
        for file, of_it in rules:
            yield ReplayCase(place, run, around, of_it, dict(case.algorithm), factors), file


def _no_rules(operation: str, ranks: int, size_B: int) -> None:  # noqa: ARG001 - of nothing
    return None


def _factors(path: Path) -> dict[str, float]:
    hint = 'write {"jacobi.c:93": 0.5}'
    parsed = reading.parsed(reading.text(path), reading.printable(path), hint)
    try:
        factors = TypeAdapter(dict[str, float]).validate_python(parsed)
    except ValidationError as error:
        raise RequestError(f"{path} is no table of call sites and factors", hint) from error
    for site, factor in factors.items():
        if not 0 <= factor <= MOST_FACTOR:
            raise RequestError(f"{path}: {factor:g} is no factor of {site!r}", hint)
    return factors


def answered(replayed: ReplayCase, rules: str = "") -> PredictedRun:
    """The run in a replayed; `rules`: the file that its rules are from."""
    place, run, around = replayed.place, replayed.run, replayed.around
    algorithms, by_messages = replayed.algorithms, replayed.uncorrected()
    first, curves = replayed.played()
    followed = first if by_messages is replayed else by_messages.played()[0]
    by_site, by_communicator = first.spots(run)
    alone, measured = first.result.alone, replayed.measured.remarks
    # Ranks that shared cores waited for them, too.
    is_its_own = not run.trace.has_cpu and has_machine(place) and _hosts(place) == set(run.trace.hosts) != set()
    return PredictedRun(
        machine=str(place.machine) if has_machine(place) else "",
        system=place.system,
        mapping=place.mapping,
        rules=rules,
        mpi=run.trace.mpi,
        ranks=run.ranks,
        events=run.events,
        messages=first.result.messages,
        run_s=first.run_s,
        interval=_interval(replayed, first.run_s),
        measured_s=run.measured_s,
        is_its_own=is_its_own,
        computing_s=first.result.worked_s / run.ranks,
        waiting_s=sum(row.waiting_s for row in by_site),
        late_s=sum(row.late_s for row in by_site),
        critical_path=first.parts(curves),
        by_site=by_site,
        by_communicator=by_communicator,
        tolerance=tolerances(
            around, by_messages.replay, curves, followed, run.events, first.run_s - followed.run_s
        ),
        algorithms=algorithms.taken,
        exported=None,
        warnings=[
            *dict.fromkeys(
                # What the trace lacks first: few are shown.
                [*filter(None, [alone]), *run.remarks(), *around.warnings, *algorithms.remarks, *measured]
            )
        ],
    )


def _exported(case: ProfileCase, replayed: ReplayCase) -> str | None:
    """The file of the graph; None where none is asked for. RequestError where it cannot be written."""
    if case.export is None:
        return None
    if len(case.each()) * max(len(case.rules), 1) > 1:
        raise RequestError("--export is for one machine and rules", "leave the others out")
    file = case.file.with_suffix(".goal") if str(case.export) == "goal" else case.export
    try:
        _core.write_goal(replayed.replay, reading.printable(file), replayed.around.curves().curves())
    except TraceFault as fault:
        raise refused(fault) from fault
    return str(file)


def _hosts(case: MessageCosts) -> set[str]:
    return {host.host for host in machine_of(case).system.hosts}


def _interval(replayed: ReplayCase, run_s: float) -> RunInterval | None:
    ends_s = [None if (at_end := replayed.at_end(end)) is None else at_end.run_s() for end in (0, 1)]
    low_s, high_s = ends_s
    return None if low_s is None or high_s is None else RunInterval(min(low_s, run_s), max(high_s, run_s))
