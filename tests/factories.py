"""What tests are made of: records, visits between references, campaigns, rows of tables, a verb to run.

Each has what most tests want, and takes what a test is about as keywords.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import pandas as pd
import pytest
from tests.command_line import Run

from hockney._core import CostCurves
from hockney.apps.pinning.answer import PinningAnswer
from hockney.errors import HockneyError, RequestError
from hockney.machine.file import Machine, load
from hockney.machine.node_topology import NodeTopology
from hockney.models.base import Parameter, Regime
from hockney.predict.costs import LoggopsParameters
from hockney.predict.estimators.base import Training
from hockney.predict.place import Place
from hockney.predict.points import points
from hockney.records import table
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign
from hockney.records.journal import LaunchLine
from hockney.records.record import Record

T = TypeVar("T")
VERSION_1 = Path(__file__).parent / "machine" / "data" / "version1.json"
"""A machine file of the first version: one host, two packages, two variants."""


def record(size_B: int = 8, time_s: float = 1e-6, *, within: float | None = None, **fields: Any) -> Record:
    """A ping-pong of ours that took `time_s`; `within`: a share of it to both sides that its interval reaches."""
    interval = {} if within is None else {"low": (1 - within) * time_s, "high": (1 + within) * time_s}
    message = {"source": "hockney", "operation": "pingpong", "statistic": "one_way"}
    return Record.model_validate({**message, "bytes": size_B, "value": time_s, **interval, **fields})


def collective(size_B: int = 8, time_s: float = 1e-6, **fields: Any) -> Record:
    """A broadcast of ours, as `record` has it."""
    return record(size_B, time_s, **{"operation": "bcast", "statistic": "completion", **fields})


def references(
    reference_s: float | Sequence[float], groups: int, each: int, spread: float = 0.01
) -> dict[str, Any]:
    """The fields of a visit of groups of so many samples, each group between two references.

    `spread`: the interquartile range of a reference, as a share of it.
    """
    several = [reference_s] * (groups + 1) if isinstance(reference_s, float) else [*reference_s]
    return {
        "reference_s": several,
        "reference_iqr_s": [spread * value_s for value_s in several],
        "group_begins": list(range(0, groups * each, each)),
    }


def campaign(
    folder: Path,
    records: Iterable[Record] = (),
    *launches: Mapping[str, Any],
    plan: Mapping[str, Any] | None = None,
    with_table: bool = False,
) -> Path:
    """The folder of a campaign that has these; `with_table`: and the tidy table of them."""
    stored = Campaign.create(folder, plan or {})
    stored.append_all(records)
    for launch in launches:
        stored.append(LaunchLine.model_validate(launch))
    if with_table:
        table.write(table.from_records(stored.records(), stored.launches()), stored.table)
    return folder


def messages(alpha_s: float = 2e-6, rate_B_per_s: float = 1e9, most_B: int = 1024, **fields: Any) -> list[Record]:
    """Ping-pongs of α + n/rate of 0 bytes and of each power of two, as `record` has them."""
    sizes = (0, *(2**power for power in range(most_B.bit_length())))
    return [record(size_B, alpha_s + size_B / rate_B_per_s, **fields) for size_B in sizes]


def row(size_B: int = 8, ranks: int = 2, time_s: float = 1e-6, **columns: Any) -> dict[str, Any]:
    """A row of a tidy table, of a broadcast on one node; `within` as of a record."""
    within = columns.pop("within", None)
    interval = {} if within is None else {"low_s": (1 - within) * time_s, "high_s": (1 + within) * time_s}
    return {
        "system": "s", "mpi": "m", "operation": "bcast", "algorithm": "default", "mapping": "core", "nodes": 1,
        "ppn": ranks, "ranks": ranks, "bytes": size_B, "statistic": "completion", "time_s": time_s,
        "repetition": 0, **interval, **columns,
    }  # fmt: skip


def frame(rows: Iterable[Mapping[str, Any]], path: Path | None = None) -> pd.DataFrame:
    """A tidy table of rows, also in a file where a path is given."""
    made = pd.DataFrame([dict(each) for each in rows])
    if path is not None:
        table.write(made, path)
    return made


EVIL = "<b>n1</b> & 'co' \"x\""
"""A name that a page has to escape."""


def app_run(operation: str, ranks: int, time_s: float, **fields: Any) -> AppRecord:
    """A run of an application with eight repetitions."""
    known = {
        "operation": operation, "ranks": ranks, "parameters": {}, "time_s": time_s, "low_s": 0.98 * time_s,
        "high_s": 1.02 * time_s, "samples_s": [time_s] * 8, "answer": {}, "system": EVIL, "mapping": "core",
        "variant": "default", "nodes": 1, "ppn": ranks, "oversubscribed": False, "launch": "a",
    }  # fmt: skip
    return AppRecord.model_validate(known | fields)


def jacobi_run(ranks: int, time_s: float = 1e-3, compute_s: float = 4e-4, **fields: Any) -> AppRecord:
    """Ten sweeps of 8³ cells on 1x1xranks that are neither packed nor computed for longer than `compute_s`."""
    asked = {
        "nx": 8, "ny": 8, "nz": 8, "px": 1, "py": 1, "pz": ranks, "halo": "nonblocking", "faces": "datatype",
        "iterations": 10, "compute": 1,
    } | fields.pop("parameters", {})  # fmt: skip
    answer = {
        "mlups": 8**3 * 10 / time_s / 1e6, "compute_s": [compute_s] * ranks, "pack_s": [0.0] * ranks,
        "wait_s": [time_s - compute_s] * ranks, "halo_B": [512] * ranks, "verified": True,
    } | fields.pop("answer", {})  # fmt: skip
    return app_run("jacobi", ranks, time_s, parameters=asked, answer=answer, **fields)


def ring_run(ranks: int, time_s: float = 1e-5, exchange: str = "sendrecv", **fields: Any) -> AppRecord:
    """A ring in the order of its ranks."""
    asked = {"exchange": exchange, "topology": "world", "iterations": 0}
    answer = {"positions": list(range(ranks)), "cycles": 100, "verified": True}
    return app_run("ring", ranks, time_s, parameters=asked, answer=answer, **fields)


def pinning_answer(
    node: NodeTopology, *ranks: Sequence[tuple[Sequence[int], Sequence[int]]], openmp: bool = True
) -> PinningAnswer:
    """Of the threads of each rank the CPUs of a node that they may use, and those they were seen on."""
    threads = [
        [
            {
                "thread": number, "allowed": allowed, "cpus": cpus, "looks": [5] * len(cpus),
                "migrations": max(0, len(cpus) - 1), "processor_s": 1.0, "passed_s": 2.0,
            }
            for number, (allowed, cpus) in enumerate(of_rank)
        ]
        for of_rank in ranks
    ]  # fmt: skip
    shared = {"host": "a", "machine": "m", "environment": {}}
    of_ranks = [
        {
            "rank": rank,
            **shared,
            "launched": sorted({cpu for allowed, _ in ranks[rank] for cpu in allowed}),
            "threads": own,
        }
        for rank, own in enumerate(threads)
    ]
    hosts = [{"host": "a", "first_rank": 0, "cpus": [vars(cpu) for cpu in node.cpus]}]
    return PinningAnswer.model_validate({"openmp": openmp, "hosts": hosts, "ranks": of_ranks})


def regime(
    alpha_s: float, beta_s_per_B: float = 0.0, min_B: float = 0, max_B: float | None = None, label: str = ""
) -> Regime:
    """A regime of a fit, α + βn between two sizes, without intervals."""
    alpha = Parameter(value=alpha_s, unit="s")
    beta = Parameter(value=beta_s_per_B, unit="s/B")
    return Regime(min_B=min_B, max_B=max_B, alpha_s=alpha, beta_s_per_B=beta, label=label)


def draws(many: int) -> int:
    """How many samples of noise a test draws: so many where everything is tested, else two fifths."""
    return many if "HOCKNEY_TEST_ALL" in os.environ else 2 * many // 5


def version_1() -> Machine:
    """`VERSION_1`, loaded."""
    return load(VERSION_1)


def verb(*words: str, columns: int | None = None) -> Any:
    """A fixture that runs the verb in an empty folder, `tmp_path`, on a terminal so many columns wide."""

    @pytest.fixture
    def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
        monkeypatch.chdir(tmp_path)
        if columns is not None:
            monkeypatch.setenv("COLUMNS", str(columns))
        return Run(*words)

    return run


def on_nodes(
    ranks: int, ppn: int = 1, torus: tuple[int, ...] = (), tree: tuple[tuple[int, int], ...] = ()
) -> Place:
    """The first ranks on the first node; `tree`: (children, uplinks) of the switches of each level."""
    node = (np.arange(ranks) // ppn).astype(np.int32)
    return Place.of_nodes(node, ppn, torus, tuple(below for below, _ in tree), tuple(up for _, up in tree))


def loggp(**parameters: Any) -> CostCurves:
    """Costs in the form that the core reads, the same for all messages."""
    return LoggopsParameters(**parameters).at([0]).curves()


def training(frame: pd.DataFrame, operation: str = "bcast", statistic: str = "mean_over_ranks") -> Training:
    """What an estimator learns from all points of a tidy table, without ping-pongs and a system."""
    return Training(points(frame, operation).frame, frame[:0], None, operation, statistic)


def not_none(value: T | None) -> T:
    """The value; a test without one fails here."""
    assert value is not None
    return value


class Interval(Protocol):
    """What has two ends, or none."""

    @property
    def low(self) -> float | None:
        """The lower one."""

    @property
    def high(self) -> float | None:
        """The upper one."""


def ends(interval: Interval) -> tuple[float, float]:
    """The ends of an interval, which there are."""
    return not_none(interval.low), not_none(interval.high)


def holds(interval: Interval, value: float) -> bool:
    """Whether a value lies in an interval, which there is."""
    low, high = ends(interval)
    return low <= value <= high


def written(path: Path, text: str) -> Path:
    """The path of a file that has this text."""
    path.write_text(text, encoding="utf-8")
    return path


@contextmanager
def refusing(message: str, *hints: str, kind: type[HockneyError] = RequestError) -> Iterator[None]:
    """What is inside is refused; the message matches the pattern (empty: any), the hint has these words."""
    with pytest.raises(kind, match=message or None) as caught:
        yield
    for hint in hints:
        assert hint in caught.value.hint
