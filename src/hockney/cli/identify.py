"""`hockney identify`: name the algorithms that a library chooses by itself."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from hockney import api
from hockney.options.identify import IdentifyOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import counted, format_bytes, percent

UNTOLD, NONE = "undecided", "none of these"
TOLD_BY = {
    "version": "the library's version",
    "times": "times alone",
    "setting": "a setting",
    "watching": "watching",
}
"""How a cell was told, by its `way`."""


@verb(
    "identify",
    examples="""
hockney identify campaign
hockney identify tidy.csv.gz --operation bcast --evidence times --system orfeo-epyc
hockney identify campaign --machine machine.json --json
hockney identify machine.json --operation allreduce --ranks 8,64 --nodes 1
hockney identify --watch --mpi openmpi --operation bcast --ranks 5,8
hockney identify campaign --watch
""",
)
def identify(options: IdentifyOptions, as_json: JsonOption = False) -> None:
    """Show which algorithm a library uses by default, and at which sizes and ranks it switches.

    A setting that forces an algorithm comes first, as the launches recorded it. Next comes the published decision
    of the library's version. Elsewhere the times decide: they are compared with those of each algorithm of the
    library, measured in the same table or simulated. The answer has at most three names, and is otherwise
    undecided. Algorithms whose simulated times differ by less than 3 % count as one name.

    With --watch the library itself is launched. At each size its default is called once, and each of its
    algorithms. Those that send the same messages to the same ranks are the answer, with switches located to the
    byte. The answer is kept in the campaign's folder, where predictions of `default` use it.
    """
    with say.progress(quiet=as_json) as progress:
        answer = api.identify(options, progress)
    if as_json:
        say.json(answer)
        return
    for each in answer.answers:
        _show(each)
    say.warnings([*answer.warnings, *(text for each in answer.answers for text in each.warnings)])


class _Range(NamedTuple):
    """Sizes of which the same was told; `first` has the probabilities."""

    first: api.IdentifiedCell
    last: api.IdentifiedCell


COLUMNS = (
    Column("ranks", lambda sizes: sizes.first.ranks, is_number=True),
    Column("nodes", lambda sizes: "" if sizes.first.nodes is None else sizes.first.nodes, is_number=True),
    Column("from", lambda sizes: format_bytes(sizes.first.bytes), is_number=True),
    Column("to", lambda sizes: format_bytes(sizes.last.bytes), is_number=True),
    Column("algorithm", lambda sizes: _names(sizes.first)),
    Column("probability", lambda sizes: _probability(sizes.first), is_number=True),
    Column("known from", lambda sizes: sizes.first.why or TOLD_BY.get(sizes.first.way, "")),
)


def _names(cell: api.IdentifiedCell) -> str:
    if cell.is_none:
        return NONE
    return UNTOLD if cell.names is None else " or ".join(name.words for name in cell.names)


def _probability(cell: api.IdentifiedCell) -> str:
    """Empty where it is no probability: a look-up of the version, a setting, or the messages that were sent."""
    if cell.names is None or cell.way != "times":
        return ""
    return percent(sum(name.probability for name in cell.names))


def _show(answer: api.IdentifiedOperation) -> None:
    """One line for each range of sizes with the same names."""
    title = [answer.operation, answer.mpi or "library not named"]
    if answer.variant not in ("", "default"):
        title.append(f"variant {answer.variant}")
    ranges = [_Range(cells[0], cells[-1]) for _, same in groupby(answer.cells, _told) for cells in [list(same)]]
    say.rows(f"{', '.join(title)}: what default uses", ranges, COLUMNS)
    say.line(f"{counted(answer.n_cells, 'cell')} (ranks and size), {answer.n_cannot_be_told} {UNTOLD}")


def _told(cell: api.IdentifiedCell) -> tuple[object, ...]:
    """What cells of a range have in common."""
    names = None if cell.names is None else {tuple(name.schedules) for name in cell.names}
    return cell.ranks, cell.nodes, names, cell.way, cell.why, cell.is_none
