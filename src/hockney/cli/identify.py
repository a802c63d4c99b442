"""`hockney identify`: which algorithm a library uses by itself, and where it switches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from rich.table import Table

from hockney.errors import RequestError
from hockney.options import Argument, Option
from hockney.records.keys import COLLECTIVES
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, parse_bytes

with later():
    import pandas as pd

    from hockney.machine.build import build
    from hockney.machine.file import is_machine_file, load
    from hockney.machine.system import find_system
    from hockney.predict.identified import Answer, Answered, answers, of_version
    from hockney.predict.machine_costs import MachineCosts, of_machine
    from hockney.predict.points import DEFAULT
    from hockney.records import table


class IdentifyOptions(BaseModel):
    """Whose default is asked for, and how it may be found."""

    source: Annotated[
        Path, Argument("Campaign folder, tidy table or machine file.", metavar="CAMPAIGN|TABLE|MACHINE")
    ]
    operations: Annotated[
        list[str],
        Option(
            "Only this collective (repeatable). [default: all that have a default]",
            flags=("--operation",),
            known=lambda: tuple(COLLECTIVES),
        ),
    ] = Field(default_factory=list)
    by: Annotated[
        Literal["any", "version", "times"],
        Option("Read the library's decision by its version, or tell it from times alone."),
    ] = "any"
    statistic: Annotated[str, Option("Which time of the operation; empty: the first of those in the table.")] = ""
    system: Annotated[str, Option("Description of the system: a known name or a JSON file.")] = ""
    machine: Annotated[
        Path | None, Option("Costs of messages where no named algorithm was measured. [default: the campaign's]")
    ] = None
    ranks: Annotated[list[int], Option("For a machine file: number of ranks (repeatable).")] = Field(
        default_factory=list
    )
    nodes: Annotated[int | None, Option("For a machine file: the nodes that the ranks are on.")] = None
    sizes_B: Annotated[
        list[int],
        Option("For a machine file: size (repeatable).", flags=("--bytes",), read=parse_bytes, repeat=True),
    ] = Field(default_factory=list)


USUAL_B = tuple(2**power for power in range(21))
"""Sizes that a machine file is asked for where none is named."""


@verb(
    "identify",
    examples="""
hockney identify campaign
hockney identify tidy.csv.gz --operation bcast --by times --system orfeo-epyc
hockney identify campaign --machine machine.json --json
hockney identify machine.json --operation allreduce --ranks 8 --ranks 64 --nodes 1
""",
)
def identify(options: IdentifyOptions, as_json: JsonOption = False) -> None:
    """Which algorithm a library uses by itself (`default`), and at which sizes and ranks it switches.

    The library's decision is read by its version where that is known. Elsewhere the times tell: each candidate,
    an algorithm of the library, takes what it took in the same table, or what it takes when it is simulated, and
    along the sizes the library changes its mind rarely. At most three names are an answer; algorithms whose
    simulated times differ by less than 3 % are one name. Where more would be needed, the answer is that it
    cannot be told.
    """
    if is_machine_file(options.source):
        found, warnings = _of_machine_file(options)
    else:
        found, warnings = _of_table(options, as_json)
    if as_json:
        say.json({"answers": [_as_data(answer) for answer in found], "warnings": warnings})
        return
    for warning in [*warnings, *(text for answer in found for text in answer.warnings)]:
        say.warn(warning)
    for answer in found:
        _show(answer)


def _ways(options: IdentifyOptions) -> Sequence[str]:
    return {"any": ("version", "times"), "version": ("version",), "times": ("times",)}[options.by]


def _of_machine_file(options: IdentifyOptions) -> tuple[list[Answer], list[str]]:
    """By the version alone: a machine file has no times of collectives."""
    machine = load(options.source)
    if options.by == "times":
        raise RequestError(
            f"{options.source} is a machine file, which has no times of {DEFAULT}",
            "give the campaign or the table that was measured",
        )
    libraries = {library.name or f"{library.kind} {library.version}" for library in machine.mpi}
    if len(libraries) != 1:
        raise RequestError(
            f"{options.source} names {len(libraries)} MPI libraries, the question is about one",
            "give the campaign or the table that was measured",
        )
    (mpi,) = libraries
    found, warnings = [], []
    for operation in options.operations or list(COLLECTIVES):
        sizes_B = (options.sizes_B or USUAL_B) if COLLECTIVES[operation].has_size else (0,)
        answer = of_version(operation, mpi, options.ranks or [2, 8, 64], sizes_B, options.nodes)
        if answer is None:
            warnings.append(f"{operation}: the version of {mpi} does not tell")
        else:
            found.append(answer)
    if not found:
        raise RequestError(
            f"what {mpi} chooses by itself is not known here", "measure it, and identify it in the campaign"
        )
    return found, warnings


def _of_table(options: IdentifyOptions, as_json: bool) -> tuple[list[Answer], list[str]]:
    frame = table.load(options.source, options.statistic)
    warnings = list(frame.attrs.get("warnings", []))
    chosen = options.operations or [
        name for name in COLLECTIVES if ((frame["operation"] == name) & (frame["algorithm"] == DEFAULT)).any()
    ]
    if not chosen:
        raise RequestError(
            f"{options.source} has no collective with the algorithm {DEFAULT}",
            "measure one: `hockney measure --operations bcast --algorithms default,all`",
        )
    found: list[Answer] = []
    costs = _costs(options, frame)
    with say.progress(quiet=as_json) as progress:
        for operation in chosen:
            found += answers(
                frame,
                operation,
                statistic=options.statistic,
                ways=_ways(options),
                system=find_system(options.system) if options.system else None,
                costs=costs,
                progress=progress,
            )
    return found, warnings


def _costs(options: IdentifyOptions, frame: pd.DataFrame) -> MachineCosts | None:
    """The costs of messages: of the machine file, or of what else the campaign measured; None without any."""
    if options.machine is not None:
        return of_machine(load(options.machine), str(options.machine))
    if options.by == "version" or not frame["operation"].eq("pingpong").any():
        return None
    try:
        return of_machine(build(options.source), str(options.source))
    except RequestError:
        return None


def _as_data(answer: Answer) -> dict[str, Any]:
    return {
        "operation": answer.operation,
        "statistic": answer.statistic,
        "mpi": answer.mpi,
        "way": answer.way,
        "cells": [
            {
                "ranks": cell.ranks,
                "nodes": cell.nodes,
                "bytes": cell.size_B,
                "names": None
                if cell.names is None
                else [{"schedules": list(name.names), "probability": name.share} for name in cell.names],
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
_WAYS = {"version": "by the library's version", "times": "from times alone"}


def _show(answer: Answer) -> None:
    """One line for each range of sizes with the same names."""
    title = f"{answer.operation}, {answer.mpi or 'library not named'}: what {DEFAULT} uses, {_WAYS[answer.way]}"
    shown = Table(title=title, box=None)
    for heading in ("ranks", "nodes", "from", "to", "algorithm", "probability"):
        shown.add_column(heading, justify="left" if heading == "algorithm" else "right")
    for first, last in _ranges(answer.cells):
        shown.add_row(
            str(first.ranks),
            "" if first.nodes is None else str(first.nodes),
            format_bytes(first.size_B),
            format_bytes(last.size_B),
            UNTOLD if first.names is None else " or ".join(name.words for name in first.names),
            "" if first.names is None else f"{sum(name.share for name in first.names):.0%}",
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
        return cell.ranks, cell.nodes, cell.names and {name.names for name in cell.names}

    return said(one) == said(other)
