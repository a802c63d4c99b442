"""Schedules of collectives: listed, written out, proved, counted, drawn, exported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hockney import _core, writing
from hockney._core import RankSchedule
from hockney.errors import RequestError
from hockney.options.schedule import (
    CountOptions,
    DrawOptions,
    ExportOptions,
    StepsOptions,
    VerifyOptions,
)
from hockney.records.keys import COLLECTIVES
from hockney.schedule import words as in_words
from hockney.schedule.catalogue import DescribedProblem, algorithms, find, rank_counts
from hockney.schedule.catalogue import ScheduleRequest as ScheduleRequest
from hockney.schedule.goal import goal
from hockney.schedule.proof import prove
from hockney.units import names


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
        yield rank, _core.generate_rank(options.collective, request.algorithm.name, request.problem, rank)


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
    verdicts = prove(chosen, options.ranks, tell)
    proved = sum(verdict.proved for verdict in verdicts)
    if not proved and not any(verdict.complaints for verdict in verdicts):
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


@dataclass(frozen=True)
class CountOfSeveral:
    """Of several, by their names."""

    collective: str
    ranks: int
    algorithms: dict[str, in_words.ScheduleCounts]


@dataclass(frozen=True)
class CountOnRanks:
    """On each of several numbers of ranks."""

    collective: str
    ranks: dict[int, CountOfOne | CountOfSeveral]


def schedule_counts(
    options: CountOptions, note: Callable[[str], None]
) -> tuple[CountOfOne | CountOfSeveral | CountOnRanks, ScheduleRequest | None]:
    """The counts of each algorithm on each number of ranks, and the first request."""
    counted = {ranks: _counted(options, ranks, note) for ranks in options.ranks}
    only, first = next(iter(counted.values()))
    if len(counted) == 1:
        return only, first
    return CountOnRanks(options.collective, {ranks: one for ranks, (one, _) in counted.items()}), first


def _counted(
    options: CountOptions, ranks: int, note: Callable[[str], None]
) -> tuple[CountOfOne | CountOfSeveral, ScheduleRequest | None]:
    from hockney.predict.default_schedules import default_schedules

    has_all = options.algorithm == "all"
    every = [algorithm.name for algorithm in algorithms(options.collective)]
    if not options.algorithm.strip(", "):
        raise RequestError(f"--algorithm {options.algorithm!r} names nothing", f"for example {every[1]}")
    chosen = every if has_all else names(options.algorithm)
    if "default" not in chosen and (options.mpi or options.nodes != 1):
        raise RequestError(
            "--mpi and --nodes say what `--algorithm default` is", "leave them out, or add default"
        )
    if options.root and not COLLECTIVES[options.collective].rooted:
        raise RequestError(f"{options.collective} has no root", "leave out --root")
    counts: dict[str, in_words.ScheduleCounts] = {}
    first = None
    for name in chosen:
        if name == "default":
            where = (ranks, options.size_B, options.nodes, options.root)
            for part, request in default_schedules(options.mpi, options.collective, *where):
                counts[part] = in_words.counts(request)
            continue
        try:
            request = options.on(ranks, name, options.root)
        except RequestError as error:
            # Algorithms that the user did not name may refuse: a note says which, and the others are counted.
            if not has_all:
                raise
            note(f"left out: {error.message}")
            continue
        first = first if counts else request
        counts[name] = in_words.counts(request)
    if has_all or len(counts) > 1 or chosen == ["default"]:
        return CountOfSeveral(options.collective, ranks, counts), first
    (only,) = counts.values()
    return CountOfOne(**vars(only), collective=options.collective, ranks=ranks), first


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


def draw_schedule(request: ScheduleRequest, options: DrawOptions) -> DrawAnswer:
    """Draw a schedule into its file: a tree where its collective has a root, else its steps."""
    # Lists and counts do without matplotlib.
    from hockney.report.drawing import checked_ending
    from hockney.report.schedules import draw, write

    style = "tree" if COLLECTIVES[request.algorithm.collective].rooted else "steps"
    checked_ending(options.output)
    write(options.output, draw(request, style, None), request)
    return DrawAnswer(**vars(request.described()), figure=str(options.output), style=style)


def export_schedule(request: ScheduleRequest, options: ExportOptions) -> Iterator[str]:
    """A schedule as GOAL text, for another program."""
    return goal(request, options.reduce_s_per_B * 1e9)


def write_schedule(request: ScheduleRequest, options: ExportOptions) -> ExportAnswer:
    """Write these lines into the file that is named."""
    lines = export_schedule(request, options)
    if options.output is None:
        raise RequestError("--json needs a file for the schedule itself", "add -o FILE")
    with writing.replacing_text(options.output) as file:
        characters = sum(file.write(line + "\n") for line in lines)
    return ExportAnswer(
        **vars(request.described()), file=str(options.output), format="goal", characters=characters
    )
