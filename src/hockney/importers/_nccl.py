"""What nccl-tests measures, whichever way it is written down: from one row of a run to records.

Read in its sources (src/*.cu, common.cu): `size` is the larger of the send and the receive buffer, so the whole
vector of all_gather, reduce_scatter, alltoall, gather and scatter, and `count` is then the elements of one
block; `time` is the mean over the iterations, and over the processes unless `-a` asked otherwise.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from hockney.importers._csv import LARGEST, LONGEST_S
from hockney.importers.base import Imported
from hockney.records.keys import sizes_are_blocks
from hockney.records.record import Record
from hockney.records.statistic import StatisticName

OPERATIONS = {
    "allreduce": "allreduce",
    "allgather": "allgather",
    "reducescatter": "reduce_scatter",
    "broadcast": "bcast",
    "reduce": "reduce",
    "alltoall": "alltoall",
    "gather": "gather",
    "scatter": "scatter",
    "sendrecv": "sendrecv",
}
"""Keys are names of programs or collectives, letters only."""
_ELEMENT_B = {
    **dict.fromkeys(("int8", "uint8", "char", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"), 1),
    **dict.fromkeys(("half", "bfloat16"), 2),
    **dict.fromkeys(("float", "int32", "uint32", "int"), 4),
    **dict.fromkeys(("double", "int64", "uint64"), 8),
}
_PROGRAM = re.compile(r"([a-z_]+?)_perf(?:_mpi)?\b")


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

    def operation(self) -> str | None:
        """The operation in Hockney's words; None for a program that is unknown or not imported."""
        return OPERATIONS.get(letters(self.name))

    def place(self, devices: Iterable[tuple[int, str]]) -> None:
        """Ranks and nodes from the (group, host) of every device."""
        places = list(devices)
        if not places:
            return
        groups = Counter(group for group, _ in places)
        hosts = Counter(host for _, host in places)
        self.ranks, self.groups = max(groups.values()), len(groups)
        if len(groups) == 1:
            self.nodes, self.ppn = len(hosts), max(hosts.values())


@dataclass(frozen=True)
class NcclRow:
    """One size, out of place or in place. `wrong` is None where results were not checked."""

    size_B: int
    time_us: float
    in_place: bool
    count: int | None = None
    datatype: str = "float"
    redop: str = "sum"
    root: int = -1
    wrong: float | None = None
    iterations_us: tuple[float, ...] = ()
    skipped: int = 0


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
    if row.wrong:
        imported.warn(where, f"left out: nccl-tests found {row.wrong:g} wrong elements in the result")
        return
    size, reason = _size(run, row)
    if size is None:
        imported.warn(where, f"left out: {reason}")
        return
    operation = run.operation() or ""
    detail = [
        row.datatype if row.datatype != "float" else "",
        row.redop if row.redop not in ("sum", "none", "") else "",
        f"root {row.root}" if row.root > 0 else "",
        f"{run.groups} groups at once" if run.groups > 1 else "",
        "in place" if row.in_place else "",
    ]
    times: list[tuple[StatisticName | None, float, list[float]]] = [(run.statistic, row.time_us, [])]
    if row.iterations_us:
        counted = row.iterations_us[row.skipped :]
        times.append(("max_over_ranks", median(counted) if counted else 0.0, list(row.iterations_us)))
    for statistic, time_us, samples_us in times:
        if statistic is None:
            continue
        if not 0 < time_us * 1e-6 <= LONGEST_S or not all(0 <= sample < math.inf for sample in samples_us):
            imported.warn(where, f"left out: a time of {time_us:g} us is no duration")
            continue
        record = Record(
            source="nccl_tests",
            operation=operation,
            bytes=size,
            mpi=run.library,
            algorithm="default" if operation == "sendrecv" else "",
            variant=", ".join(filter(None, detail)),
            verified=None if row.wrong is None else True,
            ranks=run.ranks,
            nodes=run.nodes,
            ppn=run.ppn,
            statistic=statistic,
            value=time_us * 1e-6,
            origin=where,
            samples=[sample * 1e-6 for sample in samples_us],
            disturbed=row.skipped if samples_us else None,
            disturbed_at=list(range(row.skipped)) if samples_us else [],
            batch=1 if samples_us else run.batch,
        )
        run.records.append(record)
        imported.records.append(record)


def _size(run: NcclRun, row: NcclRow) -> tuple[int | None, str]:
    """Bytes as the project counts them, or why they are unknown."""
    if row.size_B > LARGEST:
        return None, f"{row.size_B} B is no size of a message"
    if not sizes_are_blocks(run.operation() or ""):
        return row.size_B, ""
    element_B = _ELEMENT_B.get(row.datatype)
    of_count = row.count * element_B if row.count is not None and element_B else None
    if run.ranks is None:
        return of_count, "the size is the whole vector; its block needs --ranks"
    if row.size_B % run.ranks or of_count not in (None, row.size_B // run.ranks):
        return None, f"a vector of {row.size_B} B does not fit {run.ranks} ranks and {row.count} elements a block"
    return row.size_B // run.ranks, ""
