"""OSU Micro-Benchmarks text, releases 3 to 7: latency, bandwidth, message rate and blocking collectives.

What a column means was read in OSU's sources: `latency` prints half the round trip (mean), `bibw` counts both
directions, `mbw_mr` sums over the pairs, a collective's `Avg` is the mean over ranks of each rank's mean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney.importers._lines import Prefix, TextLine, is_number, is_size
from hockney.importers._tables import BenchmarkTable, TableReader, Unit, family, has_title
from hockney.importers.base import Given, Imported, Importer, importers
from hockney.records.keys import TRANSFERS


@dataclass(frozen=True)
class _OsuTest:
    """`pairs` is None where the text gives it; `detail` distinguishes tests of the same operation."""

    operation: str
    pairs: int | None = None
    detail: str = ""

    @property
    def is_collective(self) -> bool:
        return self.operation not in TRANSFERS


_TESTS = {
    "latency": _OsuTest("pingpong", 1),
    "multi latency": _OsuTest("pingpong", detail="multi_lat"),
    "multi-threaded latency": _OsuTest("pingpong", 1, "latency_mt"),
    "multi-process latency": _OsuTest("pingpong", 1, "latency_mp"),
    "bandwidth": _OsuTest("bandwidth", 1),
    "bi-directional bandwidth": _OsuTest("bidirectional", 1),
    "multiple bandwidth / message rate": _OsuTest("bandwidth"),
    "broadcast": _OsuTest("bcast"),
    **{f"all-to-all{suffix}": _OsuTest("alltoall") for suffix in ("", " personalized exchange")},
    **{f"all-to-all{kind} personalized exchange": _OsuTest(f"alltoall{kind}") for kind in ("v", "w")},
    **{
        name: _OsuTest(name)
        for name in (
            *("barrier", "bcast", "scatter", "scatterv", "gather", "gatherv", "allgather", "allgatherv"),
            *("alltoall", "alltoallv", "reduce", "allreduce", "reduce_scatter"),
        )
    },
}
"""Keys are titles without `OSU MPI` and `Test`, those of collectives without `Latency`, too."""

_FAMILIES = (
    (r"non-?blocking", "a non-blocking collective (its columns are overlap, not duration)"),
    (r"put|get|accumulate|fetch|compare|one-sided", "a one-sided operation"),
    (r"neighbo", "a neighbourhood collective"),
    (r"persistent|partitioned", "a persistent or partitioned operation"),
    (r"init|hello", "start-up time"),
    (r"openshmem|upc|nccl|rccl", "no MPI benchmark"),
)

_TITLE = re.compile(
    r"(?P<before>[^#]{0,120}?)#\s*"
    r"(?P<program>OSU|OMB(?:-Py| Python)?|(?=MPI (?:\S+ )?(?:Latency|Bandwidth) Test))\s*"
    r"(?P<layer>(?i:MPI)(?:-(?P<build>[A-Z]+(?: MANAGED)?))?\s+)?(?P<name>\S.*?)\s+Test\b"
    r"(?:\s+(?:v|\(Version\s*)(?P<version>\d[\w.]*))?"
)
"""`# OSU MPI …`, `# OMB-Py MPI …`, or `# MPI …` of mpi4py's demonstrations."""
_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*(\d{1,9})\s*\]\s*\[\s*window size:\s*(\d{1,9}|varied)\s*\]")
_DATATYPE = re.compile(r"#\s*Datatype:\s*(\w+)")
_MEMORY = re.compile(r"#.*\bMemory on .*?\((\w+)\).*\((\w+)\)|#\s*Send Buffer on .*?\((\w+)\).*\((\w+)\)")

_HEADERS = ("Size", "Avg Latency", "Latency")
_COLUMNS = (
    (r"Size(?:\s*[(\[]B[)\]])?(?!\S)", "bytes"),
    (r"(?:Avg\s+)?Latency\s*[(\[]us[)\]]", "mean_us"),
    (r"Min\s+Latency\s*\(us\)", "min_us"),
    (r"Max\s+Latency\s*\(us\)", "max_us"),
    (r"Bandwidth\s*[(\[]MB/s[)\]]", "bandwidth"),
    (r"MB/s", "bandwidth"),
    (r"Messages/s", "message_rate"),
    (r"P(\d{1,3})\s+Tail\s+(?:Lat|BW)\s*\((?:us|MB/s)\)", "percentile"),
    (r"Iterations", "iterations"),
    (r"Validation", "validation"),
    (r"Transmit\s+Size", "transmit_bytes"),
)
"""Names contain blanks, so they are matched from left to right."""

_UNITS: dict[str, Unit] = {
    "mean_us": ("mean_over_ranks", 1e-6),
    "max_us": ("max_over_ranks", 1e-6),
    "min_us": ("min_over_ranks", 1e-6),
    "bandwidth": ("bandwidth_B_per_s", 1e6),
    "message_rate": ("message_rate_per_s", 1.0),
}
"""Keys are columns; MB is 10^6 bytes."""
_UNITS_OF_TWO: dict[str, Unit] = {"mean_us": ("one_way", 1e-6)} | {
    name: _UNITS[name] for name in ("bandwidth", "message_rate")
}


@dataclass
class _OsuTable(BenchmarkTable):
    test: _OsuTest | None = None
    build: str = ""
    memory: str = ""
    datatype: str = ""
    pairs: int | None = None
    window: int | None = None


def recognises(_path: Path, text: str) -> bool:
    """Whether a line of the text is a title of OSU, OMB-Py or mpi4py's demonstrations."""
    return has_title(text, "Test", _TITLE)


def read(path: Path, text: str, given: Given) -> Imported:
    """Records of every table in the text, in its order."""
    reader = _OsuReader(path, given)
    imported = reader.read(text)
    known = sorted(reader.versions)
    imported.tool = f"OSU {', '.join(known)}" if known else "OSU"
    if reader.datatypes:
        imported.metadata["datatype"] = sorted(reader.datatypes)
    return imported


class _OsuReader(TableReader[_OsuTable]):
    title = _TITLE
    comment = ("#", *_HEADERS)
    size_column = "bytes"
    sizes_rise = True

    def __init__(self, path: Path, given: Given) -> None:
        super().__init__(path, given)
        self.versions: set[str] = set()
        self.datatypes: set[str] = set()

    def begin(self, line: TextLine) -> _OsuTable | None:
        title = _TITLE.match(line.text)
        if title is None:
            return None
        self.versions |= {title["version"]} - {None}
        name = " ".join(title["name"].split())
        test = _TESTS.get(name.lower()) or _TESTS.get(name.lower().removesuffix(" latency"))
        why_not = "" if test and title["layer"] else family(title["name"], _FAMILIES)
        if test and test.is_collective and not title["program"]:
            why_not = "mpi4py's demonstrations print the time of rank 0 alone"
        program = {"OSU": "", "": "mpi4py"}.get(title["program"], "OMB-Py")
        return _OsuTable(
            f"{program or 'OSU'} {name}",
            f"{self.path}:{line.number}",
            Prefix(title["before"]),
            why_not,
            test=test,
            build=" ".join(filter(None, [program, title["build"]])),
            pairs=test.pairs if test else None,
        )

    def header(self, table: _OsuTable, content: str, where: str) -> bool:
        if pairs := _PAIRS.match(content):
            table.pairs = int(pairs[1])
            table.window = None if pairs[2] == "varied" else int(pairs[2])
        elif datatype := _DATATYPE.match(content):
            table.datatype = datatype[1]
            self.datatypes.add(datatype[1])
        elif memory := _MEMORY.match(content):
            table.memory = "-".join(filter(None, memory.groups()))
        elif table.last or not (names := re.sub(r"[#,;|\s]+", " ", content).strip()).startswith(_HEADERS):
            return False
        else:
            self.separate(table, content)
            table.columns = _columns(names)
            if table.test and not table.columns:
                self.imported.warn(where, f"unknown or repeated columns, table left out: {names}")
        # A run over several datatypes has a header and rows of each.
        table.last, table.ended_by = None, ""
        return True

    def fits(self, column: str, cell: str) -> bool:
        if column == "validation":
            return cell in ("Pass", "Fail")
        return is_size(cell) if column in ("bytes", "transmit_bytes") else is_number(cell)

    def row(self, table: _OsuTable, cells: Sequence[str], where: str) -> None:
        values = dict(zip(table.columns, cells, strict=True))
        if table.columns[0] != "bytes":
            # A barrier prints one line without a size.
            table.ended_by = "the one row of a barrier"
        if (test := table.test) is None:
            return
        size_B: int | None = int(values.get("transmit_bytes", values.get("bytes", "0")))
        if test.operation == "reduce_scatter":
            size_B = self.block_B(int(size_B or 0), self.given.ranks, where)
        if size_B is None:
            return
        plain = "MPI_INT" if test.operation in ("reduce", "allreduce", "reduce_scatter") else "MPI_CHAR"
        detail = [
            test.detail,
            " ".join(filter(None, [table.build, table.memory])),
            table.datatype if table.datatype != plain else "",
            "derived datatype" if "transmit_bytes" in values else "",
        ]
        records = self.add(
            table,
            size_B,
            values,
            _UNITS if test.is_collective else _UNITS_OF_TWO,
            where,
            source="osu",
            operation=test.operation,
            algorithm="" if test.is_collective else "default",
            variant=", ".join(filter(None, detail)),
            ranks=None if table.pairs is None else 2 * table.pairs,
            pairs=table.pairs,
            pair="0-1" if table.pairs == 1 else "",
            window=table.window,
            batch=int(float(values["iterations"])) if "iterations" in values else None,
            verified={"Pass": True, "Fail": False}.get(values.get("validation", "")),
        )
        for column, record in records:
            if column in ("mean_us", "bandwidth"):
                record.quantiles = _quantiles(values, _UNITS[column][1])


def _columns(names: str) -> list[str]:
    """Kinds of the columns, a percentile with its number (`percentile 90`); [] where one is unknown."""
    kinds = []
    while names:
        for pattern, kind in _COLUMNS:
            if match := re.match(pattern, names):
                kinds.append(f"{kind} {match[1]}" if match.groups() else kind)
                names = names[match.end() :].lstrip()
                break
        else:
            return []
    return kinds if len(set(kinds)) == len(kinds) else []


def _quantiles(values: dict[str, str], unit: float) -> dict[str, float]:
    """`percentile 90` → {'0.9': …}: over the iterations; for a collective, of their mean over ranks."""
    return {
        f"{int(name.split()[1]) / 100:g}": float(value) * unit
        for name, value in values.items()
        if name.startswith("percentile")
    }


importers.register("osu")(Importer("OSU Micro-Benchmarks text", recognises, read))
