"""The shared measurements of collectives, whole: against the tidy tables beside them and counts of raw lines."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from tests.capabilities import shared

from hockney.errors import RequestError
from hockney.importers import _collect
from hockney.importers.base import Given
from hockney.records import table
from hockney.records.columns import REQUIRED
from hockney.records.folder import TABLE

_REPOSITORY = Path(__file__).parents[2]
_POINT = [name for name in REQUIRED if name != "time_s"]


def imported(path: Path) -> pd.DataFrame:
    collection = _collect.collect([path], Given())
    (file,) = collection.files
    assert file.content.left_out() == []
    return table.from_imported(collection.records)


def rows_of(path: Path) -> int:
    """Lines behind the header, counted without any reader of tables."""
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    return len([line for line in text.split("\n") if line.strip()]) - 1


def ordered(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[[*_POINT, "time_s"]].sort_values([*_POINT, "time_s"]).reset_index(drop=True)


@pytest.mark.parametrize("name", ["fugaku", "marenostrum5"])
def test_pico_summaries_equal_the_tidy_table(name: str) -> None:
    folder = shared("pico")
    found = imported(folder / f"{name}.csv")
    expected = table.load(folder / "tidy.csv.gz")
    expected = expected[expected["system"] == name]
    assert len(found) == len(expected) == rows_of(folder / f"{name}.csv") > 800
    # ns to s to µs and ns to µs: two roundings more.
    pd.testing.assert_frame_equal(ordered(found), ordered(expected), rtol=1e-14)


def test_pico_folder(tmp_path: Path) -> None:
    """Every row of both summaries is a row of the campaign's table; the tidy table is the same again."""
    folder = shared("pico")
    paths = [folder / "fugaku.csv", folder / "marenostrum5.csv"]
    campaign = _collect.write(_collect.collect(paths, Given()), tmp_path / "c", Given())
    assert rows_of(campaign.path / TABLE) == sum(map(rows_of, paths)) == rows_of(folder / "tidy.csv.gz")
    walked = _collect.collect([folder], Given())
    formats = {file.path.name: file.format for file in walked.files}
    assert formats == {"fugaku.csv": "pico", "marenostrum5.csv": "pico"}
    (reason,) = [reason for path, reason in walked.skipped if path.endswith("tidy.csv.gz")]
    assert "5256 of 5256 points are in other files too" in reason


def test_orfeo_tidy_table() -> None:
    path = shared("orfeo-epyc") / "tidy.csv.gz"
    found = imported(path)
    assert len(found) == rows_of(path) > 180_000
    pd.testing.assert_frame_equal(ordered(found), ordered(table.load(path)), rtol=1e-14)


def test_a_plain_table_becomes_tidy_by_renaming(tmp_path: Path) -> None:
    """The recipe of the page about importers, on an original file of ORFEO."""
    folder = shared("orfeo-epyc")
    wide = pd.read_csv(folder / "reduce_core.csv")
    assert len(wide) == rows_of(folder / "reduce_core.csv")
    columns = {"latency": "mean_over_ranks", "min": "min_over_ranks", "max": "max_over_ranks"}
    tidy = wide.rename(columns={"cores": "ranks", "size": "bytes", **columns}).melt(
        ["algorithm", "ranks", "bytes"], [*columns.values()], "statistic", "time_us"
    )
    tidy["algorithm"] = tidy["algorithm"].map({0: "default", 1: "linear", 2: "chain", 4: "binary"})
    tidy = tidy.assign(system="orfeo-epyc", mpi="Open MPI 4.1.5", operation="reduce", mapping="core")
    tidy = tidy.assign(nodes=(tidy["ranks"] - 1) // 128 + 1, ppn=tidy["ranks"].clip(upper=128), repetition=0)
    tidy.to_csv(tmp_path / "reduce_core.csv", index=False)
    found = imported(tmp_path / "reduce_core.csv")
    assert len(found) == 3 * len(wide)
    expected = table.load(folder / "tidy.csv.gz")
    expected = expected[(expected["operation"] == "reduce") & (expected["mapping"] == "core")]
    pd.testing.assert_frame_equal(ordered(found), ordered(expected), rtol=1e-14)


def test_orfeo_originals_are_named_not_guessed() -> None:
    folder = shared("orfeo-epyc")
    with pytest.raises(RequestError, match="not a tidy table: column"):
        _collect.collect([folder / "bcast_core.csv"], Given())


def test_stackhpc_collectives() -> None:
    """Three programs in four configurations: every line `size value` is one mean over ranks."""
    folder = shared("stackhpc")
    operations = {"Osu_allgather": "allgather", "Osu_allreduce": "allreduce", "Osu_alltoall": "alltoall"}
    paths = sorted(path for name in operations for path in folder.rglob(f"{name}/*.out"))
    assert len(paths) == 12
    collection = _collect.collect(paths, Given(ranks=64, nodes=2, ppn=32))
    expected = Counter(
        (operations[path.parent.name], int(line.split()[0]))
        for path in paths
        for line in path.read_text().split("\n")
        if re.fullmatch(r"\d+ +\d+\.\d\d", line.strip())
    )
    records = [*collection.records]
    assert Counter((r.operation, r.bytes) for r in records) == expected
    assert expected.total() > 200
    assert {(r.statistic, r.ranks, r.nodes, r.ppn, r.algorithm) for r in records} == {
        ("mean_over_ranks", 64, 2, 32, "default")
    }
    assert [text for file in collection.files for text in file.content.left_out()] == []
