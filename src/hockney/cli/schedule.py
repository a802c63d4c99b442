"""`hockney schedule`: algorithms written out as data: listed, shown, proved, counted, drawn, exported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from hockney.cli import JsonOption, emit_json, err, group, out, verb
from hockney.cli._words import names, segment, wholes
from hockney.errors import NegativeAnswer, RequestError
from hockney.records.keys import COLLECTIVES

if TYPE_CHECKING:
    from hockney.schedule.catalogue import Asked

schedule = group("schedule", help="Collective algorithms as schedules: list, show, verify, count, draw, export.")

Collective = Annotated[str, typer.Argument(help="bcast, allreduce, …", metavar="COLLECTIVE")]
AlgorithmOption = Annotated[str, typer.Option("--algorithm", help="See `hockney schedule list`.")]
Ranks = Annotated[int, typer.Option(help="Number of ranks.")]
Size = Annotated[
    str,
    typer.Option("--bytes", help="The vector (bcast, reduce, allreduce), or one rank's block (the others)."),
]
Root = Annotated[int, typer.Option(help="The root, where the collective has one.")]
Segment = Annotated[str, typer.Option("--segment", help="Size of a segment, or none.")]
Radix = Annotated[int, typer.Option(help="Fan-out or radix; 0 for the algorithm's default.")]


@verb("list", examples="hockney schedule list\nhockney schedule list allreduce --json", of=schedule)
def list_(
    collective: Annotated[str | None, typer.Argument(help="Only this one's.", metavar="[COLLECTIVE]")] = None,
    json: JsonOption = False,
) -> None:
    """All algorithms, with what they take and for how many ranks they are defined."""
    from hockney.schedule.catalogue import algorithms, rank_counts

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
        emit_json({"algorithms": told})
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
    out.print(table)


@verb(
    "show",
    examples="hockney schedule show bcast --algorithm binomial --ranks 6 --bytes 1KiB\n"
    "hockney schedule show allreduce --algorithm ring --ranks 4 --rank 2 --bytes 64 --json",
    of=schedule,
)
def show(
    collective: Collective,
    algorithm: AlgorithmOption,
    ranks: Ranks,
    size: Size = "1KiB",
    root: Root = 0,
    pieces: Segment = "none",
    radix: Radix = 0,
    rank: Annotated[int | None, typer.Option(help="Only this rank's steps.")] = None,
    json: JsonOption = False,
) -> None:
    """Every rank's steps with their dependencies."""
    from hockney import _core
    from hockney.schedule import words

    asked = _asked(collective, algorithm, ranks, size, root, pieces, radix)
    _tell_rounding(asked)
    if rank is not None and not 0 <= rank < ranks:
        raise RequestError(f"rank {rank} is none of the ranks 0 to {ranks - 1}", "choose one of them")
    shown = asked.printable_ranks() if rank is None else [rank]
    data: dict[str, Any] = {}
    for one in shown:
        mine = _core.generate_rank(collective, algorithm, asked.problem, one)
        if json:
            data[str(one)] = {"scratch_B": mine.scratch_B, "steps": [words.as_data(step) for step in mine.steps]}
            continue
        out.print(f"rank {one}" + (f" (scratch {mine.scratch_B} B)" if mine.scratch_B else ""))
        for number, step in enumerate(mine.steps):
            out.print(f"  {number}: {words.step(step)}", markup=False, soft_wrap=True)
    if json:
        emit_json({"collective": collective, "algorithm": algorithm, **asked.as_data(), "ranks": data})


@verb(
    "verify",
    examples="hockney schedule verify\nhockney schedule verify bcast --algorithm circulant --ranks 1-99",
    of=schedule,
)
def verify(
    collective: Annotated[str | None, typer.Argument(help="Only this one's.", metavar="[COLLECTIVE]")] = None,
    algorithm: Annotated[str | None, typer.Option(help="Only this one.")] = None,
    ranks: Annotated[str, typer.Option(help="A number, a list or a range: 8, 8,16 or 1-64.")] = "1-64",
    roots: Annotated[str, typer.Option(help="all (up to 17 ranks, then two) or a list.")] = "all",
    pieces: Annotated[str, typer.Option("--segment", help="all, none, or a size.")] = "all",
    json: JsonOption = False,
) -> None:
    """Prove by symbolic execution: no deadlock, the right data everywhere, no race, no bound beaten."""
    from hockney.schedule.catalogue import algorithms, find
    from hockney.schedule.proof import MOST_RANKS, prove

    if algorithm is None:
        chosen = algorithms(collective)
    elif collective is None:
        raise RequestError("--algorithm needs its collective", "for example `verify bcast --algorithm binomial`")
    else:
        chosen = [find(collective, algorithm)]
    counts = wholes(ranks, "--ranks", range(1, MOST_RANKS + 1))
    tried = None if roots == "all" else wholes(roots, "--roots", range(MOST_RANKS))
    if tried is not None and (outside := [root for root in tried if root >= min(counts)]):
        raise RequestError(
            f"root {outside[0]} is none of {min(counts)} ranks", "choose smaller roots or more ranks"
        )
    segments = None if pieces == "all" else [segment(pieces)]
    with err.status("proving …") as status:
        verdicts = prove(chosen, counts, tried, segments, lambda text: status.update(text))
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
        emit_json({"proved": sum(one.proved for one in verdicts), "algorithms": told})
        if wrong:
            raise typer.Exit(NegativeAnswer.exit_code)
        return
    for one in verdicts:
        name = f"{one.algorithm.collective} {one.algorithm.name}"
        refused = f", {one.refused} outside its definition ({one.reason})" if one.refused else ""
        out.print(f"{name}: {one.complaints[0] if one.complaints else f'{one.proved} cases proved{refused}'}")
    if wrong:
        raise NegativeAnswer(
            f"{len(wrong)} of {len(verdicts)} algorithms are wrong", "the first complaint is above"
        )
    some = [one.proved for one in verdicts if one.proved]
    out.print(f"{sum(some)} cases of {len(some)} algorithms proved")


@verb(
    "count",
    examples="hockney schedule count bcast --algorithm halving_tree --ranks 14 --bytes 16KiB --json\n"
    "hockney schedule count allreduce --algorithm all --ranks 48 --bytes 1MiB",
    of=schedule,
)
def count(
    collective: Collective,
    algorithm: Annotated[str, typer.Option("--algorithm", help="One, several (comma-separated) or all.")],
    ranks: Ranks,
    size: Size = "1KiB",
    root: Root = 0,
    pieces: Segment = "none",
    radix: Radix = 0,
    json: JsonOption = False,
) -> None:
    """Rounds, messages and bytes, in all and on the critical path (one-ported)."""
    from hockney.schedule import words
    from hockney.schedule.catalogue import algorithms

    every = [one.name for one in algorithms(collective)]
    wanted = every if algorithm == "all" else names(algorithm, "--algorithm", every[:2])
    several = algorithm == "all" or len(wanted) > 1
    counted: dict[str, dict[str, Any]] = {}
    for name in wanted:
        try:
            asked = _asked(collective, name, ranks, size, root, pieces, radix)
        except RequestError as error:
            # Of many, those that do not do this are left out, and it is said.
            if algorithm != "all":
                raise
            err.print(f"left out: {error.message}", markup=False, soft_wrap=True)
            continue
        if not counted:
            _tell_rounding(asked)
        counted[name] = {"problem": asked.as_data(), **words.counts(asked.generate())}
    if json:
        about = {"collective": collective, "ranks": ranks, "root": root}
        emit_json(
            {**about, "algorithms": counted}
            if several
            else {**about, "algorithm": wanted[0], **counted[wanted[0]]}
        )
        return
    table = Table("algorithm", box=None)
    for name in ("rounds", "messages", "bytes", "critical messages", "critical bytes", "degree", "round bytes"):
        table.add_column(name, justify="right")
    for name, told in counted.items():
        path = told["critical_path"]
        row = (told["rounds"], told["messages"], told["bytes"], path["messages"], path["bytes"])
        table.add_row(name, *(f"{value:,}" for value in (*row, told["max_degree"], told["round_bytes"])))
    out.print(table)


@verb(
    "draw",
    examples="hockney schedule draw bcast --algorithm binomial --ranks 16 -o tree.svg\n"
    "hockney schedule draw allreduce --algorithm ring --ranks 8 --bytes 64KiB --style steps -o ring.png\n"
    "hockney schedule draw bcast --algorithm linear --ranks 8 --bytes 1KiB --style space-time "
    "--latency 2us --overhead 0.5us --gap 1us --bandwidth 10GB/s -o linear.html",
    of=schedule,
)
def draw(
    collective: Collective,
    algorithm: AlgorithmOption,
    ranks: Ranks,
    size: Size = "1KiB",
    root: Root = 0,
    pieces: Segment = "none",
    radix: Radix = 0,
    style: Annotated[str, typer.Option(help="tree, steps or space-time; default by what is given.")] = "",
    machine: Annotated[Path | None, typer.Option(help="Machine file with a `loggp` fit.")] = None,
    locality: Annotated[str, typer.Option(help="Which of the machine file's localities.")] = "",
    latency: Annotated[str, typer.Option(help="L of LogGP.")] = "",
    overhead: Annotated[str, typer.Option(help="o of LogGP.")] = "0s",
    gap: Annotated[str, typer.Option(help="g of LogGP.")] = "0s",
    bandwidth: Annotated[str, typer.Option(help="1/G of LogGP.")] = "",
    reduction: Annotated[str, typer.Option(help="Bytes reduced in a second.")] = "",
    output: Annotated[Path, typer.Option("--output", "-o", help=".svg, .png or .html.")] = Path("schedule.svg"),
    json: JsonOption = False,
) -> None:
    """The tree, the rounds, or with LogGP parameters the space-time diagram."""
    from hockney.cli._loggp import loggp
    from hockney.predict.costs import loggp_costs
    from hockney.report.schedules import draw as picture
    from hockney.report.schedules import page
    from hockney.report.svg import png_file, svg_file

    asked = _asked(collective, algorithm, ranks, size, root, pieces, radix)
    _tell_rounding(asked)
    parameters = loggp(machine, locality, latency, overhead, gap, bandwidth, reduction)
    if not style:
        style = "space-time" if parameters else "tree" if COLLECTIVES[collective].rooted else "steps"
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
        emit_json({"figure": str(output), "style": style, **asked.as_data()})
    else:
        out.print(f"wrote {output}", markup=False, soft_wrap=True)


@verb(
    "export",
    examples="hockney schedule export bcast --algorithm binomial --ranks 64 --bytes 8KiB --format goal -o b.goal",
    of=schedule,
)
def export(
    collective: Collective,
    algorithm: AlgorithmOption,
    ranks: Ranks,
    size: Size = "1KiB",
    root: Root = 0,
    pieces: Segment = "none",
    radix: Radix = 0,
    format_: Annotated[str, typer.Option("--format", help="goal")] = "goal",
    reduce_ns_per_byte: Annotated[
        float, typer.Option(min=0, max=1e9, help="Time to reduce one byte, in nanoseconds.")
    ] = 0.0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; default standard output.")] = None,
    json: JsonOption = False,
) -> None:
    """Write the schedule for another program."""
    from hockney.schedule.formats import formats

    asked = _asked(collective, algorithm, ranks, size, root, pieces, radix)
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
            written = sum(file.write(line + "\n") for line in lines)
    except OSError as error:
        raise RequestError(f"cannot write {output}: {error.strerror}", "choose another place") from error
    if json:
        emit_json({"file": str(output), "format": format_, "characters": written, **asked.as_data()})
    else:
        out.print(f"wrote {output}", markup=False, soft_wrap=True)


def _asked(collective: str, algorithm: str, ranks: int, size: str, root: int, pieces: str, radix: int) -> Asked:
    from hockney.schedule.catalogue import ask
    from hockney.units import parse_bytes

    return ask(
        collective,
        algorithm,
        ranks=ranks,
        root=root,
        size_B=parse_bytes(size),
        segment_B=segment(pieces),
        radix=radix,
    )


def _tell_rounding(asked: Asked) -> None:
    """On standard error: the pictures and counts are of other sizes than were asked for."""
    if asked.is_rounded:
        pieces = f", segments of {asked.problem.segment_B} B" if asked.problem.segment_B else ""
        err.print(f"rounded to whole elements: {asked.problem.bytes} B{pieces}", markup=False, soft_wrap=True)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror}", "choose another place") from error
