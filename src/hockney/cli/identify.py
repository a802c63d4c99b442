"""`hockney identify`: which algorithm a library uses by itself, and where it switches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from rich.table import Table

from hockney.cli._watched import Watching, known_collectives, watched
from hockney.errors import RequestError
from hockney.fields import Argument, Option, flags_written
from hockney.records.keys import COLLECTIVES
from hockney.runner.mpi import KINDS
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, parse_bytes
from hockney.words import words

with later():
    import pandas as pd

    from hockney.machine.build import build
    from hockney.machine.file import is_machine_file, load
    from hockney.machine.system import find_system
    from hockney.predict.identified import Answer, Answered, answers, of_version
    from hockney.predict.identify.told import SETTING, TIMES, VERSION, WATCHING, WAYS
    from hockney.predict.machine_costs import MachineCosts, of_machine
    from hockney.predict.points import DEFAULT
    from hockney.records import table
    from hockney.records.defaults import Defaults


WATCH = "Watching"
"""Heading of options."""
OF_WATCH = ("mpi", "hosts", "trust")
NOT_OF_WATCH = ("by", "statistic", "system", "machine", "nodes")
OF_TABLE = ("statistic", "system", "machine")
OF_MACHINE = ("ranks", "nodes", "sizes_B")
"""Of a table the ranks and sizes are answered that it has."""


class IdentifyOptions(BaseModel):
    """Whose default is asked for, and how it may be found."""

    source: Annotated[
        Path | None,
        Argument(
            "Campaign folder, tidy table or machine file; with --watch a campaign, or none.",
            metavar="CAMPAIGN|TABLE|MACHINE",
        ),
    ] = None
    operations: Annotated[
        list[str],
        Option(
            "A collective, or several. [default: all that have a default]",
            flags=("--operation",),
            read=str,
            repeat=True,
            commas=True,
            known=lambda: tuple(COLLECTIVES),
        ),
    ] = Field(default_factory=list)
    by: Annotated[
        Literal["any", "version", "watching", "times"],
        Option(
            "By the library's decision in that version, by what --watch has stored, or from times alone.",
            flags=("--evidence",),
        ),
    ] = "any"
    statistic: Annotated[str, Option("[default: the first of those in the table]")] = ""
    system: Annotated[str, Option("A known one, or a JSON file that describes it.")] = ""
    machine: Annotated[
        Path | None, Option("Costs of messages where no named algorithm was measured. [default: the campaign's]")
    ] = None
    ranks: Annotated[list[int], Option("For a machine file, or to watch; several: with commas.")] = Field(
        default_factory=list
    )
    nodes: Annotated[int | None, Option("For a machine file: those that the ranks are on.")] = None
    sizes_B: Annotated[
        list[int],
        Option(
            "For a machine file, or to watch; several: with commas.",
            flags=("--bytes",),
            read=parse_bytes,
            repeat=True,
            commas=True,
        ),
    ] = Field(default_factory=list)
    watch: Annotated[
        bool,
        Option(
            "Launch the library, and name the algorithms whose messages are those of its default.",
            flags=("--watch",),
            panel=WATCH,
        ),
    ] = False
    mpi: Annotated[
        str,
        Option(
            "auto, openmpi, mpich, a prefix or a wrapper. [default: the campaign's, or auto]",
            known=lambda: ("auto", *KINDS),
            panel=WATCH,
        ),
    ] = ""
    hosts: Annotated[list[str], Option(read=words, panel=WATCH)] = Field(default_factory=list)
    trust: Annotated[bool, Option(flags=("--trust",), panel=WATCH)] = False


USUAL_B = tuple(2**power for power in range(21))
"""Sizes that a machine file is asked for, and that are watched, where none is named."""


@verb(
    "identify",
    examples="""
hockney identify campaign
hockney identify tidy.csv.gz --operation bcast --evidence times --system orfeo-epyc
hockney identify campaign --machine machine.json --json
hockney identify machine.json --operation allreduce --ranks 8 --ranks 64 --nodes 1
hockney identify --watch --mpi openmpi --operation bcast --ranks 5 --ranks 8
hockney identify campaign --watch
""",
)
def identify(options: IdentifyOptions, as_json: JsonOption = False) -> None:
    """Which algorithm a library uses by itself (`default`), and at which sizes and ranks it switches.

    A setting that forces an algorithm is told first, as the launches recorded it. The library's decision is read
    by its version where that is known. Elsewhere the times tell: each candidate, an algorithm of the library,
    takes what it took in the same table, or what it takes when it is simulated, and along the sizes the library
    changes its mind rarely. At most three names are an answer; algorithms whose simulated times differ by less
    than 3 % are one name. Where more would be needed, the answer is that it cannot be told.

    With --watch the library itself is launched: at each size its default is called once, and each of its
    algorithms; those that send the same messages to the same ranks are the answer, and switches are found to the
    byte. Of a campaign the answer is kept in its folder, where predictions of `default` use it.
    """
    given = flags_written(options)
    unfit = [flag for name, flag in given.items() if name in (NOT_OF_WATCH if options.watch else OF_WATCH)]
    if unfit:
        how, hint = ("with", "leave them out") if options.watch else ("without", "add it, or leave them out")
        raise RequestError(f"{', '.join(unfit)} means nothing {how} --watch", hint)
    if options.watch:
        asked = Watching(
            options.source,
            options.operations,
            options.ranks,
            options.sizes_B,
            options.mpi,
            options.hosts,
            trust=options.trust,
            quiet=as_json,
        )
        found, warnings = watched(asked, USUAL_B)
    elif options.source is None:
        raise RequestError("nothing to identify was given", "give a campaign, table or machine file, or --watch")
    elif is_machine_file(options.source):
        _refuse(given, OF_TABLE, f"for the machine file {options.source}")
        found, warnings = _of_machine_file(options, options.source)
    else:
        _refuse(given, OF_MACHINE, f"for {options.source}, which is answered on all ranks and sizes that it has")
        found, warnings = _of_table(options, options.source, as_json)
    if as_json:
        say.json({"answers": [_as_data(answer) for answer in found], "warnings": warnings})
        return
    for warning in [*warnings, *(text for answer in found for text in answer.warnings)]:
        say.warn(warning)
    for answer in found:
        _show(answer)


def _refuse(given: Mapping[str, str], unfit: Sequence[str], why: str) -> None:
    """RequestError where an option was given that would be ignored."""
    if flags := [flag for name, flag in given.items() if name in unfit]:
        raise RequestError(f"{', '.join(flags)} means nothing {why}", "leave it out")


def _ways(by: str) -> Sequence[str]:
    # A setting that is in force goes before the shipped decision, whoever asks for that.
    return {"any": WAYS, "version": (SETTING, VERSION), "watching": (WATCHING,), "times": (TIMES,)}[by]


def _of_machine_file(options: IdentifyOptions, source: Path) -> tuple[list[Answer], list[str]]:
    """By the version alone: a machine file has no times of collectives."""
    machine = load(source)
    if options.by in ("times", "watching"):
        raise RequestError(
            f"{source} is a machine file, which has no times of {DEFAULT}",
            "give the campaign or the table that was measured",
        )
    libraries = {library.name or f"{library.kind} {library.version}" for library in machine.mpi}
    if len(libraries) != 1:
        raise RequestError(
            f"{source} names {len(libraries)} MPI libraries, the question is about one",
            "give the campaign or the table that was measured",
        )
    (mpi,) = libraries
    settings = machine.mpi[0].settings if len(machine.mpi) == 1 else {}
    defaults = Defaults(settings={(mpi, ""): settings})
    found, warnings = [], []
    for operation in known_collectives(options.operations) or list(COLLECTIVES):
        sizes_B = (options.sizes_B or USUAL_B) if COLLECTIVES[operation].has_size else (0,)
        answer = of_version(operation, mpi, options.ranks or [2, 8, 64], sizes_B, options.nodes, defaults)
        if answer is None:
            warnings.append(f"{operation}: the version of {mpi} does not tell")
        else:
            found.append(answer)
    if not found:
        raise RequestError(
            f"what {mpi} chooses by itself is not known here", "measure it, and identify it in the campaign"
        )
    return found, warnings


def _of_table(options: IdentifyOptions, source: Path, as_json: bool) -> tuple[list[Answer], list[str]]:
    frame = table.load(source, options.statistic)
    warnings = list(frame.attrs.get("warnings", []))
    chosen = known_collectives(options.operations) or [
        name for name in COLLECTIVES if ((frame["operation"] == name) & (frame["algorithm"] == DEFAULT)).any()
    ]
    if not chosen:
        raise RequestError(
            f"{source} has no collective with the algorithm {DEFAULT}",
            "measure one: `hockney measure --operation bcast --algorithm default,all`",
        )
    found: list[Answer] = []
    costs = _costs(options, source, frame)
    with say.progress(quiet=as_json) as progress:
        for operation in chosen:
            found += answers(
                frame,
                operation,
                statistic=options.statistic,
                ways=_ways(options.by),
                system=find_system(options.system) if options.system else None,
                costs=costs,
                progress=progress,
            )
    return found, warnings


def _costs(options: IdentifyOptions, source: Path, frame: pd.DataFrame) -> MachineCosts | None:
    """The costs of messages: of the machine file, or of what else the campaign measured; None without any."""
    if options.machine is not None:
        return of_machine(load(options.machine), str(options.machine))
    if TIMES not in _ways(options.by) or not frame["operation"].eq("pingpong").any():
        return None
    try:
        return of_machine(build(source), str(source))
    except RequestError:
        return None


def _as_data(answer: Answer) -> dict[str, Any]:
    return {
        "operation": answer.operation,
        "statistic": answer.statistic,
        "mpi": answer.mpi,
        "variant": answer.variant,
        "way": answer.way,
        "cells": [
            {
                "ranks": cell.ranks,
                "nodes": cell.nodes,
                "bytes": cell.size_B,
                "names": None
                if cell.names is None
                else [{"schedules": list(name.names), "probability": name.share} for name in cell.names],
                "way": cell.way,
                "why": cell.why,
            }
            for cell in answer.cells
        ],
        "n_cells": len(answer.cells),
        "n_cannot_be_told": answer.untold,
        "switches": [
            {
                "ranks": switch.ranks,
                "nodes": switch.nodes,
                "last_bytes": switch.last_B,
                "first_bytes": switch.first_B,
                "before": switch.before,
                "after": switch.after,
            }
            for switch in answer.switches
        ],
        "candidates": answer.candidates,
        "warnings": answer.warnings,
    }


UNTOLD = "cannot be told"


def _words(cell: Answered) -> str:
    """How a cell was told."""
    of_way = {
        VERSION: "by the library's version",
        TIMES: "from times alone",
        SETTING: "by a setting",
        WATCHING: "by watching",
    }
    return cell.why or of_way.get(cell.way, "")


def _show(answer: Answer) -> None:
    """One line for each range of sizes with the same names."""
    of = [answer.operation, answer.mpi or "library not named"]
    if answer.variant not in ("", DEFAULT):
        of.append(f"variant {answer.variant}")
    title = f"{', '.join(of)}: what {DEFAULT} uses"
    shown = Table(title=title, box=None)
    for heading in ("ranks", "nodes", "from", "to", "algorithm", "probability", "told"):
        shown.add_column(heading, justify="left" if heading in ("algorithm", "told") else "right")
    for first, last in _ranges(answer.cells):
        shown.add_row(
            str(first.ranks),
            "" if first.nodes is None else str(first.nodes),
            format_bytes(first.size_B),
            format_bytes(last.size_B),
            UNTOLD if first.names is None else " or ".join(name.words for name in first.names),
            "" if first.names is None else f"{sum(name.share for name in first.names):.0%}",
            _words(first),
        )
    say.table(shown)
    say.line(f"{len(answer.cells)} cells (ranks and size), {answer.untold} of them {UNTOLD}")


def _ranges(cells: Sequence[Answered]) -> list[tuple[Answered, Answered]]:
    """First and last cell of each run of sizes with the same names; the first has their probabilities."""
    found: list[tuple[Answered, Answered]] = []
    for cell in cells:
        if found and _same(found[-1][1], cell):
            found[-1] = (found[-1][0], cell)
        else:
            found.append((cell, cell))
    return found


def _same(one: Answered, other: Answered) -> bool:
    def said(cell: Answered) -> object:
        names = cell.names and {name.names for name in cell.names}
        return cell.ranks, cell.nodes, names, cell.way, cell.why

    return said(one) == said(other)
