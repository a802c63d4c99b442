"""The files that nccl-tests (`-J`, JSON) and rccl-tests (`-x`, JSON or CSV) write beside what they print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hockney import reading
from hockney.errors import RequestError
from hockney.importers import _csv
from hockney.importers._nccl import OPERATIONS, NcclRow, NcclRun, add, library, program
from hockney.importers.base import Given, Imported
from hockney.records.statistic import StatisticName

_HINT = "restore the file, or remove that result"
_AVERAGE = re.compile(r"(?:-a|--average)(?:[ =]*)(\d)\b")
_STATISTICS: dict[str, StatisticName | None] = {
    "0": None,
    "1": "mean_over_ranks",
    "2": "min_over_ranks",
    "3": "max_over_ranks",
}
"""Keys are the values of `-a`; 0 is the time of rank 0 alone."""


class _Body(BaseModel):
    time: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    nwrong: float | None = Field(default=None, ge=0)


class _Iterations(BaseModel):
    skipped_iterations: int = Field(default=0, ge=0)
    times_us: list[float] = []


class _Result(BaseModel):
    size: int = Field(ge=0)
    count: int = Field(ge=0)
    type: str
    redop: str = ""
    root: int = -1
    out_of_place: _Body | None = None
    in_place: _Body | None = None
    out_of_place_per_iter: _Iterations = _Iterations()
    in_place_per_iter: _Iterations = _Iterations()


class _Device(BaseModel):
    group: int = 0
    hostname: str = ""


class _Config(BaseModel):
    iterations: int = Field(default=1, ge=1)
    aggregated_iterations: int = Field(default=1, ge=1)
    devices: list[_Device] = []


class _File(BaseModel):
    """`-J` of nccl-tests, file versions 1 to 3; `env` is not even looked at."""

    args: list[str] = []
    nccl_version: int = 0
    config: _Config = _Config()
    results: list[_Result]


class _Line(BaseModel):
    """A result of rccl-tests, names in lower case. `ranks` are processes; a build without MPI knows `gpus`."""

    model_config = ConfigDict(populate_by_name=True)

    collective: str
    size: int = Field(ge=0)
    type: str
    redop: str = ""
    inplace: bool
    time: float = Field(ge=0, allow_inf_nan=False)
    wrong: str | float = Field(alias="#wrong")
    nodes: int | None = Field(default=None, ge=1)
    ranks: int | None = Field(default=None, ge=1)
    rankspernode: int | None = Field(default=None, ge=1)
    gpusperrank: int = Field(default=1, ge=1)
    gpus: int | None = Field(default=None, ge=1)


def is_ours(text: str) -> bool:
    """Whether the text has the words that only these files have."""
    start = text.lstrip()[:1]
    if start == "{" and '"nccl_version"' in text:
        return True
    if start in ("{", "["):
        return '"busBw"' in text and '"#wrong"' in text
    names = {name.lower() for name in _csv.header(text)}
    return {"redop", "busbw", "size"} <= names


def read(path: Path, text: str, given: Given) -> Imported:
    """Records of all results. RequestError names the wrong one: a file is taken whole or not at all."""
    if text.lstrip()[:1] not in ("{", "["):
        return _lines(path, _table(path, text), given)
    if '"nccl_version"' in text:
        return _json(path, _parse(path, text), given)
    if text.lstrip()[:1] == "[":
        parsed = _parse(path, text)
        return _lines(path, [(f"{path}, result {n}", row) for n, row in enumerate(parsed, 1)], given)
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    return _lines(path, [(f"{path}:{n}", _parse(path, line, n)) for n, line in lines], given)


def _parse(path: Path, text: str, line: int = 1) -> Any:
    return reading.parsed(text, str(path), "restore the file; a run that was cut leaves half", line=line)


def _checked(model: type[BaseModel], data: Any, where: str) -> Any:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise RequestError(f"{where}: {name}: {first['msg']}", _HINT) from None


def _json(path: Path, data: Any, given: Given) -> Imported:
    imported = Imported(tool="nccl-tests")
    file: _File = _checked(_File, data, str(path))
    arguments = " ".join(file.args[1:])
    average = _AVERAGE.search(arguments)
    run = NcclRun(
        name=program(file.args[0] if file.args else "") or program(path.name),
        library=library(file.nccl_version) if file.nccl_version else "",
        batch=file.config.iterations * file.config.aggregated_iterations,
        statistic=_STATISTICS.get(average[1]) if average else "mean_over_ranks",
    )
    run.place((device.group, device.hostname) for device in file.config.devices)
    run.ranks = run.ranks or given.ranks
    imported.metadata["arguments"] = arguments
    if run.operation() is None:
        imported.not_imported.append(
            f"{path}: nccl-tests {run.name or 'of an unknown program'} is not imported; "
            f"programs that are: {', '.join(sorted(OPERATIONS))}"
        )
        return imported
    if run.statistic is None:
        imported.warn(str(path), f"-a {average[1] if average else ''} is the time of one rank, not imported")
    for number, result in enumerate(file.results, 1):
        where = f"{path}, result {number}"
        for in_place, body, single in (
            (False, result.out_of_place, result.out_of_place_per_iter),
            (True, result.in_place, result.in_place_per_iter),
        ):
            if body is None:
                continue
            if body.time is None:
                imported.warn(where, "left out: no time of the operation (-C 1 is that of the CPU)")
                continue
            row = NcclRow(
                size_B=result.size,
                time_us=body.time,
                in_place=in_place,
                count=result.count,
                datatype=result.type,
                redop=result.redop,
                root=result.root,
                wrong=body.nwrong,
                iterations_us=tuple(single.times_us),
                skipped=single.skipped_iterations,
            )
            add(run, row, where, imported)
    return imported


def _table(path: Path, text: str) -> list[tuple[str, Any]]:
    """Rows of the CSV. Builds with MPI forgot `nodes` in the header until ROCm/rocm-systems pull 6004 (2026)."""
    names, _, rest = text.lstrip().partition("\n")
    first = rest.partition("\n")[0]
    if "nodes" not in names and ",ranks," in names and len(_csv.header(first)) == len(_csv.header(names)) + 1:
        names = names.replace(",ranks,", ",nodes,ranks,")
    entries = _csv.rows(path, f"{names}\n{rest}", ())
    return [(where, {name: cell for name, cell in row.items() if cell}) for where, row in entries]


def _lines(path: Path, lines: list[tuple[str, Any]], given: Given) -> Imported:
    imported = Imported(tool="rccl-tests")
    for where, data in lines:
        names = {str(name).lower(): cell for name, cell in data.items()} if isinstance(data, dict) else data
        if isinstance(names, dict) and "collective" not in names:
            names["collective"] = names.get("name", program(path.name))
        line: _Line = _checked(_Line, names, where)
        ranks = line.gpus if line.ranks is None else line.ranks * line.gpusperrank
        run = NcclRun(
            name=line.collective,
            ranks=ranks or given.ranks,
            nodes=line.nodes,
            ppn=None if line.rankspernode is None else line.rankspernode * line.gpusperrank,
        )
        if run.operation() is None:
            imported.warn(where, f"left out: {line.collective} is no collective that is imported")
            continue
        row = NcclRow(
            line.size, line.time, line.inplace, None, line.type, line.redop, wrong=_wrong(line.wrong, where)
        )
        add(run, row, where, imported)
    return imported


def _wrong(printed: str | float, where: str) -> float | None:
    """Wrong elements, None where the results were not checked (N/A)."""
    if str(printed).strip().upper() == "N/A":
        return None
    try:
        return float(printed)
    except ValueError:
        raise RequestError(f"{where}: #wrong {printed!r} is no number", _HINT) from None
