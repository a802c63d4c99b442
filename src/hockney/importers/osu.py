"""OSU Micro-Benchmarks text, releases 3 to 7: latency, bandwidth, message rate and blocking collectives.

What a column means was read in OSU's sources: `latency` prints half the round trip (mean), `bibw` counts both
directions, `mbw_mr` sums over the pairs, a collective's `Avg` is the mean over ranks of each rank's mean.
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
    """`pairs` is None where the text decides; `detail` tells tests of the same operation apart."""

    operation: str
    collective: bool = False
    reduces: bool = False
    pairs: int | None = None
    detail: str = ""


_TESTS = {
    "latency": _Test("pingpong", pairs=1),
    "multi latency": _Test("pingpong", detail="multi_lat"),
    "multi-threaded latency": _Test("pingpong", pairs=1, detail="latency_mt"),
    "multi-process latency": _Test("pingpong", pairs=1, detail="latency_mp"),
    "bandwidth": _Test("bandwidth", pairs=1),
    "bi-directional bandwidth": _Test("bidirectional", pairs=1),
    "multiple bandwidth / message rate": _Test("bandwidth"),
    "barrier latency": _Test("barrier", collective=True),
    "broadcast latency": _Test("bcast", collective=True),
    "scatter latency": _Test("scatter", collective=True),
    "scatterv latency": _Test("scatterv", collective=True),
    "gather latency": _Test("gather", collective=True),
    "gatherv latency": _Test("gatherv", collective=True),
    "allgather latency": _Test("allgather", collective=True),
    "allgatherv latency": _Test("allgatherv", collective=True),
    "all-to-all personalized exchange latency": _Test("alltoall", collective=True),
    "all-to-allv personalized exchange latency": _Test("alltoallv", collective=True),
    "all-to-allw personalized exchange latency": _Test("alltoallw", collective=True),
    "reduce latency": _Test("reduce", collective=True, reduces=True),
    "allreduce latency": _Test("allreduce", collective=True, reduces=True),
    "reduce_scatter latency": _Test("reduce_scatter", collective=True, reduces=True),
}
"""By title, without `OSU MPI` and `Test`. A new test is a new line here."""

_FAMILIES = (
    (r"non-?blocking", "a non-blocking collective (its columns are overlap, not duration)"),
    (r"put|get|accumulate|fetch|compare|one-sided", "a one-sided operation"),
    (r"neighbo", "a neighbourhood collective"),
    (r"persistent|partitioned", "a persistent or partitioned operation"),
    (r"init|hello", "start-up time"),
    (r"openshmem|upc|nccl|rccl|python", "no MPI benchmark of OSU's C programs"),
)

_TITLE = re.compile(
    r"(?P<before>[^#]{0,120}?)#\s*OSU\s+(?P<name>\S.*?\bTest)\b(?:\s+(?:v|\(Version\s*)(?P<version>\d[\w.]*))?"
)
_LAYER = re.compile(r"MPI(?:-(?P<build>[A-Z]+(?: MANAGED)?))?\s+(?P<name>.+?)\s+Test$", re.IGNORECASE)
_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*(\d{1,9})\s*\]\s*\[\s*window size:\s*(\d{1,9}|varied)\s*\]")
_DATATYPE = re.compile(r"#\s*Datatype:\s*(\w+)")
_MEMORY = re.compile(r"#.*\bMemory on .*?\((\w+)\).*\((\w+)\)|#\s*Send Buffer on .*?\((\w+)\).*\((\w+)\)")
_OTHER_TABLE = re.compile(r"#-{8}|#\s*Benchmarking |#bytes|#\s+Uni-directional|#\s+Message Rate Profile")

_COLUMNS = (
    (r"Size", "bytes"),
    (r"(?:Avg\s+)?Latency\s*\(us\)", "mean_us"),
    (r"Min\s+Latency\s*\(us\)", "min_us"),
    (r"Max\s+Latency\s*\(us\)", "max_us"),
    (r"Bandwidth\s*\(MB/s\)", "bandwidth"),
    (r"MB/s", "bandwidth"),
    (r"Messages/s", "message_rate"),
    (r"P(\d{1,3})\s+Tail\s+(?:Lat|BW)\s*\((?:us|MB/s)\)", "percentile"),
    (r"Iterations", "iterations"),
    (r"Validation", "validation"),
    (r"Transmit\s+Size", "transmit_bytes"),
)
"""Names contain blanks: they are matched from left to right."""

_STATISTICS: dict[str, tuple[Statistic, float]] = {
    "mean_us": ("mean_over_ranks", 1e-6),
    "max_us": ("max_over_ranks", 1e-6),
    "min_us": ("min_over_ranks", 1e-6),
    "bandwidth": ("bandwidth_B_per_s", 1e6),
    "message_rate": ("message_rate_per_s", 1.0),
}
"""Column → statistic and what one unit of it is in SI units (MB is 10^6 bytes)."""


@dataclass
class _Run:
    """One title and what follows it."""

    name: str
    line: int
    prefix: Prefix
    test: _Test | None
    build: str = ""
    memory: str = ""
    datatype: str = ""
    pairs: int | None = None
    window: int | None = None
    columns: list[str] = field(default_factory=list)
    decimals: int = 2
    rows: int = 0
    below: list[str] = field(default_factory=list)


def recognises(_path: Path, text: str) -> bool:
    """Whether a line of the text is an OSU title."""
    return "OSU" in text and any(_TITLE.match(line.text) for line in split_lines(text))


def read(path: Path, text: str, given: Given) -> Imported:
    """Records of every table in the text, in its order."""
    imported = Imported()
    versions: list[str] = []
    datatypes: list[str] = []
    run: _Run | None = None
    for line in split_lines(text):
        title = _TITLE.match(line.text)
        if title:
            _finish(run, path, imported)
            run = _begin(title, line)
            versions.append(title["version"] or "")
            continue
        content = run.prefix.strip(line.text) if run else None
        if run is None or not content:
            continue
        if content.startswith("#"):
            _header(run, content, path, line, imported)
            datatypes.append(run.datatype)
        elif run.columns and run.test:
            imported.records += _row(run, run.test, content, line, path, given, imported)
    _finish(run, path, imported)
    known = sorted(set(filter(None, versions)))
    imported.tool = f"OSU {', '.join(known)}" if known else "OSU"
    metadata: dict[str, Any] = {"datatype": sorted(set(filter(None, datatypes)))}
    imported.metadata = {name: value for name, value in metadata.items() if value}
    return imported


def _begin(title: re.Match[str], line: Line) -> _Run:
    layer = _LAYER.match(title["name"])
    name = " ".join((layer["name"] if layer else title["name"]).split())
    test = _TESTS.get(name.lower()) if layer else None
    build = (layer["build"] or "") if layer else ""
    pairs = test.pairs if test else None
    return _Run(name, line.number, Prefix(title["before"]), test, build, pairs=pairs)


def _finish(run: _Run | None, path: Path, imported: Imported) -> None:
    if run is None:
        return
    where = f"{path}:{run.line}: OSU {run.name}"
    if run.test is None:
        reason = next((text for pattern, text in _FAMILIES if re.search(pattern, run.name, re.IGNORECASE)), "")
        imported.not_imported.append(f"{where} is not imported: {reason or 'an unknown test'}")
    elif run.rows == 0:
        imported.warnings.append(
            f"{where} has no results; the run did not finish, or its table is of another kind"
        )
    if run.below:
        imported.warnings.append(f"{where}: {below_resolution(run.below)}")


def _header(run: _Run, content: str, path: Path, line: Line, imported: Imported) -> None:
    if pairs := _PAIRS.match(content):
        run.pairs = int(pairs[1])
        run.window = None if pairs[2] == "varied" else int(pairs[2])
    elif datatype := _DATATYPE.match(content):
        run.datatype = datatype[1]
    elif memory := _MEMORY.match(content):
        run.memory = "-".join(filter(None, memory.groups()))
    elif _OTHER_TABLE.match(content):
        run.columns = []
    elif (names := content.lstrip("# \t")).startswith(("Size", "Avg", "Latency")):
        run.columns = _columns(names)
        if run.test and not run.columns:
            imported.warnings.append(f"{path}:{line.number}: columns not understood, table left out: {names}")


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
    return kinds


def _row(
    run: _Run, test: _Test, content: str, line: Line, path: Path, given: Given, imported: Imported
) -> list[Record]:
    tokens = content.split()
    where = f"{path}:{line.number}"
    sized = run.columns[0] == "bytes"
    if not (is_size(tokens[0]) if sized else is_number(tokens[0])):
        return []
    values = dict(zip(run.columns, tokens, strict=False))
    status = values.pop("validation", "")
    if (
        len(tokens) != len(run.columns)
        or not all(map(is_number, values.values()))
        or status not in ("", "Pass", "Fail")
    ):
        cut = "" if line.ended else " (the file ends inside this line)"
        imported.warnings.append(f"{where}: not a row of this table, left out{cut}: {content[:80]}")
        return []
    if may_be_cut(line, tokens[-1], run.decimals):
        imported.warnings.append(f"{where}: the last line may be cut short, left out: {content[:80]}")
        return []
    run.decimals = decimals_of(tokens[-1])
    run.rows += 1
    if not sized:
        # A barrier prints one line without a size; what follows is not its table.
        run.columns = []
    if status == "Fail":
        imported.warnings.append(f"{where}: OSU's validation failed for this row; it is marked as not verified")
    size = _bytes(test, int(values.get("transmit_bytes", values.get("bytes", "0"))), given, where, imported)
    if size is None:
        return []
    return _records(run, test, size, values, status, where)


def _bytes(test: _Test, printed: int, given: Given, where: str, imported: Imported) -> int | None:
    """One rank's block where the tidy schema wants that: osu_reduce_scatter prints the whole vector."""
    if test.operation != "reduce_scatter":
        return printed
    if given.ranks is None:
        imported.warnings.append(
            f"{where}: left out: osu_reduce_scatter prints the whole vector; its block needs --ranks"
        )
        return None
    block = block_of(printed, given.ranks)
    if block is None:
        imported.warnings.append(f"{where}: left out: {printed} B are no block for each of {given.ranks} ranks")
    return block


def _records(run: _Run, test: _Test, size: int, values: dict[str, str], status: str, where: str) -> list[Record]:
    plain = "MPI_INT" if test.reduces else "MPI_CHAR"
    detail = [test.detail, " ".join(filter(None, [run.build, run.memory]))]
    detail += [
        run.datatype if run.datatype != plain else "",
        "derived datatype" if "transmit_bytes" in values else "",
    ]
    common: dict[str, Any] = {
        "source": "osu",
        "operation": test.operation,
        "algorithm": "" if test.collective else "default",
        "bytes": size,
        "variant": ", ".join(filter(None, detail)),
        "ranks": None if run.pairs is None else 2 * run.pairs,
        "pairs": run.pairs,
        "pair": "0-1" if run.pairs == 1 else "",
        "window": run.window,
        "batch": int(float(values["iterations"])) if "iterations" in values else None,
        "verified": {"Pass": True, "Fail": False}.get(status),
        "origin": where,
    }
    records = []
    for name, (statistic, unit) in _STATISTICS.items():
        if name not in values or (name in ("min_us", "max_us") and not test.collective):
            continue
        value = float(values[name]) * unit
        if value <= 0:
            if size > 0 or name != "bandwidth":
                run.below.append(f"{name} {values[name]} at {size} B")
            continue
        of_rows = name in ("mean_us", "bandwidth")
        records.append(
            Record(
                **common,
                statistic=statistic if test.collective or unit != 1e-6 else "one_way",
                value=value,
                quantiles=_quantiles(values, unit) if of_rows else {},
            )
        )
    return records


def _quantiles(values: dict[str, str], unit: float) -> dict[str, float]:
    """`percentile 90` → {'0.9': …}: over the iterations; for a collective, of their mean over ranks."""
    return {
        f"{int(name.split()[1]) / 100:g}": float(value) * unit
        for name, value in values.items()
        if name.startswith("percentile")
    }


importers.register("osu")(Importer("OSU Micro-Benchmarks text", recognises, read))
