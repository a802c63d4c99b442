"""evaluate, compare and tune: frames that say what the verbs say."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure
from pydantic import TypeAdapter
from tests.command_line import answer

import hockney as hk
from hockney import api
from hockney.errors import RequestError

TABLE = """system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition
"""


@pytest.fixture(scope="module")
def collectives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A broadcast by a binomial tree is twice as fast as by default up to 1 KiB, and half as fast above."""
    path = tmp_path_factory.mktemp("tables") / "bcast.csv"
    rows = []
    for ranks in (2, 4, 8, 16):
        for size in (64, 1024, 65536, 2**20):
            for launch in range(5):
                # A tenth of a percent of noise, so that intervals are not empty.
                time_us = (10 + size / 1000) * ranks**0.5 * (1 + launch / 1000)
                factor = 0.5 if size <= 1024 else 2.0
                for algorithm, times in (("default", 1.0), ("tuned:binomial", factor)):
                    rows.append(
                        f"s,Open MPI 5.0.7,bcast,{algorithm},core,1,{ranks},{ranks},{size},completion,"
                        f"{time_us * times},{launch}"
                    )
    path.write_text(TABLE + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_errors_of_messages(campaign: Path) -> None:
    evaluation = hk.evaluate(campaign)
    result = evaluation.result
    assert TypeAdapter(type(result)).dump_python(result, mode="json") == answer("evaluate", campaign)
    assert result.best_baseline is not None
    frame = evaluation.frame
    assert {"interpolation", "piecewise", "hockney"} <= set(frame["model"])
    assert len(set(frame["model"])) == len(frame)
    assert frame["model"][0] == result.best_baseline.name
    with pytest.raises(RequestError, match="sizes were held out"):
        evaluation.predictions  # noqa: B018 - asking is the test
    assert "never seen" in evaluation._repr_html_()


def test_errors_of_a_collective(collectives: Path) -> None:
    evaluation = hk.load(collectives).evaluate(
        "bcast", train="ranks <= 8", model=["interpolation", "linear_in_ranks"]
    )
    assert set(evaluation.predictions["ranks"]) == {16}
    assert isinstance(evaluation.figure, Figure)
    assert "mean_regret" in evaluation.frame


def test_a_comparison_says_what_differs(campaign: Path) -> None:
    fitted, published = hk.fit(campaign), hk.load_machine("bluegene_p")
    comparison = hk.compare(fitted, published)
    assert len(comparison.frame) == len(comparison.difference.comparisons)
    same = hk.compare(fitted, fitted).frame
    assert set(same["ratio"]) == {1.0}
    assert "differs" not in set(same["verdict"])


def test_rules_are_where_the_algorithm_is_faster(collectives: Path, tmp_path: Path) -> None:
    tuning = api.tune(collectives, "openmpi-classic")
    cells = tuning.cells
    assert set(cells.loc[cells["algorithm"].notna(), "bytes"]) == {64, 1024}
    assert cells.loc[cells["algorithm"].notna(), "gain"].tolist() == pytest.approx([2.0] * 8)
    said = answer("tune", collectives, "--for", "openmpi-classic", "-o", tmp_path / "rules.conf")
    assert tuning.rules.to_dict("records") == said["rules"]
    assert tuning.write(tmp_path / "mine.conf").read_text(encoding="utf-8") == tuning.text
    assert (tmp_path / "rules.conf").read_text(encoding="utf-8") == tuning.text


def test_rules_by_the_model_alone() -> None:
    tuning = hk.load_machine("ci_2core").tune("hockney", ranks=[2], operation=["bcast"])
    assert set(tuning.cells["origin"]) == {"model"}
