"""Schedules of collectives: listed, written out, proved, counted, drawn, exported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hockney import _core, writing
from hockney._core import RankSchedule
from hockney.errors import RequestError
from hockney.options.schedule import (
    CountOptions,
    DrawOptions,
    ExportOptions,
    LogGpOptions,
    StepsOptions,
    VerifyOptions,
)
from hockney.records.keys import COLLECTIVES
from hockney.schedule import words as in_words
from hockney.schedule.catalogue import DescribedProblem, algorithms, find, rank_counts
from hockney.schedule.catalogue import ScheduleRequest as ScheduleRequest
from hockney.schedule.formats import formats
from hockney.schedule.proof import prove
from hockney.words import names


@dataclass(frozen=True)
class KnownAlgorithm:
    """What an algorithm is; None: it takes no radix."""

    collective: str
    algorithm: str
    segmented: bool
    radix: int | None
    least_radix: int | None
    ordered: bool
    ranks: str
    offered: bool

    @property
    def reduces(self) -> bool:
        """Whether its collective reduces, so that the order of ranks matters."""
        return COLLECTIVES[self.collective].reduces


@dataclass(frozen=True)
class ListAnswer:
    """Every algorithm."""

    algorithms: list[KnownAlgorithm]


def schedule_list(collective: str | None) -> ListAnswer:
    """All algorithms, or those of one collective."""
    return ListAnswer(
        [
            KnownAlgorithm(
                algorithm.collective,
                algorithm.name,
                algorithm.is_segmented,
                algorithm.default_radix or None,
                algorithm.least_radix or None,
                algorithm.is_ordered,
                rank_counts(algorithm),
                algorithm.is_offered,
            )
            for algorithm in algorithms(collective)
        ]
    )


def _steps(options: StepsOptions, request: ScheduleRequest) -> Iterator[tuple[int, RankSchedule]]:
    """Ranks with their steps, one at a time."""
    if options.rank is not None and not 0 <= options.rank < options.ranks:
        raise RequestError(
            f"rank {options.rank} is none of the ranks 0 to {options.ranks - 1}", "choose one of them"
        )
    for rank in request.printable_ranks() if options.rank is None else [options.rank]:
        yield rank, _core.generate_rank(options.collective, options.algorithm, request.problem, rank)


@dataclass(frozen=True)
class RankSteps:
    """The steps of one rank."""

    scratch_B: int
    steps: list[in_words.StepAnswer]


@dataclass(frozen=True)
class ShowScheduleAnswer(DescribedProblem):
    """Steps by rank."""

    collective: str
    algorithm: str
    ranks: dict[str, RankSteps]


def schedule_steps(options: StepsOptions, request: ScheduleRequest) -> ShowScheduleAnswer:
    """The steps of each rank."""
    ranks = {
        str(rank): RankSteps(part.scratch_B, [in_words.described(step) for step in part.steps])
        for rank, part in _steps(options, request)
    }
    return ShowScheduleAnswer(
        **vars(request.described()), collective=options.collective, algorithm=options.algorithm, ranks=ranks
    )


def schedule_steps_in_words(options: StepsOptions, request: ScheduleRequest) -> Iterator[str]:
    """The same as lines for a person."""
    for rank, part in _steps(options, request):
        yield f"rank {rank}" + (f" (scratch {part.scratch_B} B)" if part.scratch_B else "")
        for number, step in enumerate(part.steps):
            yield f"  {number}: {in_words.step(step)}"


@dataclass(frozen=True)
class ProvedAlgorithm:
    """How many cases were proved of an algorithm, how many it is not defined for, and what is wrong with it."""

    collective: str
    algorithm: str
    proved: int
    refused: int
    complaints: list[str]


@dataclass(frozen=True)
class VerifyAnswer:
    """Proofs."""

    proved: int
    algorithms: list[ProvedAlgorithm]


def schedule_verify(options: VerifyOptions, tell: Callable[[str], None]) -> tuple[VerifyAnswer, list[str]]:
    """Proofs of algorithms by symbolic execution, and why each refused what it is not defined for."""
    if options.algorithm is None:
        chosen = algorithms(options.collective)
    elif options.collective is None:
        raise RequestError("--algorithm needs its collective", "for example `verify bcast --algorithm binomial`")
    else:
        chosen = [find(options.collective, options.algorithm)]
    fewest = min(options.ranks)
    if outside := [root for root in options.roots or () if root >= fewest]:
        raise RequestError(f"root {outside[0]} is none of {fewest} ranks", "choose smaller roots or more ranks")
    segments = None if options.segment_B is None else [options.segment_B]
    verdicts = prove(chosen, options.ranks, options.roots, segments, tell)
    proved = sum(verdict.proved for verdict in verdicts)
    if not proved:
        raise RequestError(
            f"nothing was proved: {verdicts[0].reason}", "`hockney schedule list` shows what each is defined for"
        )
    rows = [
        ProvedAlgorithm(
            verdict.algorithm.collective,
            verdict.algorithm.name,
            verdict.proved,
            verdict.refused,
            [*verdict.complaints],
        )
        for verdict in verdicts
    ]
    return VerifyAnswer(proved, rows), [verdict.reason for verdict in verdicts]


@dataclass(frozen=True)
class CountOfOne(in_words.ScheduleCounts):
    """Of the one that was named."""

    collective: str
    ranks: int
    root: int


@dataclass(frozen=True)
class CountOfSeveral:
    """Of several, by their names."""

    collective: str
    ranks: int
    root: int
    algorithms: dict[str, in_words.ScheduleCounts]


def schedule_counts(
    options: CountOptions, note: Callable[[str], None]
) -> tuple[CountOfOne | CountOfSeveral, ScheduleRequest | None]:
    """The counts of each algorithm, and the first request."""
    from hockney.predict.default_schedules import default_schedules

    has_all = options.algorithm == "all"
    every = [algorithm.name for algorithm in algorithms(options.collective)]
    if not options.algorithm.strip(", "):
        raise RequestError(
            f"--algorithm {options.algorithm!r} names nothing", f"for example {every[0]}, {every[1]}"
        )
    chosen = every if has_all else names(options.algorithm)
    if "default" not in chosen and (options.mpi or options.nodes != 1):
        raise RequestError(
            "--mpi and --nodes say what `--algorithm default` is", "leave them out, or add default"
        )
    counts: dict[str, in_words.ScheduleCounts] = {}
    first = None
    for name in chosen:
        if name == "default":
            for part, request in default_schedules(
                options.mpi, options.collective, options.ranks, options.size_B, options.root, options.nodes
            ):
                counts[part] = in_words.counts(request)
            continue
        try:
            request = options.request(name)
        except RequestError as error:
            # Algorithms that the user did not name may refuse: a note says which, and the others are counted.
            if not has_all:
                raise
            note(f"left out: {error.message}")
            continue
        first = first if counts else request
        counts[name] = in_words.counts(request)
    if has_all or len(counts) > 1 or chosen == ["default"]:
        return CountOfSeveral(options.collective, options.ranks, options.root, counts), first
    (only,) = counts.values()
    return CountOfOne(**vars(only), collective=options.collective, ranks=options.ranks, root=options.root), first


@dataclass(frozen=True)
class DrawAnswer(DescribedProblem):
    """The figure that was written."""

    figure: str
    style: str


@dataclass(frozen=True)
class ExportAnswer(DescribedProblem):
    """The text that was written."""

    file: str
    format: str
    characters: int


def draw_schedule(request: ScheduleRequest, costs: LogGpOptions, options: DrawOptions) -> DrawAnswer:
    """Draw a schedule into its file; the style of the picture, by what is given where none is named."""
    # Lists and counts do without matplotlib.
    from hockney.predict.costs import LoggopsParameters
    from hockney.report.drawn import checked_ending
    from hockney.report.schedules import draw, write

    parameters = _loggp(costs)
    by_itself = "tree" if COLLECTIVES[request.algorithm.collective].rooted else "steps"
    style = options.style or ("space-time" if parameters else by_itself)
    if style not in ("tree", "steps", "space-time"):
        raise RequestError(f"unknown style {style!r}", "known: tree, steps, space-time")
    checked_ending(options.output)
    curves = LoggopsParameters(**parameters).at([0]) if parameters else None
    write(options.output, draw(request, style, curves), request)
    return DrawAnswer(**vars(request.described()), figure=str(options.output), style=style)


def _loggp(options: LogGpOptions) -> dict[str, float] | None:
    """The fields of `LoggopsParameters`, from a machine file or the options; None: neither.

    RequestError where only one of latency and time for each byte is given.
    """
    if options.machine is not None:
        return _loggp_of(options.machine, options.locality)
    if options.latency_s is None and options.gap_s_per_B is None:
        return None
    if options.latency_s is None or options.gap_s_per_B is None:
        raise RequestError("LogGP needs both --latency and --bandwidth", "for example 2us and 10GB/s")
    return options.model_dump(exclude={"machine", "locality"})


def _loggp_of(path: Path, locality: str) -> dict[str, float]:
    """The parameters of a machine file's LogGP fit of the ping-pong."""
    # Schedules without a machine file do without it.
    from hockney.machine.file import load

    entries = [
        entry
        for entry in load(path).point_to_point
        if entry.operation == "pingpong" and "loggp" in entry.fits and locality in ("", entry.locality or "")
    ]
    if not entries:
        where = f" for locality {locality!r}" if locality else ""
        raise RequestError(f"{path} has no loggp fit of a ping-pong{where}", "make one with `hockney fit`")
    fitted = {name: parameter.value for name, parameter in entries[0].fits["loggp"].parameters.items()}
    return {
        "latency_s": fitted["L"],
        # One overhead for both ends, as in LogGP itself.
        "overhead_s": (fitted["o_s"] + fitted["o_r"]) / 2,
        "gap_s": fitted["g"],
        "gap_s_per_B": fitted["G"],
    }


def export_schedule(request: ScheduleRequest, options: ExportOptions) -> Iterator[str]:
    """The lines of a schedule for another program."""
    return formats.get(options.format_)(request, options.reduce_ns_per_byte)


def write_schedule(request: ScheduleRequest, options: ExportOptions) -> ExportAnswer:
    """Write these lines into the file that is named."""
    lines = export_schedule(request, options)
    if options.output is None:
        raise RequestError("--json needs a file for the schedule itself", "add -o FILE")
    with writing.replacing_text(options.output) as file:
        characters = sum(file.write(line + "\n") for line in lines)
    return ExportAnswer(
        **vars(request.described()), file=str(options.output), format=options.format_, characters=characters
    )
