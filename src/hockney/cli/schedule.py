"""`hockney schedule`: algorithms written out as data: listed, shown, proved, counted, drawn, exported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.table import Table

from hockney.cli._loggp import LogGpOptions, loggp
from hockney.errors import RequestError
from hockney.options import Argument, Option
from hockney.terminal import JsonOption, answer_no, group, say, verb
from hockney.terminal.loading import later
from hockney.units import parse_bytes
from hockney.words import names, segment, wholes, written

with later():
    from hockney import _core
    from hockney.predict.costs import loggp_costs
    from hockney.records.keys import COLLECTIVES
    from hockney.report.schedules import draw as picture
    from hockney.report.schedules import page
    from hockney.report.svg import png_file, svg_file
    from hockney.schedule import words as in_words
    from hockney.schedule.catalogue import ScheduleRequest, algorithms, ask, find, rank_counts
    from hockney.schedule.formats import formats
    from hockney.schedule.proof import MOST_RANKS, prove


schedule = group(
    "schedule", help="Collective algorithms as schedules: list, show, verify, count, draw, export.", places=()
)


class Problem(BaseModel):
    """Which schedule: a collective's algorithm on so many ranks."""

    collective: Annotated[str, Argument("bcast, allreduce, …", metavar="COLLECTIVE")]
    algorithm: Annotated[str, Option("See `hockney schedule list`.")]
    ranks: Annotated[int, Option("Number of ranks.")]
    size_B: Annotated[
        int,
        Option(
            "The vector (bcast, reduce, allreduce), or one rank's block (the others).",
            flags=("--bytes",),
            read=parse_bytes,
            show=written,
        ),
    ] = 1024
    root: Annotated[int, Option("The root, where the collective has one.")] = 0
    segment_B: Annotated[
        int, Option("Size of a segment, or none.", flags=("--segment",), read=segment, show=written)
    ] = 0
    radix: Annotated[int, Option("Fan-out or radix; 0 for the algorithm's default.")] = 0

    def asked(self, algorithm: str = "") -> ScheduleRequest:
        """The schedule, by another algorithm where one is named; RequestError where it is not defined."""
        return ask(
            self.collective,
            algorithm or self.algorithm,
            ranks=self.ranks,
            root=self.root,
            size_B=self.size_B,
            segment_B=self.segment_B,
            radix=self.radix,
        )


@verb("list", examples="hockney schedule list\nhockney schedule list allreduce --json", of=schedule)
def list_(
    collective: Annotated[str | None, typer.Argument(help="Only this one's.", metavar="[COLLECTIVE]")] = None,
    json: JsonOption = False,
) -> None:
    """All algorithms, with what they take and for how many ranks they are defined."""
    found = algorithms(collective)
    if json:
        told = [
            {
                "collective": one.collective,
                "algorithm": one.name,
                "segmented": one.is_segmented,
                "radix": one.default_radix or None,
                "least_radix": one.least_radix or None,
                "ordered": one.is_ordered,
                "ranks": rank_counts(one),
            }
            for one in found
        ]
        say.json({"algorithms": told})
        return
    table = Table("collective", "algorithm", "segments", "radix", "keeps rank order", "ranks", box=None)
    for one in found:
        table.add_row(
            one.collective,
            one.name,
            "yes" if one.is_segmented else "",
            f"{one.default_radix} (≥ {one.least_radix})" if one.default_radix else "",
            ("yes" if one.is_ordered else "no") if COLLECTIVES[one.collective].reduces else "",
            rank_counts(one),
        )
    say.table(table)


@verb(
    "show",
    examples="hockney schedule show bcast --algorithm binomial --ranks 6 --bytes 1KiB\n"
    "hockney schedule show allreduce --algorithm ring --ranks 4 --rank 2 --bytes 64 --json",
    of=schedule,
)
def show(
    problem: Problem,
    rank: Annotated[int | None, typer.Option(help="Only this rank's steps.")] = None,
    json: JsonOption = False,
) -> None:
    """Every rank's steps with their dependencies."""
    asked = problem.asked()
    _tell_rounding(asked)
    if rank is not None and not 0 <= rank < problem.ranks:
        raise RequestError(f"rank {rank} is none of the ranks 0 to {problem.ranks - 1}", "choose one of them")
    shown = asked.printable_ranks() if rank is None else [rank]
    data: dict[str, Any] = {}
    for one in shown:
        mine = _core.generate_rank(problem.collective, problem.algorithm, asked.problem, one)
        if json:
            data[str(one)] = {
                "scratch_B": mine.scratch_B,
                "steps": [in_words.as_data(step) for step in mine.steps],
            }
            continue
        say.line(f"rank {one}" + (f" (scratch {mine.scratch_B} B)" if mine.scratch_B else ""))
        for number, step in enumerate(mine.steps):
            say.line(f"  {number}: {in_words.step(step)}")
    if json:
        named = {"collective": problem.collective, "algorithm": problem.algorithm}
        say.json({**named, **asked.as_data(), "ranks": data})


class Cases(BaseModel):
    """What is proved, on which ranks, roots and segments."""

    collective: Annotated[str | None, Argument("Only this one's.", metavar="[COLLECTIVE]")] = None
    algorithm: Annotated[str | None, Option("Only this one.")] = None
    ranks: Annotated[
        list[int],
        Option(
            "A number, a list or a range: 8, 8,16 or 1-64.",
            read=lambda text: wholes(text, range(1, MOST_RANKS + 1)),
            show=lambda counts: f"{counts[0]}-{counts[-1]}",
        ),
    ] = [*range(1, 65)]
    roots: Annotated[
        list[int] | None,
        Option(
            "all (up to 17 ranks, then two) or a list.",
            read=lambda text: None if text == "all" else wholes(text, range(MOST_RANKS)),
            show=lambda _: "all",
        ),
    ] = None
    segment_B: Annotated[
        int | None,
        Option(
            "all, none, or a size.",
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
def verify(
    cases: Cases,
    json: JsonOption = False,
) -> None:
    """Prove by symbolic execution: no deadlock, the right data everywhere, no race, no bound beaten."""
    if cases.algorithm is None:
        chosen = algorithms(cases.collective)
    elif cases.collective is None:
        raise RequestError("--algorithm needs its collective", "for example `verify bcast --algorithm binomial`")
    else:
        chosen = [find(cases.collective, cases.algorithm)]
    counts = cases.ranks
    tried = cases.roots
    if tried is not None and (outside := [root for root in tried if root >= min(counts)]):
        raise RequestError(
            f"root {outside[0]} is none of {min(counts)} ranks", "choose smaller roots or more ranks"
        )
    segments = None if cases.segment_B is None else [cases.segment_B]
    with say.status("proving …") as status:
        verdicts = prove(chosen, counts, tried, segments, status)
    if not any(one.proved for one in verdicts):
        raise RequestError(
            f"nothing was proved: {verdicts[0].reason}", "`hockney schedule list` shows what each is defined for"
        )
    wrong = [verdict for verdict in verdicts if verdict.complaints]
    if json:
        told = [
            {
                "collective": one.algorithm.collective,
                "algorithm": one.algorithm.name,
                "proved": one.proved,
                "refused": one.refused,
                "complaints": one.complaints,
            }
            for one in verdicts
        ]
        say.json({"proved": sum(one.proved for one in verdicts), "algorithms": told})
        if wrong:
            answer_no()
        return
    for one in verdicts:
        name = f"{one.algorithm.collective} {one.algorithm.name}"
        refused = f", {one.refused} outside its definition ({one.reason})" if one.refused else ""
        say.line(f"{name}: {one.complaints[0] if one.complaints else f'{one.proved} cases proved{refused}'}")
    if wrong:
        answer_no(f"{len(wrong)} of {len(verdicts)} algorithms are wrong", "the first complaint is above")
    some = [one.proved for one in verdicts if one.proved]
    say.line(f"{sum(some)} cases of {len(some)} algorithms proved")


class Counted(Problem):
    """Which schedules are counted."""

    algorithm: Annotated[str, Option("One, several (comma-separated) or all.")]


@verb(
    "count",
    examples="hockney schedule count bcast --algorithm halving_tree --ranks 14 --bytes 16KiB --json\n"
    "hockney schedule count allreduce --algorithm all --ranks 48 --bytes 1MiB",
    of=schedule,
)
def count(problem: Counted, json: JsonOption = False) -> None:
    """Rounds, messages and bytes, in all and on the critical path (one-ported)."""
    has_all = problem.algorithm == "all"
    every = [one.name for one in algorithms(problem.collective)]
    if not problem.algorithm.strip(", "):
        raise RequestError(
            f"--algorithm {problem.algorithm!r} names nothing", f"for example {every[0]}, {every[1]}"
        )
    named = every if has_all else names(problem.algorithm)
    several = has_all or len(named) > 1
    counted: dict[str, dict[str, Any]] = {}
    for name in named:
        try:
            asked = problem.asked(name)
        except RequestError as error:
            # Of many, those that do not do this are left out, and it is said.
            if not has_all:
                raise
            say.note(f"left out: {error.message}")
            continue
        if not counted:
            _tell_rounding(asked)
        counted[name] = {"problem": asked.as_data(), **in_words.counts(asked.generate())}
    if json:
        about = {"collective": problem.collective, "ranks": problem.ranks, "root": problem.root}
        say.json(
            {**about, "algorithms": counted} if several else {**about, "algorithm": named[0], **counted[named[0]]}
        )
        return
    table = Table("algorithm", box=None)
    for name in ("rounds", "messages", "bytes", "critical messages", "critical bytes", "degree", "round bytes"):
        table.add_column(name, justify="right")
    for name, told in counted.items():
        path = told["critical_path"]
        row = (told["rounds"], told["messages"], told["bytes"], path["messages"], path["bytes"])
        table.add_row(name, *(f"{value:,}" for value in (*row, told["max_degree"], told["round_bytes"])))
    say.table(table)


@verb(
    "draw",
    examples="hockney schedule draw bcast --algorithm binomial --ranks 16 -o tree.svg\n"
    "hockney schedule draw allreduce --algorithm ring --ranks 8 --bytes 64KiB --style steps -o ring.png\n"
    "hockney schedule draw bcast --algorithm linear --ranks 8 --bytes 1KiB --style space-time "
    "--latency 2us --overhead 0.5us --gap 1us --bandwidth 10GB/s -o linear.html",
    of=schedule,
)
def draw(
    problem: Problem,
    costs: LogGpOptions,
    style: Annotated[str, typer.Option(help="tree, steps or space-time; default by what is given.")] = "",
    output: Annotated[Path, typer.Option("--output", "-o", help=".svg, .png or .html.")] = Path("schedule.svg"),
    json: JsonOption = False,
) -> None:
    """The tree, the rounds, or with LogGP parameters the space-time diagram."""

    asked = problem.asked()
    _tell_rounding(asked)
    parameters = loggp(costs)
    if not style:
        style = "space-time" if parameters else "tree" if COLLECTIVES[problem.collective].rooted else "steps"
    if style not in ("tree", "steps", "space-time"):
        raise RequestError(f"unknown style {style!r}", "known: tree, steps, space-time")
    if output.suffix not in (".svg", ".png", ".html"):
        raise RequestError(f"cannot draw {output.name}", "end the name in .svg, .png or .html")
    figure = picture(asked, style, loggp_costs(**parameters) if parameters else None)
    if output.suffix == ".html":
        _write(output, page(figure, asked))
    else:
        _write(output, svg_file(figure) if output.suffix == ".svg" else png_file(figure))
    if json:
        say.json({"figure": str(output), "style": style, **asked.as_data()})
    else:
        say.line(f"wrote {output}")


@verb(
    "export",
    examples="hockney schedule export bcast --algorithm binomial --ranks 64 --bytes 8KiB --format goal -o b.goal",
    of=schedule,
)
def export(
    problem: Problem,
    format_: Annotated[str, typer.Option("--format", help="goal")] = "goal",
    reduce_ns_per_byte: Annotated[
        float, typer.Option(min=0, max=1e9, help="Time to reduce one byte, in nanoseconds.")
    ] = 0.0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; default standard output.")] = None,
    json: JsonOption = False,
) -> None:
    """Write the schedule for another program."""
    asked = problem.asked()
    _tell_rounding(asked)
    lines = formats.get(format_)(asked, reduce_ns_per_byte)
    if json and output is None:
        raise RequestError("--json needs a file for the schedule itself", "add -o FILE")
    if output is None:
        for line in lines:
            typer.echo(line)
        return
    try:
        with output.open("w", encoding="utf-8") as file:
            characters = sum(file.write(line + "\n") for line in lines)
    except OSError as error:
        raise RequestError(f"cannot write {output}: {error.strerror}", "choose another place") from error
    if json:
        say.json({"file": str(output), "format": format_, "characters": characters, **asked.as_data()})
    else:
        say.line(f"wrote {output}")


def _tell_rounding(asked: ScheduleRequest) -> None:
    """On standard error: the pictures and counts are of other sizes than were asked for."""
    if asked.is_rounded:
        pieces = f", segments of {asked.problem.segment_B} B" if asked.problem.segment_B else ""
        say.note(f"rounded to whole elements: {asked.problem.bytes} B{pieces}")


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror}", "choose another place") from error
