"""Models of collectives in a machine file: which there are, what they carry, and how they are read."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.factories import not_none, written

from hockney.errors import RequestError
from hockney.machine import collectives
from hockney.machine.build import build
from hockney.machine.file import dumps, load, loads, save
from hockney.report.views.sections import quality_lines

MOST_POINTS = 100

HEAD = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition,low_us,high_us"


def table(
    path: Path,
    *,
    ranks: tuple[int, ...] = (2, 4, 8, 16),
    sizes: tuple[int, ...] = (8, 64, 512, 4096),
    algorithms: tuple[str, ...] = ("default", "binomial"),
    mappings: tuple[str, ...] = ("core",),
) -> Path:
    """Broadcasts of log₂P rounds of 1 µs + 1 ns a byte; the default takes 2 µs more. Collectives alone."""
    rows = [HEAD]
    for algorithm, mapping, count, size_B in product(algorithms, mappings, ranks, sizes):
        time = np.log2(count) * (1 + size_B / 1000) + (2 if algorithm == "default" else 0)
        where = f"{mapping},1,{count},{count},{size_B}"
        rows.append(f"s,m,bcast,{algorithm},{where},completion,{time},0,{time * 0.98},{time * 1.02}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_a_table_of_collectives_alone_has_a_model_of_each_algorithm_and_placement(tmp_path: Path) -> None:
    machine = build(table(tmp_path / "t.csv", mappings=("core", "node")))
    assert not machine.point_to_point
    named = {(model.operation, model.name, model.mapping) for model in machine.collectives}
    assert named == {("bcast", name, place) for name in ("default", "binomial") for place in ("core", "node")}
    for model in machine.collectives:
        assert model.statistic == "completion"
        assert model.launches == 1
        extra_s = 0.0 if model.algorithm else 2e-6
        # The law is a sum of the candidates.
        assert model.time_s(8, 100) == pytest.approx(3 * 1.1e-6 + extra_s, rel=1e-4)
        assert model.time_s(32, 100) is None
        assert all(model.views.of(view) for view in ("asymptotic", "dominant", "exact"))


def test_what_was_written_is_read_and_written_alike(tmp_path: Path) -> None:
    machine = build(table(tmp_path / "t.csv"))
    save(machine, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert again == machine
    text = (tmp_path / "m.json").read_text(encoding="utf-8")
    assert dumps(again) == text
    # A point is one line of the file.
    points = sum(len(model.points) for model in machine.collectives)
    assert sum(line.strip().startswith('{"ranks"') for line in text.splitlines()) == points


def test_a_file_of_an_older_version_is_read(tmp_path: Path) -> None:
    data = json.loads(dumps(build(table(tmp_path / "t.csv"))))
    new = ("mapping", "other", "segment_B", "radix", "statistic", "quality", "launches", "oversubscribed")
    old = [{name: value for name, value in model.items() if name not in new} for model in data["collectives"]]
    for model in old:
        model["points"] = []
        for term in (term for regime in model["regimes"] for term in regime["terms"]):
            del term["counts"]
            term["growth"] = "1"
    text = json.dumps({**data, "schema_version": 3, "collectives": old})
    assert [model.is_fitted for model in loads(text, Path("old.json")).collectives] == [False, False]


def test_many_points_are_thinned_and_the_model_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collectives, "MOST_POINTS", MOST_POINTS)
    many = tuple(range(2, 2 + MOST_POINTS // 2))
    machine = build(table(tmp_path / "t.csv", ranks=many, algorithms=("default",)))
    (model,) = machine.collectives
    assert len(model.points) <= MOST_POINTS + 4
    assert {row["ranks"] for row in model.points} >= {many[0], many[-1]}
    assert not_none(model.quality).points == 4 * len(many)
    assert any(f"{4 * len(many)} points ({len(model.points)} of them" in line for line in quality_lines(model))


def test_what_was_thinned_out_is_not_contradicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times that swing by a quarter over 19 ranks, of which every sixth number is kept."""
    monkeypatch.setattr(collectives, "MOST_POINTS", MOST_POINTS)
    rows, lot = [HEAD], np.random.default_rng(3)
    for count, size_B in product(range(2, 129), (8, 64, 512, 4096)):
        time = (2 + np.log2(count) + size_B / 1000) * np.exp(np.sin(count / 3) / 4 + 0.01 * lot.normal())
        where = f"core,1,{count},{count},{size_B}"
        rows.append(f"s,m,bcast,default,{where},completion,{time},0,{time * 0.98},{time * 1.02}")
    path = written(tmp_path / "t.csv", "\n".join(rows) + "\n")
    (thin,) = build(path).collectives
    monkeypatch.setattr(collectives, "MOST_POINTS", len(rows))
    (full,) = build(path).collectives
    kept = {row["ranks"] for row in thin.points}
    dropped = np.array(
        [[row[name] for name in ("ranks", "bytes", "time_s")] for row in full.points if row["ranks"] not in kept],
        dtype=np.float64,
    ).T
    assert dropped.shape[1] > 400
    found = thin.predicted(dropped[0], dropped[1])
    # 95 % are meant; of those near a kept number of ranks a few more lie outside.
    assert np.mean((found.low_s <= dropped[2]) & (dropped[2] <= found.high_s)) > 0.9


def test_points_that_are_too_few_leave_a_note(tmp_path: Path) -> None:
    (model,) = build(table(tmp_path / "t.csv", ranks=(2,), sizes=(8, 64), algorithms=("default",))).collectives
    assert not model.regimes
    assert "too few" in model.notes[0]


@pytest.mark.parametrize(
    ("field", "value"), [("max_B", None), ("max_B", 1.0)], ids=["no end", "an end before its beginning"]
)
def test_a_damaged_model_is_refused(tmp_path: Path, field: str, value: float | None) -> None:
    data = json.loads(dumps(build(table(tmp_path / "t.csv"))))
    regimes = data["collectives"][0]["regimes"]
    regimes.append({**regimes[-1], "min_B": regimes[-1]["max_B"]})
    regimes[-1][field] = value
    with pytest.raises(RequestError, match=r"collectives\.0\.regimes\.1"):
        loads(json.dumps(data), Path("m.json"))


@pytest.mark.parametrize(("repetitions", "has_interval"), [(1, False), (2, True), (6, True)])
def test_a_point_has_the_range_of_its_repetitions_and_a_single_time_none(
    tmp_path: Path, repetitions: int, has_interval: bool
) -> None:
    rows = [HEAD.removesuffix(",low_us,high_us")]
    for count, size_B, repetition in product((2, 4, 8, 16), (8, 64, 512), range(repetitions)):
        time = (np.log2(count) + size_B / 1000) * (1 + repetition / 100)
        rows.append(f"s,m,bcast,default,core,1,{count},{count},{size_B},completion,{time},{repetition}")
    path = written(tmp_path / "t.csv", "\n".join(rows) + "\n")
    (model,) = build(path).collectives
    assert {row.get("low_s") is not None for row in model.points} == {has_interval}
    assert {row.get("high_s") is not None for row in model.points} == {has_interval}


def test_launches_are_those_of_the_same_configuration(tmp_path: Path) -> None:
    """Of one library there is one repetition, of the other there are three; segments were tried twice."""
    path = table(tmp_path / "t.csv", algorithms=("binomial",))
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    more = [row.replace(",m,", ",n,").replace(",0,", f",{number},") for row in rows for number in range(3)]
    cut = [row.replace(",0,", f",{number},") + ",1024" for row in rows for number in (5, 6)]
    lines = [f"{head},segment_bytes", *(f"{row}," for row in (*rows, *more)), *cut]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {(model.other["mpi"], model.segment_B): model.launches for model in build(path).collectives}
    assert found == {("m", 0): 1, ("n", 0): 3, ("m", 1024): 2}
