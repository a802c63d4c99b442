"""PICO (github.com/HLC-Lab/pico): its per-iteration files, its aggregated summary, and summaries of several runs.

A time is that of the slowest rank of an iteration, in ns, after a barrier (pico_core.c). A size is the whole
vector of `array_dim` elements; where the project counts a rank's block, that is ⌊array_dim / ranks⌋ elements,
as in the program's own calls. What the names of the algorithms become is on the page of the importers.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from hockney import reading
from hockney.errors import RequestError
from hockney.importers._csv import ELEMENT_B, LONGEST_S, count, header, rows, time_s
from hockney.importers._lines import is_size
from hockney.importers.base import Given, Imported, Importer, importers, load_text
from hockney.records.keys import COLLECTIVES, sizes_are_blocks
from hockney.records.record import Record

_COLLECTIVES = sorted(name for name, collective in COLLECTIVES.items() if collective.has_size)
_LIBRARIES = {"OMPI": "Open MPI", "FJMPI": "Fujitsu MPI", "CRAY_MPICH": "Cray MPICH"}
_PLAIN_TYPE = "int32"
_RAW_NAME = re.compile(rf"(\d{{1,15}})_(.+?)(?:_({'|'.join(ELEMENT_B)}))?\.csv")
_SHAPE = re.compile(r"\d{1,6}(?:x\d{1,6}){0,2}", re.ASCII)
_FOOTER = "Average runtime"
"""Last line of the files from Fugaku, whose program warms up before it begins to count."""
_WARM_UP = 0.2
"""Share of the iterations that PICO's own summary sets aside everywhere else (plot/summarize_data.py)."""


_QUANTILES = {"min_ns": "0", "p10_ns": "0.1", "p25_ns": "0.25", "p75_ns": "0.75", "p90_ns": "0.9", "max_ns": "1"}
_NEEDED = ("collective", "algorithm_label", "array_dim", "buffer_bytes", "nodes", "ppn", "median_ns", *_QUANTILES)
"""Columns of a summary of several runs."""
_AGGREGATED = {
    "collective": "collective_type",
    "algorithm_label": "algo_name",
    "buffer_bytes": "buffer_size",
    "nodes": "nnodes",
    "ppn": "tasks_per_node",
    "median_ns": "median",
    "min_ns": "min",
    "max_ns": "max",
    **{f"p{percent}_ns": f"percentile_{percent}" for percent in (10, 25, 75, 90)},
}
"""Their names in the aggregated summary of one run."""
_METADATA = ("timestamp", "test_id", "nnodes", "tasks_per_node", "collective_type")
_ALLOCATION = ("MPI_Rank", "allocation")


@dataclass(frozen=True)
class _Job:
    """What the ranks of one test have in common."""

    ranks: int
    nodes: int
    ppn: int


def recognises(path: Path, text: str) -> bool:
    """Whether the header is that of one of the three tables, or of a file that belongs to them."""
    names = header(text)
    first = tuple(names[:2])
    return (names[:1] == ["highest"] and path.suffix == ".csv") or first in (
        *(("collective", "algorithm_label"), ("collective_type", "array_dim")),
        *(_METADATA[:2], _ALLOCATION),
    )


def read(path: Path, text: str, given: Given) -> Imported:
    """Records of a table. RequestError names the line that is wrong: a summary is taken whole or not at all."""
    imported = Imported(tool="PICO")
    first = header(text)[:1]
    if first == ["highest"]:
        _raw(path, text, imported)
    elif first == ["collective"]:
        _summary(path, text, {}, given, imported)
    elif first == ["collective_type"]:
        _summary(path, text, _AGGREGATED, given, imported)
    else:
        imported.not_imported.append(f"{path} is read together with the results it belongs to")
    return imported


def _summary(path: Path, text: str, names: Mapping[str, str], given: Given, imported: Imported) -> None:
    """A row a point; `names`: what the file calls columns of `_NEEDED`, where that differs."""
    beside = 0
    shapes: set[str] = set()
    raw = {str(file.relative_to(path.parent)) for file in reading.below(path.parent, "*/*_*.csv")}
    job = _allocation(path.parent) if names else None
    for where, of_file in rows(path, text, [names.get(name, name) for name in _NEEDED]):
        row = of_file | {name: of_file[names.get(name, name)] for name in _NEEDED}
        if names and _raw_names(row) & raw:
            beside += 1
            continue
        array_dim = count(row, "array_dim", where)
        element_B, rest = divmod(count(row, "buffer_bytes", where), array_dim)
        if rest:
            raise RequestError(
                f"{where}: {row['buffer_bytes']} bytes are no multiple of array_dim {array_dim}",
                "correct or remove that row",
            )
        nodes, ppn = _product(row, "nodes", where), count(row, "ppn", where)
        ranks = count(row, "ranks", where) if "ranks" in row else nodes * ppn
        quantiles = {quantile: time_s(row, name, where, 1e-9) for name, quantile in _QUANTILES.items()}
        value = time_s(row, "median_ns", where, 1e-9)
        rising = list(quantiles.values())
        if rising != sorted(rising) or not rising[0] <= value <= rising[-1]:
            raise RequestError(f"{where}: the quantiles of this row do not rise", "correct or remove that row")
        shapes |= {row.get("torus_shape", row["nodes"])} - {str(nodes), ""}
        _add(
            imported,
            where,
            (row["collective"], row["algorithm_label"], array_dim, element_B),
            job or _Job(ranks, nodes, ppn),
            system=row.get("system") or given.system or path.name.partition(".")[0],
            mpi=row["mpi"] if "mpi" in row else _library(row),
            variant=_variant(row, row.get("datatype", "")),
            value=value,
            quantiles=quantiles,
        )
    if beside:
        imported.not_imported.append(
            f"{path}: {beside} rows summarise files in the folders beside it: import the folder instead"
        )
    imported.metadata |= {"node_shapes": sorted(shapes)} if shapes else {}


def _raw_names(row: dict[str, str]) -> set[str]:
    """Names of an aggregated row's per-iteration file; older versions of PICO leave out the type."""
    stem = f"{row.get('test_id', '')}/{row['array_dim']}_{row['algorithm_label']}"
    return {f"{stem}_{row.get('datatype', _PLAIN_TYPE)}.csv", f"{stem}.csv"}


def _raw(path: Path, text: str, imported: Imported) -> None:
    name = _RAW_NAME.fullmatch(path.name)
    if name is None:
        raise RequestError(
            f"{path}: PICO names its files <count>_<algorithm>_<type>.csv, not so",
            "give the file its name: size and algorithm are not in the text",
        )
    names = header(text)
    if len(names) > 1:
        imported.warn(str(path), "the columns of single ranks are not kept, the slowest rank's is")
    values, warmed = _iterations(path, text, len(names), imported)
    if not values:
        return
    where, row, system = _metadata(path)
    nodes, ppn = _product(row, "nnodes", where), count(row, "tasks_per_node", where)
    warm_up = 0 if warmed else int(len(values) * _WARM_UP)
    kept = [value for value in values[warm_up:] if value > 0]
    if zeros := len(values) - warm_up - len(kept):
        imported.warn(str(path), f"{zeros} times of 0 ns are set aside")
    if not kept:
        imported.warn(str(path), "no time is left, so nothing is imported")
        return
    set_aside = [index for index, value in enumerate(values) if index < warm_up or value == 0]
    folder = Path(os.path.realpath(path)).parent
    _add(
        imported,
        f"{path}:2",
        (row["collective_type"], name[2], int(name[1]), ELEMENT_B[name[3] or _PLAIN_TYPE]),
        _allocation(folder.parent) or _allocation(folder) or _Job(nodes * ppn, nodes, ppn),
        system=system,
        mpi=_library(row),
        variant=_variant(row, name[3] or ""),
        value=median(kept) * 1e-9,
        samples=[value * 1e-9 for value in values],
        # PICO runs no warm-up of its own: its first iterations are that.
        disturbed=len(set_aside),
        disturbed_at=set_aside,
        batch=1,
    )


def _iterations(path: Path, text: str, columns: int, imported: Imported) -> tuple[list[int], bool]:
    """Times in ns, and whether the program warmed up before, by its last line."""
    values: list[int] = []
    lines = text.split("\n")
    for number, line in enumerate(lines[1:], 2):
        content = line.strip()
        if content.startswith(_FOOTER):
            return values, True
        if not content:
            continue
        fields = content.split(",")
        if number == len(lines):
            imported.warn(f"{path}:{number}", f"the last line may be cut short, left out: {content[:80]}")
        elif len(fields) != columns or not all(map(is_size, fields)) or int(fields[0]) * 1e-9 > LONGEST_S:
            raise RequestError(
                f"{path}:{number}: {content[:80]!r} is no time in ns of each column",
                "correct or remove that line",
            )
        else:
            values.append(int(fields[0]))
    return values, False


def _metadata(path: Path) -> tuple[str, dict[str, str], str]:
    """(file:line, row, system) of a per-iteration file's test, from `<system>_metadata.csv` above it."""
    folder = Path(os.path.realpath(path)).parent
    test_id, timestamp = folder.name, folder.parent.name
    for above in folder.parents[:4]:
        for file in reading.below(above, "*_metadata.csv"):
            for where, row in rows(file, load_text(file), _METADATA):
                if (row["timestamp"], row["test_id"]) == (timestamp, test_id):
                    return where, row, file.name.removesuffix("_metadata.csv")
    raise RequestError(
        f"{path}: no <system>_metadata.csv above it has a line for {timestamp}, test {test_id}",
        "keep PICO's folders (results/<system>/<time>/<test>/): only that file has operation and ranks",
    )


def _allocation(folder: Path) -> _Job | None:
    """Ranks and nodes of `alloc.csv`: the job may have fewer ranks than nodes × tasks a node."""
    file = folder / "alloc.csv"
    if not reading.is_file(file):
        return None
    # Ranks write into one file, and zeros stand where a line is shorter than its place.
    text = reading.text(file).replace("\0", "")
    hosts = Counter(row["allocation"] for _, row in rows(file, text, _ALLOCATION))
    return _Job(hosts.total(), len(hosts), max(hosts.values())) if hosts else None


def _product(row: dict[str, str], name: str, where: str) -> int:
    """Nodes, also of a shape: `4x4x4` → 64."""
    value = math.prod(map(int, row[name].split("x"))) if _SHAPE.fullmatch(row[name]) else 0
    if value < 1:
        raise RequestError(f"{where}: {name} {row[name]!r} is no number of nodes", "correct or remove that row")
    return value


def _library(row: dict[str, str]) -> str:
    name = row.get("mpi_lib", "")
    return " ".join(filter(None, [_LIBRARIES.get(name, name), row.get("mpi_lib_version", "")]))


def _variant(row: dict[str, str], datatype: str) -> str:
    """The configuration beside the algorithm: buffers on a device, another type, the user's note."""
    device = f"{row.get('gpu_lib', 'GPU')} buffers" if row.get("gpu_awareness") == "yes" else ""
    notes = row.get("notes", "")
    return ", ".join(
        filter(None, [device, datatype if datatype != _PLAIN_TYPE else "", notes if notes != "null" else ""])
    )


def _algorithm(label: str) -> str:
    """Names of the library's algorithms without PICO's marks; the authors' own keep theirs."""
    if label.startswith("default-"):
        label = label.removeprefix("default-").replace("-", "_")
    return re.sub(r"_(ompi|mpich)$", "", label)


def _add(imported: Imported, where: str, point: tuple[str, str, int, int], job: _Job, **measured: Any) -> None:
    name, label, array_dim, element_B = point
    operation = name.lower()
    if operation not in _COLLECTIVES:
        raise RequestError(f"{where}: unknown collective {name!r}", f"known: {', '.join(_COLLECTIVES)}")
    size_B = element_B * (array_dim // job.ranks if sizes_are_blocks(operation) else array_dim)
    if size_B == 0:
        imported.warn(where, f"left out: {array_dim} elements are no block for each of {job.ranks} ranks")
        return
    record = Record(
        source="pico",
        operation=operation,
        algorithm=_algorithm(label),
        bytes=size_B,
        statistic="max_over_ranks",
        ranks=job.ranks,
        nodes=job.nodes,
        ppn=job.ppn,
        mapping="node" if job.ppn == 1 else "",
        origin=where,
        **measured,
    )
    imported.records.append(record)


importers.register("pico")(Importer("PICO csv", recognises, read))
