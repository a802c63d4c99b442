"""Intel MPI Benchmarks text (IMB-MPI1), releases 2 to 2021: point to point, parallel transfers, collectives.

What a column means was read in IMB's sources (IMB_output.c): `t[usec]` of PingPong is half the round trip,
`Mbytes/sec` counts 10^6 bytes and, for two-way tests, both directions; Uniband and Biband sum over the pairs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hockney.errors import RequestError
from hockney.importers._lines import Prefix, TextLine, is_number, is_size
from hockney.importers._tables import BenchmarkTable, TableReader, Unit, family, has_title
from hockney.importers.base import Given, Imported, Importer, importers
from hockney.units import counted

_COLLECTIVES = (
    "barrier", "bcast", "scatter", "scatterv", "gather", "gatherv", "allgather", "allgatherv", "alltoall",
    "alltoallv", "reduce", "allreduce", "reduce_scatter",
)  # fmt: skip


@dataclass(frozen=True)
class _ImbTest:
    """`paired`: one half of the ranks talks to the other half; `rates`: the table holds no times."""

    operation: str
    paired: bool = False
    rates: bool = False
    detail: str = ""


_TESTS = {
    "pingpongspecificsource": _ImbTest("pingpong", paired=True, detail="specific source"),
    "pingponganysource": _ImbTest("pingpong", paired=True, detail="any source"),
    "pingpingspecificsource": _ImbTest("pingping", paired=True, detail="specific source"),
    "pingpinganysource": _ImbTest("pingping", paired=True, detail="any source"),
    "uniband": _ImbTest("bandwidth", paired=True, rates=True),
    "biband": _ImbTest("bidirectional", paired=True, rates=True),
    "reduce_scatter_block": _ImbTest("reduce_scatter", detail="reduce_scatter_block"),
    **{name: _ImbTest(name, paired=True) for name in ("pingpong", "pingping")},
    **{name: _ImbTest(name) for name in ("sendrecv", "exchange", *_COLLECTIVES)},
}
"""Keys are titles in lower case. A new test is a new line here, or a name."""

_FAMILIES = (
    (r"^reduce_local", "an operation of one rank"),
    (r"^i(bcast|barrier|reduce|all|gather|scatter)|^nbc$", "a non-blocking collective (overlap, not duration)"),
    (r"put|get|accumulate|fetch|compare|window|passive|^(rma|ext)$", "a one-sided operation"),
    (r"^([spc]_(read|write|iread|iwrite)|open_close)|^io$", "file input or output"),
    (r"^(uni|bi|co)random|^stencil[23]d|^p2p$", "a test of IMB-P2P, which prints rates of all pairs, no times"),
    (r"mt$", "a test of several threads (IMB-MT)"),
)
"""By the name of a test, or of a part of the suite."""

_TITLE = re.compile(r"(?P<before>[^#]{0,120}?)#\s*Benchmarking\s+(?P<multi>Multi-)?(?P<name>\w+)\s*$")
_HEADER = re.compile(r"^[ \t]*#bytes[ \t,;]+#repetitions[ \t,;].*$", re.MULTILINE)
_RELEASE = re.compile(
    r"Intel\s*\(R\)\s+MPI Benchmarks?(?:\s+Suite)?\s+V?(?P<release>[^,]+),(?:\s*(?P<part>[\w-]+) part)?"
)
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
_COMMAND = re.compile(r"#\s*((?:\S*/)?IMB-\w+(?:\s+\S+)*)\s*$")

_UNITS: dict[str, Unit] = {
    "t[usec]": ("one_way", 1e-6),
    "t_max[usec]": ("max_over_ranks", 1e-6),
    "t_avg[usec]": ("mean_over_ranks", 1e-6),
    "t_min[usec]": ("min_over_ranks", 1e-6),
    "Mbytes/sec": ("bandwidth_B_per_s", 1e6),
    "Msg/sec": ("message_rate_per_s", 1.0),
}


_COUNTS = ("Group", "#bytes", "#repetitions")
"""Columns of whole numbers."""


@dataclass
class _ImbTable(BenchmarkTable):
    """`ranks`: of one group. `members`: the ranks of each group. `rows_without_values`: of unknown columns."""

    test: _ImbTest | None = None
    release: str = ""
    ranks: int | None = None
    mapped: bool = False
    groups: int = 1
    members: dict[int, list[str]] = field(default_factory=dict)
    waiting: int = 0
    rows_without_values: int = 0


def recognises(_path: Path, text: str) -> bool:
    """Whether a line of the text is the title of an IMB table, or the header that scripts leave of one."""
    return has_title(text, "# Benchmarking", _TITLE) or _HEADER.search(text) is not None


def read(path: Path, text: str, given: Given) -> Imported:
    """Records of every table in the text, in its order. RequestError where nothing says which benchmark it is."""
    if not has_title(text, "# Benchmarking", _TITLE):
        text = _HEADER.sub(lambda header: f"{_title_of(path, given)}\r{header[0]}", text)
    reader = _ImbReader(path, given)
    imported = reader.read(text)
    imported.tool = " + ".join(f"IMB {release}" for release in dict.fromkeys(reader.releases)) or "IMB"
    return imported


def _title_of(path: Path, given: Given) -> str:
    """The title of a table without one: its test is the longest that the file's name or its folders hold."""
    names = [given.operation, *reversed(path.parts[-3:])]
    for words in (re.sub("[^a-z]", "", name.lower()) for name in names):
        if test := max((test for test in _TESTS if test.replace("_", "") in words), key=len, default=""):
            return f"# Benchmarking {test}" + "\r# #processes = 2" * (test in ("pingpong", "pingping"))
    raise RequestError(
        f"{path} has a table of IMB, and neither text nor name says of which benchmark",
        "name the file after it (PingPong.csv), or give --operation",
    )


class _ImbReader(TableReader[_ImbTable]):
    title = _TITLE
    comment = ("#", "Group")
    size_column = "#bytes"

    def __init__(self, path: Path, given: Given) -> None:
        super().__init__(path, given)
        self.releases: list[str] = []
        self.part = ""

    def begin(self, line: TextLine) -> _ImbTable | None:
        title = _TITLE.match(line.text)
        if title is None:
            return None
        name = title["name"]
        test, of_part = _TESTS.get(name.lower()), family(self.part, _FAMILIES, "")
        return _ImbTable(
            f"IMB {name}",
            f"{self.path}:{line.number}",
            Prefix(title["before"]),
            of_part or ("" if test else family(name, _FAMILIES)),
            test=test,
            release=self.releases[-1] if self.releases else "",
        )

    def aside(self, line: TextLine, table: _ImbTable | None) -> None:
        if named := _RELEASE.search(line.text):
            self.releases.append(named["release"].strip())
            self.part = named["part"] or ""
        elif table is None or not table.columns:
            # Of the first run; `MPI Version` is the standard's number, not the library's.
            if entry := _HEADER_LINE.search(line.text):
                self.imported.metadata.setdefault(entry["key"], entry["value"].strip())
            elif command := _COMMAND.search(line.text):
                self.imported.metadata.setdefault("command", command[1])

    def header(self, table: _ImbTable, content: str, where: str) -> bool:  # noqa: ARG002
        if table.last is not None:
            return False
        if processes := _PROCESSES.match(content):
            table.ranks, table.mapped = int(processes[1]), processes[2] is not None
        elif groups := _GROUPS.match(content):
            table.groups, table.ranks = int(groups[1]), int(groups[2])
        elif members := _GROUP_RANKS.match(content):
            table.members[int(members[1])] = members[2].split()
        elif waiting := _WAITING.match(content):
            table.waiting = int(waiting[1])
        elif "#repetitions" in content:
            self.separate(table, content)
            table.columns = self.cells(table, content)
        elif not content.startswith("#--"):
            # What another program prints is no table of this one, even before its first row.
            table.columns = []
            return False
        return True

    def fits(self, column: str, cell: str) -> bool:
        return is_size(cell) if column in _COUNTS else is_number(cell)

    def row(self, table: _ImbTable, cells: Sequence[str], where: str) -> None:
        values = dict(zip(table.columns, cells, strict=True))
        size_B = self._bytes(table, int(values.get("#bytes", "0")), where)
        if size_B is None or (test := table.test) is None:
            return
        ranks, group = table.ranks, values.get("Group")
        pair = ""
        if test.paired and ranks == 2 and not table.mapped:
            pair = "0-1" if table.groups == 1 else "-".join(table.members.get(int(group or -1), []))
        busy = None if ranks is None else ranks * table.groups
        detail = [
            test.detail,
            "ranks reordered" if table.mapped else "",
            f"{counted(table.groups, 'group')} at once" if table.groups > 1 else "",
            f"group {group}" if group is not None and not pair else "",
            # Where ranks wait, those that work may share a node though the job spans several: another placement.
            f"{busy} of {busy + table.waiting} ranks" if busy is not None and table.waiting else "",
        ]
        # Columns of the table's own kind; those of the other kind are derived from them.
        units = {name: unit for name, unit in _UNITS.items() if (unit[1] == 1e-6) != test.rates}
        if not test.paired:
            units.pop("t[usec]", None)
        records = self.add(
            table,
            size_B,
            values,
            units,
            where,
            source="imb",
            operation=test.operation,
            algorithm="" if test.operation in _COLLECTIVES else "default",
            variant=", ".join(filter(None, detail)),
            ranks=ranks,
            pairs=busy // 2 if test.paired and busy is not None else None,
            pair=pair,
            batch=int(values["#repetitions"]),
            verified=float(values["defects"]) == 0 if "defects" in values else None,
        )
        table.rows_without_values += not records

    def _bytes(self, table: _ImbTable, printed: int, where: str) -> int | None:
        """The schema's bytes: those of Reduce_scatter changed from the whole vector to one rank's block."""
        if table.test is not _TESTS["reduce_scatter"] or (
            table.release and not _WHOLE_VECTOR.match(table.release)
        ):
            return printed
        if table.release:
            return self.block_B(printed, table.ranks or self.given.ranks, where)
        self.imported.warn(
            where, "left out: no release says whether the bytes of Reduce_scatter are a block or all"
        )
        return None

    def finish(self, table: _ImbTable) -> None:
        super().finish(table)
        if table.rows and table.rows == table.rows_without_values and not table.zeros:
            is_p2p = {"Mbytes/sec", "Msg/sec"} <= set(table.columns)
            why = f"{family('p2p', _FAMILIES)}, by its columns" if is_p2p else "none of its columns is known"
            self.imported.warn(table.where, f"{table.name}: {why}: {' '.join(table.columns)}")


importers.register("imb")(Importer("Intel MPI Benchmarks text", recognises, read))
