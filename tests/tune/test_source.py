"""What a tuning takes of a campaign: times of one level of the machine, of the library that is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import outcome, succeeded
from tests.factories import collective

from hockney.errors import RequestError
from hockney.records.contents import Contents
from hockney.records.record import Record
from hockney.records.table import rows_of
from hockney.records.visits import Settled
from hockney.runner.mpi import Mpi
from hockney.tune import source
from hockney.tune.source import MeasuredSource

OPENMPI = "Open MPI 5.0.11"


def record(algorithm: str, time_s: float, **other: object) -> Record:
    """A broadcast of 1 KiB on 4 ranks, known to 1 %."""
    fields = {
        "algorithm": algorithm, "ranks": 4, "system": "planted", "mpi": OPENMPI, "variant": "default",
        "cache": "warm", "verified": True, "mapping": "node", "samples": [time_s] * 20,
    }  # fmt: skip
    return collective(1024, time_s, within=0.01, **fields | other)


def planted(monkeypatch: pytest.MonkeyPatch, records: list[Record], elsewhere: list[Record]) -> None:
    contents = Contents(Path("planted"), rows_of(records), records, Settled(records, elsewhere))
    monkeypatch.setattr(source, "read", lambda _: contents)


def test_points_of_another_level_are_left_out_and_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The chain was timed when the machine was twice as fast: it is no better than the binomial tree."""
    records = [record("default", 4e-3), record("tuned:binomial", 2e-3), record("tuned:chain", 1e-3)]
    planted(monkeypatch, records, records[2:])
    file = tmp_path / "rules"
    out = succeeded("tune", tmp_path, "--for", "openmpi-v2", "-o", file)
    assert "1 point left out" in out
    assert "# binomial" in file.read_text()
    out = succeeded("tune", tmp_path, "--for", "openmpi-v2", "-o", file, "--json")
    assert '"points_of_another_level": 1' in out


def test_where_all_points_are_of_another_level_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record("default", 4e-3), record("tuned:chain", 1e-3)]
    planted(monkeypatch, records, records)
    with pytest.raises(RequestError, match=r"2 points.*level"):
        MeasuredSource.read(Path("planted"), [], "")


def test_a_wrapper_of_another_library_or_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file would be of the form of one, and with the names and numbers of the other."""
    there = Mpi("openmpi", "5.0.9", "3.1", Path("mpicc"), Path("mpirun"), "openmpi")
    monkeypatch.setattr(source, "find", lambda _: there)
    planted(monkeypatch, [record("default", 4e-3), record("tuned:chain", 1e-3)], [])
    with pytest.raises(RequestError, match=r"are of Open MPI 5.0.11, and mpicc is of Open MPI 5.0.9"):
        MeasuredSource.read(Path("planted"), [], "mpicc")
    planted(monkeypatch, [record("default", 4e-3, mpi=""), record("tuned:chain", 1e-3, mpi="")], [])
    assert MeasuredSource.read(Path("planted"), [], "mpicc").library == (
        "Open MPI 5.0.9",
        (5, 0, 9),
        Path("mpicc"),
    )


@pytest.mark.parametrize(
    ("launches", "said"), [(1, "within one launch; launches may differ by more"), (3, "the most of 3 launches")]
)
def test_what_its_intervals_are_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, launches: int, said: str
) -> None:
    """In the file, beside the table, and as data."""
    records = [
        record(name, time_s * (1 + number / 1000), repetition=number)
        for name, time_s in (("default", 4e-3), ("tuned:chain", 1e-3))
        for number in range(launches)
    ]
    planted(monkeypatch, records, [])
    file = tmp_path / "rules"
    words = ("tune", tmp_path, "--for", "openmpi-v2", "-o", file)
    out = succeeded(*words)
    assert said in " ".join(out.split())
    assert "95 %" not in out
    assert said in file.read_text()
    done = json.loads(outcome(*words, "--json")[1])
    assert done["launches"] == launches
    assert said in done["intervals"]


@pytest.mark.parametrize(
    ("ends", "gain", "said"),
    [
        ((None, None), (4 * 0.9 / 1.1, 4 * 1.1 / 0.9), "assumed ±10 %"),
        ((1.0, 1.0), (4.0, 4.0), "measured"),
    ],
    ids=["a mean alone", "equal times"],
)
def test_an_interval_that_nobody_measured_is_named_in_its_row(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    ends: tuple[float | None, ...],
    gain: tuple[float, ...],
    said: str,
) -> None:
    records = [
        record(name, time_s, samples=[], low=ends[0] and time_s, high=ends[1] and time_s)
        for name, time_s in (("default", 4e-3), ("tuned:chain", 1e-3))
    ]
    planted(monkeypatch, records, [])
    file = tmp_path / "rules"
    words = ("tune", tmp_path, "--for", "openmpi-v2", "-o", file)
    row = next(line for line in succeeded(*words).splitlines() if line.lstrip().startswith("bcast"))
    assert said in row
    (cell,) = json.loads(outcome(*words, "--json")[1])["cells"]
    assert cell["interval_by"] == said
    assert (cell["gain_low"], cell["gain_high"]) == pytest.approx(gain)
    assert ("assumed ±10 %" in file.read_text()) == (said != "measured")
