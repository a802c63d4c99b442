"""What nccl-tests measures, whichever way it is written down: rows of runs become records; JSON and CSV files.

Read in its sources (src/*.cu, common.cu): `size` is the larger of the send and the receive buffer, so the whole
vector of all_gather, reduce_scatter, alltoall, gather and scatter, and `count` is then the elements of one
block; `time` is the mean over the iterations, and over the processes unless `-a` asked otherwise.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from hockney import reading
from hockney.errors import RequestError
from hockney.importers import _csv
from hockney.importers.base import Given, Imported
from hockney.records.keys import sizes_are_blocks
from hockney.records.record import Record
from hockney.records.statistic import StatisticName

_SAME = ("allreduce", "allgather", "bcast", "reduce", "alltoall", "gather", "scatter", "sendrecv")
OPERATIONS = {"broadcast": "bcast", "reducescatter": "reduce_scatter", **{name: name for name in _SAME}}
"""Keys are names of programs or collectives, letters only."""
_PROGRAM = re.compile(r"([a-z_]+?)_perf(?:_mpi)?\b(?! *\(\d)")
"""With a version in brackets it is a provider of libfabric."""
_AVERAGE = re.compile(r"(?:-a|--average)(?:[ =]*)([0-3])\b")
_STATISTICS: tuple[StatisticName | None, ...] = (None, "mean_over_ranks", "min_over_ranks", "max_over_ranks")
"""By the value of `-a`; 0 is the time of rank 0 alone."""
_Wrong = Annotated[float | None, BeforeValidator(lambda cell: None if str(cell).strip() == "N/A" else cell)]
"""Wrong elements of a result; None where it was not checked."""


@dataclass
class NcclRun:
    """One run of one program. `statistic` is what `time` is of the processes; "" where that has no word here."""

    name: str = ""
    ranks: int | None = None
    nodes: int | None = None
    ppn: int | None = None
    groups: int = 1
    library: str = ""
    batch: int | None = None
    statistic: StatisticName | None = "mean_over_ranks"
    records: list[Record] = field(default_factory=list)

    @property
    def operation(self) -> str:
        """The operation in Hockney's words; "" for a program that is unknown or not imported."""
        return OPERATIONS.get(letters(self.name), "")

    def why_not(self) -> str:
        """Why its program is not imported; "" where it is."""
        nameless = "give --operation, or name the file after its program (all_reduce_perf.txt)"
        hint = "it is an unknown program" if self.name else nameless
        return "" if self.operation else f"{hint}; known are {', '.join(sorted(OPERATIONS))}"

    def place(self, devices: Iterable[tuple[int, int, str]]) -> None:
        """Ranks and nodes from the (group, rank, host) of every device.

        A list that lacks ranks says how many there are, not where; if it repeats them, several runs were at once.
        """
        places = list(devices)
        groups = {group: {rank for of, rank, _ in places if of == group} for group, _, _ in places}
        hosts = Counter(host for _, _, host in places)
        highest = max((rank for _, rank, _ in places), default=-1)
        is_whole = sum(map(len, groups.values())) == len(places)
        if highest >= len(places) or not is_whole:
            self.ranks = highest + 1 if len(groups) == 1 else None
            self.groups = 1 if is_whole else len(places) // (highest + 1)
        elif places:
            self.ranks, self.groups = max(map(len, groups.values())), len(groups)
            if len(groups) == 1:
                self.nodes, self.ppn = len(hosts), max(hosts.values())


class _Size(BaseModel):
    size: int = Field(ge=0)
    count: int | None = Field(default=None, ge=0)
    type: str = "float"
    redop: str = ""
    root: int = -1


class _Iterations(BaseModel):
    skipped_iterations: int = Field(default=0, ge=0)
    times_us: list[float] = []


class NcclRow(_Size, _Iterations):
    """One size, out of place or in place; times in us, `times_us` those of single iterations."""

    model_config = ConfigDict(populate_by_name=True)

    time: float = Field(ge=0, allow_inf_nan=False)
    inplace: bool = False
    wrong: _Wrong = Field(default=None, alias="#wrong")


class _Body(BaseModel):
    time: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    nwrong: float | None = Field(default=None, ge=0)


class _Result(_Size):
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


class _Line(NcclRow):
    """A result of rccl-tests, names in lower case. `ranks` are processes; a build without MPI knows `gpus`."""

    collective: str
    type: str
    inplace: bool
    nodes: int | None = Field(default=None, ge=1)
    ranks: int | None = Field(default=None, ge=1)
    rankspernode: int | None = Field(default=None, ge=1)
    gpusperrank: int = Field(default=1, ge=1)
    gpus: int | None = Field(default=None, ge=1)


def letters(name: str) -> str:
    """`all_reduce`, `AllReduce` → allreduce."""
    return re.sub(r"[^a-z]", "", name.lower())


def program(text: str) -> str:
    """The last nccl-tests program that a text names (`all_reduce` of `all_reduce_perf`), or ""."""
    names = _PROGRAM.findall(text.lower())
    return names[-1] if names else ""


def library(code: int) -> str:
    """NCCL's version number in words: 21903 → NCCL 2.19.3, 2708 → NCCL 2.7.8."""
    unit = 10000 if code >= 10000 else 1000
    return f"NCCL {code // unit}.{code % unit // 100}.{code % 100}"


def add(run: NcclRun, row: NcclRow, where: str, imported: Imported) -> None:
    """The records of a row, or a warning that says why there is none."""
    size_B = _size_B(run, row)
    if row.wrong:
        imported.warn(where, f"left out: nccl-tests found {row.wrong:g} wrong elements in the result")
        return
    if isinstance(size_B, str):
        imported.warn(where, f"left out: {size_B}")
        return
    detail = [
        row.type if row.type != "float" else "",
        row.redop if row.redop not in ("sum", "none", "") else "",
        f"root {row.root}" if row.root > 0 else "",
        f"{run.groups} groups at once" if run.groups > 1 else "",
        "in place" if row.inplace else "",
    ]
    times: list[tuple[StatisticName | None, float, list[float]]] = [(run.statistic, row.time, [])]
    if row.times_us:
        counted = row.times_us[row.skipped_iterations :]
        times.append(("max_over_ranks", median(counted) if counted else 0.0, row.times_us))
    for statistic, time_us, samples_us in times:
        if statistic is None:
            continue
        if not 0 < time_us * 1e-6 <= _csv.LONGEST_S or not all(0 <= sample < math.inf for sample in samples_us):
            imported.warn(where, f"left out: a time of {time_us:g} us is no duration")
            continue
        skipped = row.skipped_iterations if samples_us else 0
        record = Record(
            source="nccl_tests",
            operation=run.operation,
            bytes=size_B,
            mpi=run.library,
            algorithm="default" if run.operation == "sendrecv" else "",
            variant=", ".join(filter(None, detail)),
            verified=None if row.wrong is None else True,
            ranks=run.ranks,
            nodes=run.nodes,
            ppn=run.ppn,
            statistic=statistic,
            value=time_us * 1e-6,
            origin=where,
            samples=[sample * 1e-6 for sample in samples_us],
            disturbed=skipped if samples_us else None,
            disturbed_at=list(range(skipped)),
            batch=1 if samples_us else run.batch,
        )
        run.records.append(record)
        imported.records.append(record)


def _size_B(run: NcclRun, row: NcclRow) -> int | str:
    """Bytes as the project counts them, or why they are unknown."""
    if row.size > _csv.LARGEST:
        return f"{row.size} B is no size of a message"
    if not sizes_are_blocks(run.operation):
        return row.size
    element_B = _csv.ELEMENT_B.get(row.type)
    of_count = row.count * element_B if row.count is not None and element_B else None
    if run.ranks is None:
        return "the size is the whole vector; its block needs --ranks" if of_count is None else of_count
    if row.size % run.ranks or of_count not in (None, row.size // run.ranks):
        return f"a vector of {row.size} B does not fit {run.ranks} ranks and {row.count} elements a block"
    return row.size // run.ranks


def is_file(text: str) -> bool:
    """Whether the text has the words that only the files of nccl-tests and rccl-tests have."""
    start = text.lstrip()[:1]
    if start in ("{", "["):
        return (start == "{" and '"nccl_version"' in text) or ('"busBw"' in text and '"#wrong"' in text)
    return {"redop", "busbw", "size"} <= {name.lower() for name in _csv.header(text)}


def read_file(path: Path, text: str, given: Given) -> Imported:
    """Records of a file of nccl-tests (`-J`, JSON) or rccl-tests (`-x`, JSON or CSV).

    RequestError names the result that is wrong: a file is taken whole or not at all.
    """
    if text.lstrip()[:1] in ("{", "[") and '"nccl_version"' in text:
        return _json(path, _checked(_File, _parsed(path, text), str(path)), given)
    imported = Imported(tool="rccl-tests")
    for where, data in _lines(path, text):
        names = {str(name).lower(): cell for name, cell in data.items()} if isinstance(data, dict) else data
        if isinstance(names, dict):
            names.setdefault("collective", names.get("name", program(path.name)))
        line: _Line = _checked(_Line, names, where)
        run = NcclRun(
            name=line.collective,
            ranks=(line.gpus if line.ranks is None else line.ranks * line.gpusperrank) or given.ranks,
            nodes=line.nodes,
            ppn=None if line.rankspernode is None else line.rankspernode * line.gpusperrank,
        )
        if run.operation:
            add(run, line, where, imported)
        else:
            imported.warn(where, f"left out: {line.collective} is no collective that is imported")
    return imported


def _json(path: Path, file: _File, given: Given) -> Imported:
    arguments = " ".join(file.args[1:])
    imported = Imported(tool="nccl-tests", metadata={"arguments": arguments})
    average = _AVERAGE.search(arguments)
    run = NcclRun(
        name=program(file.args[0] if file.args else "") or given.operation or program(path.name),
        library=library(file.nccl_version) if file.nccl_version else "",
        batch=file.config.iterations * file.config.aggregated_iterations,
        statistic=_STATISTICS[int(average[1]) if average else 1],
    )
    run.place((device.group, number, device.hostname) for number, device in enumerate(file.config.devices))
    run.ranks = run.ranks or given.ranks
    if run.why_not():
        imported.not_imported.append(f"{path}: {run.name or 'nccl-tests'} is not imported: {run.why_not()}")
        return imported
    if average and run.statistic is None:
        imported.warn(str(path), f"-a {average[1]} is the time of one rank, not imported")
    for number, result in enumerate(file.results, 1):
        size = {name: getattr(result, name) for name in _Size.model_fields}
        for body, single in (
            (result.out_of_place, result.out_of_place_per_iter),
            (result.in_place, result.in_place_per_iter),
        ):
            where = f"{path}, result {number}"
            if body and body.time is not None:
                more = {"time": body.time, "wrong": body.nwrong, "inplace": body is result.in_place}
                add(run, NcclRow.model_validate({**size, **dict(single), **more}), where, imported)
            elif body:
                imported.warn(where, "left out: no time of the operation (-C 1 is that of the CPU)")
    return imported


def _lines(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    """Results of rccl-tests with their places: a list, a line of JSON each, or CSV.

    Builds with MPI forgot `nodes` in the CSV's header until ROCm/rocm-systems pull 6004 (2026).
    """
    start = text.lstrip()[:1]
    if start == "[":
        yield from ((f"{path}, result {n}", data) for n, data in enumerate(_parsed(path, text), 1))
    elif start == "{":
        lines = enumerate(text.split("\n"), 1)
        yield from ((f"{path}:{n}", _parsed(path, line, n)) for n, line in lines if line.strip())
    else:
        names, _, rest = text.lstrip().partition("\n")
        fields = len(_csv.header(rest.partition("\n")[0]))
        if "nodes" not in names and ",ranks," in names and fields == len(_csv.header(names)) + 1:
            names = names.replace(",ranks,", ",nodes,ranks,")
        for where, row in _csv.rows(path, f"{names}\n{rest}", ()):
            yield where, {name: cell for name, cell in row.items() if cell}


def _parsed(path: Path, text: str, line: int = 1) -> Any:
    return reading.parsed(text, str(path), "restore the file; a run that was cut leaves half", line=line)


def _checked(model: type[BaseModel], data: Any, where: str) -> Any:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        name, hint = ".".join(map(str, first["loc"])), "restore the file, or remove that result"
        raise RequestError(f"{where}: {name} {first['input']!r:.40}: {first['msg']}", hint) from None
