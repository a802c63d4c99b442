"""A report of collectives: sections, figures and tables from a synthetic table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hockney.report.make import make, write_csv
from hockney.samples import table


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Two algorithms and the default, 2–64 ranks, a step at 32 ranks where the second node begins."""
    rows = []
    for ranks in range(2, 66, 4):
        for size in (8, 1024, 65536):
            for name, factor in (("default", 1.3), ("binomial", 1.0), ("linear", 3.0)):
                time = factor * (1 + 0.1 * ranks + size / 1e4) * (2 if ranks > 32 else 1)
                rows.append(
                    {
                        "system": "s",
                        "mpi": "m",
                        "operation": "bcast",
                        "algorithm": name,
                        "mapping": "core",
                        "nodes": 1 if ranks <= 32 else 2,
                        "ppn": 32,
                        "ranks": ranks,
                        "bytes": size,
                        "statistic": "completion",
                        "time_us": time,
                        "repetition": 0,
                    }
                )
    path = tmp_path / "t.csv"
    table.write(pd.DataFrame(rows), path)
    return path


def test_a_table_of_collectives_alone_makes_a_report(measured: Path, tmp_path: Path) -> None:
    report = make(measured)
    (section,) = report.sections
    assert section.id == "bcast"
    captions = " ".join(one.caption for one in section.tables)
    for what in ("Fastest bcast on 62 ranks", "own choice costs", "Jumps", "Regressions", "Collective bandwidth"):
        assert what in captions
    assert {figure.name for figure in section.figures} >= {"bcast-against-size", "bcast-against-ranks-8"}
    assert "another node begins" in report.html
    assert "× 1.30" in report.html
    (path,) = write_csv(report, tmp_path)
    assert len(pd.read_csv(path)) == 3 * 3 * 16


def test_the_penalty_is_the_ratio_to_the_best(measured: Path) -> None:
    frame = pd.read_csv(measured)
    assert np.allclose(frame[frame.algorithm == "default"].time_us.min() / frame.time_us.min(), 1.3)
