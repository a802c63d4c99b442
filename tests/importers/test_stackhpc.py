"""Every file of the shared StackHPC measurements, against counts made from the raw lines."""

from __future__ import annotations

import re
from collections import Counter
from operator import attrgetter
from pathlib import Path

import pytest
from tests.capabilities import shared

from hockney.importers import _collect
from hockney.importers.base import Given
from hockney.records.columns import RECORD

_REPOSITORY = Path(__file__).parents[2]
_ROW = re.compile(r"^ *\d+( +\d+)?( +\d+\.\d\d)( +\d+\.\d\d| +\d+)?$")


@pytest.fixture(scope="module")
def stackhpc() -> Path:
    return shared("stackhpc")


@pytest.fixture(scope="module")
def collection(stackhpc: Path) -> _collect.Collection:
    return _collect.collect([stackhpc], Given())


def expected_records(path: Path) -> int:
    """By test, as the folder names it: one value a row, or two where rates stand beside each other."""
    rows = [line for line in path.read_text().split("\n") if _ROW.match(line)]
    name = path.parent.name
    if name.startswith(("IMB_Uniband", "IMB_Biband")):
        return sum(1 if line.split()[0] == "0" else 2 for line in rows)
    return len(rows) * (2 if name.startswith("Osu_mbw_mr") else 1)


def test_every_result_is_read(stackhpc: Path, collection: _collect.Collection) -> None:
    outputs = [p for p in stackhpc.rglob("*.out") if p.parent.name != "Sysinfo"]
    assert {file.path: len(records) for file, records in collection.by_file()} == {
        path: expected_records(path) for path in outputs
    }
    # Nothing is left out, but files of one number of ranks that were launched in different ways are asked about.
    said = [text for file in collection.files for text in file.content.left_out()]
    assert all("were they measured alike?" in text and "IMB_Biband" in text for text in said)


def test_the_rest_is_named(stackhpc: Path, collection: _collect.Collection) -> None:
    others = [
        p for p in stackhpc.rglob("*") if p.is_file() and (p.suffix != ".out" or p.parent.name == "Sysinfo")
    ]
    assert sorted(file for file, _ in collection.skipped) == sorted(map(str, others))


def test_four_configurations(stackhpc: Path, collection: _collect.Collection) -> None:
    configurations = {p.name for p in (stackhpc / "alaska").iterdir()}
    assert len(configurations) == 4
    for file, records in collection.by_file():
        own = file.path.relative_to(stackhpc / "alaska").parts[0]
        assert {record.variant.partition(", ")[0] for record in records} == {own}
    assert {record.variant.partition(", ")[0] for record in collection.records} == configurations


def test_each_point_once_per_repetition(collection: _collect.Collection) -> None:
    points = Counter(attrgetter(*RECORD, "repetition")(record) for record in collection.records)
    assert set(points.values()) == {1}


def test_measured_twice(collection: _collect.Collection) -> None:
    """README of the data: IMB_Uniband_2 and __1 are one configuration; 485.7 and 456.5 MB/s at 64 B."""
    found = {
        (file.path.parent.name, r.repetition): r.value
        for file, records in collection.by_file()
        if file.path.parent.name in ("IMB_Uniband_2", "IMB_Uniband__1")
        for r in records
        if (r.bytes, r.statistic, r.variant) == (64, "bandwidth_B_per_s", "ib-gcc9-openmpi4-ucx")
    }
    # The README prints one decimal.
    assert found == {
        ("IMB_Uniband_2", 0): pytest.approx(485.7e6, abs=0.06e6),
        ("IMB_Uniband__1", 1): pytest.approx(456.5e6, abs=0.06e6),
    }


def test_tables_inside_a_node_stay_apart(collection: _collect.Collection) -> None:
    """README of the data: 32 of 64 ranks give 121 GB/s at 64 KiB over a link of 12.5, all 64 give 11.8."""
    found = {
        r.variant: r.value
        for file, records in collection.by_file()
        if file.path.parent.name == "IMB_Uniband_1_0"
        for r in records
        if (r.bytes, r.statistic) == (65536, "bandwidth_B_per_s")
        and (r.variant.startswith("ib-gcc9-openmpi4-ucx"))
        and r.ranks in (32, 64)
    }
    assert found == {
        "ib-gcc9-openmpi4-ucx, 32 of 64 ranks": pytest.approx(121e9, abs=0.6e9),
        "ib-gcc9-openmpi4-ucx": pytest.approx(11.8e9, abs=0.06e9),
    }
