"""What a table comes to is kept: another question of it calibrates nothing, and has the same answer."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path

import pytest

from hockney.errors import RequestError
from hockney.predict.estimators._fitting import CalibratedFit
from hockney.predict.every_algorithm import predict_collective
from hockney.predict.options import CollectiveCase

RANKS, SIZES_B = (2, 4, 8, 16), (8, 512, 32768)
HEAD = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition,source"
OF_A_VERSION = "a default of its version"
TABLES = {
    "named": ("Open MPI 4.1.5", ("tuned:binomial", "tuned:linear"), "node"),
    OF_A_VERSION: ("Open MPI 4.1.5", ("tuned:binomial", "default"), "node"),
    "a default of its times": ("", ("binomial", "default"), "node"),
    "no schedule": ("MPI of nobody", ("secret",), ""),
}


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.thorough] * (name == OF_A_VERSION)) for name in TABLES]
)
def table(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Broadcasts of some algorithms, on nodes with a rank each."""
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    mpi, algorithms, mapping = TABLES[request.param]
    rows = [HEAD]
    for number, algorithm in enumerate(algorithms):
        for ranks, size_B in product(RANKS, SIZES_B):
            time_us = (1 + number / 8) * (ranks.bit_length() - 1) * (1 + size_B / 1000)
            rows.append(
                f"s,{mpi},bcast,{algorithm},{mapping},{ranks},1,{ranks},{size_B},completion,{time_us},0,osu"
            )
    path = tmp_path / "table.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def answer(table: Path, ranks: int, size_B: int, system: str = "") -> str:
    place = {"system": system, "mapping": "node", "ppn": 1} if system else {"ppn": 1}
    asked = {"operation": "bcast", "ranks": ranks, "sizes_B": [size_B], "table": table, **place}
    return repr(predict_collective(CollectiveCase.model_validate(asked)))


class CalibratedAgain(Exception):
    """What is kept would have been enough."""


def refuse(_: CalibratedFit, _of: object) -> None:
    raise CalibratedAgain


def test_another_question_of_a_table_calibrates_nothing(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = answer(table, 64, 2**20)
    assert "time_s=None" not in alone
    shutil.rmtree(table.parent / "cache")
    answer(table, 16, 100)
    monkeypatch.setattr(CalibratedFit, "run", refuse)
    assert answer(table, 64, 2**20) == alone


@pytest.mark.parametrize("table", ["named"], indirect=True)
def test_another_table_or_system_is_another(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(table, 8, 1024)
    monkeypatch.setattr(CalibratedFit, "run", refuse)
    with pytest.raises(CalibratedAgain):
        answer(table, 8, 1024, system="orfeo-epyc")
    table.write_text(table.read_text(encoding="utf-8").replace("1.008", "1.009"), encoding="utf-8")
    with pytest.raises(CalibratedAgain):
        answer(table, 8, 1024)


@pytest.mark.parametrize("table", ["named"], indirect=True)
def test_a_damaged_table_is_learned_again(table: Path) -> None:
    before = answer(table, 8, 1024)
    for file in (table.parent / "cache" / "computed").iterdir():
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    assert answer(table, 8, 1024) == before


@pytest.mark.parametrize("table", ["named"], indirect=True)
def test_errors_on_more_ranks_are_for_whom_asks_there(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CalibratedFit, "growth", refuse)
    answer(table, 16, 1024)
    with pytest.raises(CalibratedAgain):
        answer(table, 17, 1024)


def test_a_machine_beside_a_table_is_refused() -> None:
    case = CollectiveCase(operation="bcast", ranks=8, table=Path("table.csv"), machine=Path("machine.json"))
    with pytest.raises(RequestError, match="--machine means nothing with --table"):
        predict_collective(case)
