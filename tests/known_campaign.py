"""A campaign whose truth is known: 2 µs + n / 1 GB/s, two variants, two launches, a name full of HTML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.factories import regime

from hockney.machine.file import Entry, Measurements, Point
from hockney.models.base import Fit
from hockney.records.folder import Campaign
from hockney.records.journal import LaunchLine
from hockney.records.record import Record
from hockney.report.curves import MessageCurve

SIZES = (0, *(2**power for power in range(21)))
EVIL = "<b>n1</b> & 'co' \"x\""


def truth(size: int) -> float:
    """Seconds of one message."""
    return 2e-6 + size / 1e9


def _launch(identifier: str, index: int, variant: str) -> LaunchLine:
    ranks = [
        {
            "rank": rank, "host": EVIL, "cpu": rank, "affinity": [rank], "package": 0, "numa": 0, "core": rank,
            "siblings": [rank],
            "caches": [
                {"level": 1, "type": "Data", "size_B": 32768, "shared": [rank]},
                {"level": 1, "type": "Instruction", "size_B": 65536, "shared": [rank]},
                {"level": 3, "type": "Unified", "size_B": 2**25, "shared": [0, 1]},
            ],
        }
        for rank in (0, 1)
    ]  # fmt: skip
    line = {
        "id": identifier, "index": index, "time": f"2026-11-20T22:3{index}:00Z", "variant": variant,
        "argv": ["mpirun", "-n", "2", "runner", "a b"], "environment": {"OMPI_X": "<1>"}, "mapping": "core",
        "mpi": {"kind": "openmpi", "version": "5.0.11", "library": "Open MPI v5.0.11 <script>alert(1)</script>"},
        "settings": {"pml": "ob1"}, "eager_limit_B": {"shared_memory": 4096}, "ranks": ranks, "bind_to": "core",
        "hosts": [{"host": EVIL, "kernel": "6.1", "cpu_model": "EPYC", "governor": "", "cpus": 2}],
        "warnings": ["no governor <found>"], "clock_granularity_s": 3e-8,
    }  # fmt: skip
    return LaunchLine.model_validate(line)


def _record(size: int, **other: Any) -> Record:
    """A measurement of ours; `scale` multiplies the true time."""
    value = other.pop("scale", 1.0) * truth(size)
    fields = {
        "source": "hockney", "operation": "pingpong", "bytes": size, "statistic": "one_way", "value": value,
        "low": 0.995 * value, "high": 1.005 * value, "system": EVIL, "locality": "cache", "cache": "warm",
        "variant": "default", "pair": "0-1", "ranks": 2, "samples": [value] * 20, "batch": 10, "disturbed": 0,
        "stop": "interval", "verified": True, "launch": "a", "oversubscribed": False,
    }  # fmt: skip
    return Record.model_validate(fields | other)


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`default` in two launches that agree, `tcp` five times as slow, and `bidirectional`. Not to be changed."""
    made = Campaign.create(tmp_path_factory.mktemp("campaign") / "demo", {})
    made.append(_launch("a", 0, "default"))
    made.append(_launch("b", 1, "default"))
    made.append(_launch("c", 2, "<tcp>"))
    for size in SIZES:
        made.append(_record(size))
        made.append(_record(size, repetition=1, launch="b"))
        made.append(_record(size, scale=5, variant="<tcp>", launch="c"))
        if size:
            made.append(_record(size, operation="bidirectional", window=64))
    return made.path


def _line(alpha_s: float, beta_s_per_B: float) -> Fit:
    """A model that is one line."""
    return Fit(model="line", nonphysical=alpha_s < 0, regimes=[regime(alpha_s, beta_s_per_B)])


@pytest.fixture
def curve() -> Callable[..., MessageCurve]:
    """Make a curve of points (size, time in s, low, high) and fits, all else optional."""

    def make(points: list[tuple[Any, ...]], fits: dict[str, Fit] | None = None, **other: Any) -> MessageCurve:
        measured = [
            Point(
                size_B=p[0], time_s=p[1], low_s=p[2] if len(p) > 2 else None, high_s=p[3] if len(p) > 3 else None
            )
            for p in points
        ]
        entry = Entry.model_validate(
            {"operation": "pingpong", "locality": "cache"}
            | other
            | {"fits": fits or {}, "measurements": Measurements(campaign="x", launches=["a"], points=measured)}
        )
        return MessageCurve("name", "label", entry)

    return make


@pytest.fixture(scope="session")
def line() -> Callable[[float, float], Fit]:
    """Make a model that is one line: (α in s, β in s/B)."""
    return _line


@pytest.fixture(scope="session")
def record() -> Callable[..., Record]:
    """Make a record of ours: (size, fields that differ, `scale` of the true time)."""
    return _record


@pytest.fixture(scope="session")
def launch() -> Callable[..., LaunchLine]:
    """Make a line of launches.jsonl: (id, index, variant)."""
    return _launch
