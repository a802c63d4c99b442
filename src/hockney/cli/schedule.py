"""`hockney schedule`: collective algorithms written out as data: listed, proved, counted, drawn, exported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, Field
from rich.table import Table

from hockney import writing
from hockney.cli._loggp import LogGpOptions, loggp
from hockney.errors import RequestError
from hockney.fields import Argument, Option
from hockney.options.schedule import ScheduleOptions
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import algorithm_names
from hockney.schedule.formats import formats
from hockney.terminal import JsonOption, answer_no, group, say, verb
from hockney.terminal.loading import later
from hockney.words import listed, names, segment, wholes

with later():
    from hockney import _core
    from hockney.predict.costs import loggp_costs
    from hockney.predict.default_schedules import default_schedules
    from hockney.report.drawn import checked_ending
    from hockney.report.schedules import draw as picture
    from hockney.report.schedules import write
    from hockney.schedule import words as in_words
    from hockney.schedule.catalogue import ScheduleRequest, algorithms, find, rank_counts
    from hockney.schedule.proof import MOST_RANKS, prove


schedule = group(
    "schedule",
    examples="hockney schedule list\nhockney schedule draw bcast --algorithm binomial --ranks 16 -o tree.svg",
)


class ListOptions(BaseModel):
    """Which algorithms are listed."""

    collective: Annotated[
        str | None, Argument("Only algorithms of this collective.", known=lambda: COLLECTIVES)
    ] = None


@verb("list", examples="hockney schedule list\nhockney schedule list allreduce --json", of=schedule)
def list_(options: ListOptions, json: JsonOption = False) -> None:
    """All algorithms, with what they take and for how many ranks they are defined."""
    listed = algorithms(options.collective)
    if json:
        data = [
            {
                "collective": algorithm.collective,
                "algorithm": algorithm.name,
                "segmented": algorithm.is_segmented,
                "radix": algorithm.default_radix or None,
                "least_radix": algorithm.least_radix or None,
                "ordered": algorithm.is_ordered,
                "ranks": rank_counts(algorithm),
                "offered": algorithm.is_offered,
            }
            for algorithm in listed
        ]
        say.json({"algorithms": data})
        return
    table = Table("collective", "algorithm", "segments", "radix", "keeps rank order", "ranks", "choice", box=None)
    for algorithm in listed:
        radix = f"{algorithm.default_radix} (≥ {algorithm.least_radix})" if algorithm.default_radix else ""
        order = "yes" if algorithm.is_ordered else "no"
        table.add_row(
            algorithm.collective,
            algorithm.name,
            "yes" if algorithm.is_segmented else "",
            radix,
            order if COLLECTIVES[algorithm.collective].reduces else "",
            rank_counts(algorithm),
            "" if algorithm.is_offered else "by name alone",
        )
    say.table(table)


class StepsOptions(ScheduleOptions):
    """Which schedule is shown, and of which rank."""

    rank: Annotated[int | None, Option("Only this rank's steps.")] = None


@verb(
    "show",
    examples="hockney schedule show bcast --algorithm binomial --ranks 6 --bytes 1KiB\n"
    "hockney schedule show allreduce --algorithm ring --ranks 4 --rank 2 --bytes 64 --json",
    of=schedule,
)
def show(options: StepsOptions, json: JsonOption = False) -> None:
    """Every rank's steps with their dependencies."""
    request = options.request()
    _note_rounding(request)
    if options.rank is not None and not 0 <= options.rank < options.ranks:
        raise RequestError(
            f"rank {options.rank} is none of the ranks 0 to {options.ranks - 1}", "choose one of them"
        )
    ranks: dict[str, Any] = {}
    for rank in request.printable_ranks() if options.rank is None else [options.rank]:
        part = _core.generate_rank(options.collective, options.algorithm, request.problem, rank)
        if json:
            ranks[str(rank)] = {
                "scratch_B": part.scratch_B,
                "steps": [in_words.as_data(step) for step in part.steps],
            }
            continue
        say.line(f"rank {rank}" + (f" (scratch {part.scratch_B} B)" if part.scratch_B else ""))
        for number, step in enumerate(part.steps):
            say.line(f"  {number}: {in_words.step(step)}")
    if json:
        about = {"collective": options.collective, "algorithm": options.algorithm}
        say.json({**about, **request.as_data(), "ranks": ranks})


class VerifyOptions(ListOptions):
    """What is proved, on which ranks, roots and segments."""

    algorithm: Annotated[str | None, Option("[default: all]")] = None
    ranks: Annotated[
        list[int],
        Option(
            "8, 8,16 or 1-64.",
            read=lambda text: wholes(text, range(1, MOST_RANKS + 1)),
            show=lambda counts: f"{counts[0]}-{counts[-1]}",
        ),
    ] = [*range(1, 65)]
    roots: Annotated[
        list[int] | None,
        Option(
            "A list, or all: up to 17 ranks, then two.",
            flags=("--root",),
            read=lambda text: None if text == "all" else wholes(text, range(MOST_RANKS)),
            show=lambda _: "all",
        ),
    ] = None
    segment_B: Annotated[
        int | None,
        Option(
            "Or all.",
            flags=("--segment",),
            read=lambda text: None if text == "all" else segment(text),
            show=lambda _: "all",
        ),
    ] = None


@verb(
    "verify",
    examples="hockney schedule verify\nhockney schedule verify bcast --algorithm circulant --ranks 1-99",
    of=schedule,
)
def verify(options: VerifyOptions, json: JsonOption = False) -> None:
    """Prove by symbolic execution: no deadlock, the right data everywhere, no race, no bound beaten."""
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
    with say.status("proving …") as status:
        verdicts = prove(chosen, options.ranks, options.roots, segments, status)
    proved = [verdict.proved for verdict in verdicts if verdict.proved]
    if not proved:
        raise RequestError(
            f"nothing was proved: {verdicts[0].reason}", "`hockney schedule list` shows what each is defined for"
        )
    wrong = [verdict for verdict in verdicts if verdict.complaints]
    if json:
        data = [
            {
                "collective": verdict.algorithm.collective,
                "algorithm": verdict.algorithm.name,
                "proved": verdict.proved,
                "refused": verdict.refused,
                "complaints": verdict.complaints,
            }
            for verdict in verdicts
        ]
        say.json({"proved": sum(proved), "algorithms": data})
        if wrong:
            answer_no()
        return
    for verdict in verdicts:
        refused = f", {verdict.refused} outside its definition ({verdict.reason})" if verdict.refused else ""
        result = verdict.complaints[0] if verdict.complaints else f"{verdict.proved} cases proved{refused}"
        say.line(f"{verdict.algorithm.collective} {verdict.algorithm.name}: {result}")
    if wrong:
        answer_no(f"{len(wrong)} of {len(verdicts)} algorithms are wrong", "the first complaint is above")
    say.line(f"{sum(proved)} cases of {len(proved)} algorithms proved")


class CountOptions(ScheduleOptions):
    """Which schedules are counted."""

    algorithm: Annotated[
        str,
        Option(
            "One, several, all, or default: what a library chooses.",
            commas=True,
            known=lambda: ("all", "default", *algorithm_names()),
        ),
    ]
    mpi: Annotated[str, Option("With default: its name, such as 'Open MPI 5.0' or 'MPICH 4.2'.")] = ""
    nodes: Annotated[int, Option("With default: those that the ranks are on."), Field(ge=1)] = 1


@verb(
    "count",
    examples="hockney schedule count bcast --algorithm halving_tree --ranks 14 --bytes 16KiB --json\n"
    "hockney schedule count allreduce --algorithm all --ranks 48 --bytes 1MiB\n"
    "hockney schedule count bcast --algorithm default --mpi 'Open MPI 5.0' --ranks 28 --bytes 16KiB",
    of=schedule,
)
def count(options: CountOptions, json: JsonOption = False) -> None:
    """Rounds, messages and bytes, in all and on the critical path (one-ported)."""
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
    counts: dict[str, dict[str, Any]] = {}
    for name in chosen:
        if name == "default":
            for part, request in default_schedules(
                options.mpi, options.collective, options.ranks, options.size_B, options.root, options.nodes
            ):
                about_it = {"algorithm": request.algorithm.name, "problem": request.as_data()}
                counts[part] = {**about_it, **in_words.counts(request.generate())}
            continue
        try:
            request = options.request(name)
        except RequestError as error:
            # Algorithms that the user did not name may refuse: a note says which, and the others are counted.
            if not has_all:
                raise
            say.note(f"left out: {error.message}")
            continue
        if not counts:
            _note_rounding(request)
        counts[name] = {"problem": request.as_data(), **in_words.counts(request.generate())}
    if json:
        about = {"collective": options.collective, "ranks": options.ranks, "root": options.root}
        if has_all or len(counts) > 1 or chosen == ["default"]:
            say.json({**about, "algorithms": counts})
        else:
            say.json({**about, "algorithm": chosen[0], **counts[chosen[0]]})
        return
    table = Table("algorithm", box=None)
    for name in ("rounds", "messages", "bytes", "critical messages", "critical bytes", "degree", "round bytes"):
        table.add_column(name, justify="right")
    for name, numbers in counts.items():
        path = numbers["critical_path"]
        row = (numbers["rounds"], numbers["messages"], numbers["bytes"], path["messages"], path["bytes"])
        table.add_row(name, *(f"{value:,}" for value in (*row, numbers["max_degree"], numbers["round_bytes"])))
    say.table(table)


class DrawOptions(BaseModel):
    """The kind of picture, and its file."""

    style: Annotated[str, Option("tree, steps or space-time. [default: by what is given]")] = ""
    output: Annotated[Path, Option("A picture: .svg, .png or .html.", flags=("--output", "-o"))] = Path(
        "schedule.svg"
    )


@verb(
    "draw",
    examples="hockney schedule draw bcast --algorithm binomial --ranks 16 -o tree.svg\n"
    "hockney schedule draw allreduce --algorithm ring --ranks 8 --bytes 64KiB --style steps -o ring.png\n"
    "hockney schedule draw bcast --algorithm linear --ranks 8 --bytes 1KiB --style space-time "
    "--latency 2us --overhead 0.5us --gap 1us --bandwidth 10GB/s -o linear.html",
    of=schedule,
)
def draw(problem: ScheduleOptions, costs: LogGpOptions, options: DrawOptions, json: JsonOption = False) -> None:
    """The tree, the rounds, or with LogGP parameters the space-time diagram."""
    request = problem.request()
    _note_rounding(request)
    parameters = loggp(costs)
    style = options.style
    if not style:
        style = "space-time" if parameters else "tree" if COLLECTIVES[problem.collective].rooted else "steps"
    if style not in ("tree", "steps", "space-time"):
        raise RequestError(f"unknown style {style!r}", "known: tree, steps, space-time")
    checked_ending(options.output)
    write(options.output, picture(request, style, loggp_costs(**parameters) if parameters else None), request)
    if json:
        say.json({"figure": str(options.output), "style": style, **request.as_data()})
    else:
        say.line(f"wrote {options.output}")


class ExportOptions(BaseModel):
    """The format, what a reduction costs in it, and the file."""

    format_: Annotated[str, Option(f"Of the file: {listed(formats.names())}.", flags=("--format",))] = "goal"
    reduce_ns_per_byte: Annotated[
        float, Option("Time to reduce one byte, in nanoseconds."), Field(ge=0, le=1e9)
    ] = 0.0
    output: Annotated[Path | None, Option("File. [default: standard output]", flags=("--output", "-o"))] = None


@verb(
    "export",
    examples="hockney schedule export bcast --algorithm binomial --ranks 64 --bytes 8KiB --format goal -o b.goal",
    of=schedule,
)
def export(problem: ScheduleOptions, options: ExportOptions, json: JsonOption = False) -> None:
    """Write the schedule for another program."""
    request, output = problem.request(), options.output
    _note_rounding(request)
    lines = formats.get(options.format_)(request, options.reduce_ns_per_byte)
    if json and output is None:
        raise RequestError("--json needs a file for the schedule itself", "add -o FILE")
    if output is None:
        for line in lines:
            typer.echo(line)
        return
    with writing.replacing_text(output) as file:
        characters = sum(file.write(line + "\n") for line in lines)
    if json:
        data = {"file": str(output), "format": options.format_, "characters": characters}
        say.json({**data, **request.as_data()})
    else:
        say.line(f"wrote {output}")


def _note_rounding(request: ScheduleRequest) -> None:
    """Say on standard error that a picture or count has other sizes than were asked for."""
    if request.is_rounded:
        pieces = f", segments of {request.problem.segment_B} B" if request.problem.segment_B else ""
        say.note(f"rounded to whole elements: {request.problem.bytes} B{pieces}")
