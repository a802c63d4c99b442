"""Intel MPI Benchmarks text (IMB-MPI1), releases 2 to 2021: point to point, parallel transfers, collectives.

What a column means was read in IMB's sources (IMB_output.c): `t[usec]` of PingPong is half the round trip,
`Mbytes/sec` counts 10^6 bytes and, for two-way tests, both directions; Uniband and Biband sum over the pairs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hockney.importers._lines import (
    Line,
    Prefix,
    below_resolution,
    block_of,
    decimals_of,
    is_number,
    is_size,
    may_be_cut,
    split_lines,
)
from hockney.importers.base import Given, Imported, Importer, importers
from hockney.records.record import Record, Statistic


@dataclass(frozen=True)
class _Test:
    """`paired`: half of the ranks talk to the other half; `rates`: the table holds no times."""

    operation: str
    paired: bool = False
    rates: bool = False
    detail: str = ""


_TESTS = {
    "pingpong": _Test("pingpong", paired=True),
    "pingpongspecificsource": _Test("pingpong", paired=True, detail="specific source"),
    "pingponganysource": _Test("pingpong", paired=True, detail="any source"),
    "pingping": _Test("pingping", paired=True),
    "pingpingspecificsource": _Test("pingping", paired=True, detail="specific source"),
    "pingpinganysource": _Test("pingping", paired=True, detail="any source"),
    "sendrecv": _Test("sendrecv"),
    "exchange": _Test("exchange"),
    "uniband": _Test("bandwidth", paired=True, rates=True),
    "biband": _Test("bidirectional", paired=True, rates=True),
    "barrier": _Test("barrier"),
    "bcast": _Test("bcast"),
    "scatter": _Test("scatter"),
    "scatterv": _Test("scatterv"),
    "gather": _Test("gather"),
    "gatherv": _Test("gatherv"),
    "allgather": _Test("allgather"),
    "allgatherv": _Test("allgatherv"),
    "alltoall": _Test("alltoall"),
    "alltoallv": _Test("alltoallv"),
    "reduce": _Test("reduce"),
    "allreduce": _Test("allreduce"),
    "reduce_scatter": _Test("reduce_scatter"),
    "reduce_scatter_block": _Test("reduce_scatter", detail="reduce_scatter_block"),
}
"""By title, lower case. A new test is a new line here."""

_POINT_TO_POINT = ("pingpong", "pingping", "sendrecv", "exchange", "bandwidth", "bidirectional")

_FAMILIES = (
    (r"reduce_local", "an operation of one rank"),
    (r"i(bcast|barrier|reduce|all|gather|scatter)", "a non-blocking collective (overlap, not duration)"),
    (r"put|get|accumulate|fetch|compare|window|passive", "a one-sided operation"),
    (r"[sp]_(read|write|iread|iwrite)|open_close", "file input or output"),
)

_TITLE = re.compile(r"(?P<before>[^#]{0,120}?)#\s*Benchmarking\s+(?P<multi>Multi-)?(?P<name>\w+)\s*$")
_RELEASE = re.compile(r"Intel\s*\(R\)\s+MPI Benchmarks?(?:\s+Suite)?\s+V?(?P<release>[^,]+),")
_WHOLE_VECTOR = re.compile(r"(?:[1-9]\.\d.*|2017.*|2018.*|2019(?:\.0)?)$")
"""Releases whose Reduce_scatter divides its bytes among the ranks; from 2019 Update 1 on they are one block."""
_PROCESSES = re.compile(r"#\s*(?:\(\s*)?#processes\s*=\s*(\d{1,9})(;\s*rank order)?")
_GROUPS = re.compile(r"#\s*\( (\d{1,9}) groups of (\d{1,9}) processes")
_GROUP_RANKS = re.compile(r"#\s*Group\s+(\d{1,9})\s*:((?:\s+\d+)+)$")
_WAITING = re.compile(r"#\s*\( (\d{1,9}) additional process(?:es)? waiting")
_HEADER_LINE = re.compile(
    r"#\s*(?P<key>Date|Machine|System|Release|Version|MPI Version|MPI Thread Environment|MPI_Datatype"
    r"|MPI_Datatype for reductions|MPI_Op)\s*:\s*(?P<value>\S.*)$"
)
_OTHER_TABLE = re.compile(r"#\s*OSU |#\s*All processes entering|#-{8}")

_VALUES: dict[str, tuple[Statistic, float]] = {
    "t[usec]": ("one_way", 1e-6),
    "t_max[usec]": ("max_over_ranks", 1e-6),
    "t_avg[usec]": ("mean_over_ranks", 1e-6),
    "t_min[usec]": ("min_over_ranks", 1e-6),
    "Mbytes/sec": ("bandwidth_B_per_s", 1e6),
    "Msg/sec": ("message_rate_per_s", 1.0),
}
"""Column → statistic and what one unit of it is in SI units."""


@dataclass
class _Table:
    """One title and what follows it. `ranks` is that of one group."""

    name: str
    line: int
    prefix: Prefix
    test: _Test | None
    release: str = ""
    ranks: int | None = None
    mapped: bool = False
    groups: int = 1
    members: dict[int, list[str]] = field(default_factory=dict)
    waiting: int = 0
    columns: list[str] = field(default_factory=list)
    decimals: int = 2
    rows: int = 0
    unread: int = 0
    below: list[str] = field(default_factory=list)


def recognises(_path: Path, text: str) -> bool:
    """Whether a line of the text is the title of an IMB table."""
    return "# Benchmarking" in text and any(_TITLE.match(line.text) for line in split_lines(text))


def read(path: Path, text: str, _given: Given) -> Imported:
    """Records of every table in the text, in its order."""
    imported = Imported()
    releases: list[str] = []
    table: _Table | None = None
    for line in split_lines(text):
        if title := _TITLE.match(line.text):
            _finish(table, path, imported)
            test = _TESTS.get(title["name"].lower())
            release = releases[-1] if releases else ""
            table = _Table(title["name"], line.number, Prefix(title["before"]), test, release)
        elif named := _RELEASE.search(line.text):
            releases.append(named["release"].strip())
        elif table is None or not table.columns:
            _metadata(line.text, imported.metadata)
        content = table.prefix.strip(line.text) if table else None
        if table is None or not content:
            continue
        if content.startswith(("#", "Group")):
            _header(table, content)
        elif table.columns and table.test:
            imported.records += _row(table, table.test, content, line, path, imported)
    _finish(table, path, imported)
    imported.tool = " + ".join(f"IMB {release}" for release in dict.fromkeys(releases)) or "IMB"
    return imported


def _metadata(text: str, metadata: dict[str, Any]) -> None:
    """Header lines of the first run; `MPI Version` is the standard's number, not the library's."""
    if entry := _HEADER_LINE.search(text):
        metadata.setdefault(entry["key"], entry["value"].strip())
    elif command := re.search(r"#\s*((?:\S*/)?IMB-\w+(?:\s+\S+)*)\s*$", text):
        metadata.setdefault("command", command[1])


def _header(table: _Table, content: str) -> None:
    if processes := _PROCESSES.match(content):
        table.ranks, table.mapped = int(processes[1]), processes[2] is not None
    elif groups := _GROUPS.match(content):
        table.groups, table.ranks = int(groups[1]), int(groups[2])
    elif members := _GROUP_RANKS.match(content):
        table.members[int(members[1])] = members[2].split()
    elif waiting := _WAITING.match(content):
        table.waiting = int(waiting[1])
    elif "#repetitions" in content.split():
        table.columns = content.split()
    elif _OTHER_TABLE.match(content):
        table.columns = []


def _finish(table: _Table | None, path: Path, imported: Imported) -> None:
    if table is None:
        return
    where = f"{path}:{table.line}: IMB {table.name}"
    if table.test is None:
        reason = next((text for pattern, text in _FAMILIES if re.match(pattern, table.name.lower())), "")
        imported.not_imported.append(f"{where} is not imported: {reason or 'an unknown test'}")
    elif table.rows == 0:
        imported.warnings.append(f"{where} has no results; the run did not finish")
    elif table.rows == table.unread and not table.below:
        imported.warnings.append(f"{where}: no column that is understood: {' '.join(table.columns)}")
    if table.below:
        imported.warnings.append(f"{where}: {below_resolution(table.below)}")


def _row(table: _Table, test: _Test, content: str, line: Line, path: Path, imported: Imported) -> list[Record]:
    tokens = content.split()
    where = f"{path}:{line.number}"
    if not is_size(tokens[0]):
        return []
    values = dict(zip(table.columns, tokens, strict=False))
    if len(tokens) != len(table.columns) or not all(map(is_number, tokens)):
        size = values.get("#bytes", "?")
        cut = " (the file ends inside this line)" if not line.ended else ""
        imported.warnings.append(f"{where}: row of {size} B is no row of numbers, left out{cut}: {content[:80]}")
        return []
    if not all(is_size(values.get(name, "0")) for name in ("Group", "#bytes", "#repetitions")):
        imported.warnings.append(f"{where}: not a row of this table, left out: {content[:80]}")
        return []
    if may_be_cut(line, tokens[-1], table.decimals):
        imported.warnings.append(f"{where}: the last line may be cut short, left out: {content[:80]}")
        return []
    table.decimals = decimals_of(tokens[-1])
    table.rows += 1
    if float(values.get("defects", "0")) > 0:
        imported.warnings.append(f"{where}: IMB counted defects in this row; it is marked as not verified")
    size_B = _bytes(table, int(values.get("#bytes", "0")), where, imported)
    return [] if size_B is None else _records(table, test, size_B, values, where)


def _bytes(table: _Table, printed: int, where: str, imported: Imported) -> int | None:
    """The schema's bytes: those of Reduce_scatter changed from the whole vector to one rank's block."""
    if table.name.lower() != "reduce_scatter":
        return printed
    size, reason = None, "it does not say its release, so whether its bytes are a block or the whole vector"
    if table.release and not _WHOLE_VECTOR.match(table.release):
        size = printed
    elif table.release and table.ranks:
        size, reason = block_of(printed, table.ranks), f"{printed} B are no block for each of {table.ranks} ranks"
    elif table.release:
        reason = "a whole vector for an unknown number of ranks"
    if size is None:
        imported.warnings.append(f"{where}: Reduce_scatter left out: {reason}")
    return size


def _records(table: _Table, test: _Test, size: int, values: dict[str, str], where: str) -> list[Record]:
    group = values.get("Group")
    ranks = table.ranks
    members = table.members.get(int(group), []) if group is not None else []
    pair = ""
    if test.paired and ranks == 2 and not table.mapped:
        pair = "0-1" if table.groups == 1 else "-".join(members)
    job = None if ranks is None else ranks * table.groups + table.waiting
    detail = [
        test.detail,
        "ranks reordered" if table.mapped else "",
        f"{table.groups} groups at once" if table.groups > 1 else "",
    ]
    detail.append(f"group {group}" if group is not None and not pair else "")
    # Where ranks wait, those that work may share a node though the job spans several: another placement.
    detail.append(f"{ranks * table.groups} of {job} ranks" if ranks is not None and table.waiting else "")
    common: dict[str, Any] = {
        "source": "imb",
        "operation": test.operation,
        "algorithm": "default" if test.operation in _POINT_TO_POINT else "",
        "bytes": size,
        "variant": ", ".join(filter(None, detail)),
        "ranks": ranks,
        "pairs": ranks * table.groups // 2 if test.paired and ranks is not None else None,
        "pair": pair,
        "batch": int(values["#repetitions"]),
        "verified": float(values["defects"]) == 0 if "defects" in values else None,
        "origin": where,
    }
    records = []
    for name, (statistic, unit) in _VALUES.items():
        is_time = unit == 1e-6
        if name not in values or is_time == test.rates or (name == "t[usec]" and not test.paired):
            continue
        value = float(values[name]) * unit
        if value > 0:
            records.append(Record(**common, statistic=statistic, value=value))
        elif size > 0 or name != "Mbytes/sec":
            table.below.append(f"{name} {values[name]} at {size} B")
    table.unread += not records
    return records


importers.register("imb")(Importer("Intel MPI Benchmarks text", recognises, read))
