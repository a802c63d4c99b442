"""A report of collectives: sections, figures and tables from a synthetic table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from tests.factories import not_none, refusing

from hockney.errors import RequestError
from hockney.machine.locality import Places
from hockney.machine.system import Mapping, Node, System, SystemNetwork
from hockney.models.over_ranks.points import points
from hockney.predict.reproduced import reproductions
from hockney.records import table
from hockney.report import collectives
from hockney.report.explorer.explored import Explorable, explored
from hockney.report.make import make, write_csv
from hockney.report.page import Report, Section
from hockney.report.predicted import Judged
from hockney.report.reading import Wish, statistics_of
from hockney.report.style import Looks, drawing_style
from hockney.report.tables import Table

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two algorithms and the default, 2–64 ranks, a step at 32 ranks where the second node begins."""
    rows = [
        (name, ranks, size_B, factor * (1 + 0.1 * ranks + size_B / 1e4) * (2 if ranks > 32 else 1) * 1e-6)
        for ranks in range(2, 66, 4)
        for size_B in (8, 1024, 65536)
        for name, factor in (("default", 1.3), ("binomial", 1.0), ("linear", 3.0))
    ]
    frame = pd.DataFrame(rows, columns=["algorithm", "ranks", "bytes", "time_s"])
    frame = frame.assign(system="s", mpi="m", operation="bcast", mapping="core", ppn=32, repetition=0)
    frame = frame.assign(statistic="completion", nodes=np.where(frame["ranks"] <= 32, 1, 2))
    path = tmp_path_factory.mktemp("measured") / "t.csv"
    table.write(frame, path)
    return path


@pytest.fixture(scope="module")
def reported(measured: Path) -> Report:
    """The report of it, for all who only look at it; its steps are simulated, calibrated on few points."""
    simulated = patch("hockney.report.collective_analysis.reproductions", reproductions)
    with simulated, patch("hockney.predict.reproduced.MOST_TRAINED", 40):
        return make(measured)


def test_a_table_of_collectives_alone_makes_a_report(reported: Report, tmp_path: Path) -> None:
    report = reported
    (section,) = report.sections
    assert section.id == "bcast"
    for anchor in {one.anchor for one in section.findings}:
        assert f'id="{anchor}"' in report.html
    captions = " ".join(one.caption for one in tables_of(section))
    for what in ("Fastest bcast", "own choice costs", "Steps of bcast", "Regressions", "Collective bandwidth"):
        assert what in captions
    assert {figure.name for figure in section.figures} >= {"bcast-against-size", "bcast-against-ranks-8"}
    assert "bcast-predicted" in {figure.name for figure in section.figures}
    assert report.evaluations["bcast"].train == "ranks <= 30"
    assert "ranks &lt;= 30" in report.html
    assert "another node begins" in report.html
    assert "× 1.30" in report.html
    written = {path.name: path for path in write_csv(report, tmp_path)}
    assert set(written) == {"bcast.csv", "bcast-models.csv", "bcast-steps.csv"}
    assert len(pd.read_csv(written["bcast.csv"])) == 3 * 3 * 16
    assert any(text.startswith("144 of 144 records of collectives have no interval") for text in report.warnings)
    assert pd.read_csv(written["bcast.csv"])["low_s"].isna().all()


unjudged = patch("hockney.report.predicted.judged", lambda *_, **__: Judged(None))
"""Without predictions of what was left out, which take half of a page's time."""


def tables_of(section: Section) -> list[Table]:
    """The tables on the page, and those that are folded away."""
    folded = [table for part in section.parts for table in (part.points, *part.tables)]
    return [*section.tables, *folded]


def table_of(section: Section, caption: str) -> list[dict[str, str]]:
    """Rows by column of the one table whose caption begins so."""
    (found,) = [one for one in tables_of(section) if one.caption.startswith(caption)]
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_the_penalty_is_the_ratio_to_the_best(reported: Report) -> None:
    (section,) = reported.sections
    # `default` was made 1.3 times `binomial`, which is the fastest, at each of 16 rank counts and 3 sizes.
    (cost,) = table_of(section, "What the library's own choice costs")
    assert (cost["points"], cost["median"], cost["worst"]) == ("48", "× 1.30", "× 1.30")
    assert cost["within 10 % of the fastest"] == "0 %"
    fastest = table_of(section, "Fastest bcast")
    assert {(row["fastest"], row["penalty"], row["ranks"]) for row in fastest} == {("binomial", "× 1.30", "62")}


def test_a_default_that_is_fastest_is_said_to_be(measured: Path, tmp_path: Path) -> None:
    frame = table.load(measured)
    factor = {8: 0.5 / 1.3, 1024: 1.05 / 1.3, 65536: 1.0}
    is_default = frame["algorithm"] == "default"
    frame.loc[is_default, "time_s"] *= frame.loc[is_default, "bytes"].map(factor)
    table.write(frame, tmp_path / "fast.csv")
    section = section_of(tmp_path / "fast.csv")
    rows = table_of(section, "Fastest bcast")
    assert [(row["fastest"], row["penalty"]) for row in rows] == [
        ("default", "the default is fastest"),
        ("default", "as fast"),
        ("binomial", "× 1.30"),
    ]
    assert "binomial" in rows[1]["as fast"]
    assert "intervals do not overlap" in section.note


def test_growth_is_that_of_the_model_of_the_collective(reported: Report) -> None:
    """On more than 32 ranks the default takes 2.6 µs + 0.26 µs · P and 0.26 ns a byte: one sentence."""
    (section,) = reported.sections
    (line,) = [one.text for one in section.findings if one.anchor == "bcast-models"]
    assert line.startswith(
        "bcast — default: T(P, n) = 2.86 µs + 0.26 µs · (P − 1) + n / 3.85 GB/s for 31 ≤ P ≤ 62"
    )
    (last,) = [row for row in section.rows["models"] if row["algorithm"] == "default" and row["max_ranks"] == 62]
    assert last["formula"] in line
    assert last["grows"] in {row["grows as"] for row in table_of(section, "Models of the")}


def test_allocations_of_an_algorithm_share_a_panel(measured: Path, tmp_path: Path) -> None:
    """Allocation `node` takes 1.5 times as long as `core`; both have a step where the second node begins."""
    frame = table.load(measured)
    noise = np.random.default_rng(1).normal(0, 0.01, 2 * len(frame))
    both = pd.concat([frame, frame.assign(mapping="node", time_s=frame["time_s"] * 1.5)], ignore_index=True)
    both["time_s"] *= np.exp(noise)
    table.write(both, tmp_path / "allocations.csv")
    section = section_of(tmp_path / "allocations.csv")
    (drawing,) = [one for one in section.figures if one.name == "bcast-by-algorithm-8"]
    for panel in drawing.figure.axes:
        assert {"core", "node"} <= {line.get_label() for line in panel.get_lines()}
        assert "node" in {text.get_text() for text in panel.texts}
    steps = [row for row in section.rows["steps"] if row["before"] == 30]
    assert {row["algorithm"] for row in steps if row["allocation"] == "all together"} == {
        "default",
        "binomial",
        "linear",
    }
    held = [row["low"] <= 2 <= row["high"] for row in steps if row["low"] is not None]
    # Of 27 intervals of 95 %, three of each nine of the same times, as few hold it once in a hundred times.
    assert np.mean(held) >= 0.8


@pytest.fixture(scope="module")
def two_systems(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table twice; on the second system all takes a tenth, there is no default, and segments differ."""
    here = table.load(measured)
    there = here[here["algorithm"] != "default"].assign(
        system="t", mpi="n", time_s=lambda rows: rows["time_s"] / 10
    )
    both = pd.concat([here.assign(segment_bytes=512), there.assign(segment_bytes=1024)])
    path = tmp_path_factory.mktemp("two") / "two.csv"
    table.write(both, path)
    return path


@pytest.fixture(scope="module")
def reported_two(two_systems: Path) -> Section:
    """The section of both, for all who only look at it."""
    return section_of(two_systems)


def test_systems_are_not_mixed(reported_two: Section) -> None:
    section = reported_two
    (cost,) = table_of(section, "What the library's own choice costs")
    # The best of t under the default of s would be 13.
    assert (cost["system"], cost["MPI"], cost["worst"]) == ("s", "m", "× 1.30")
    assert {row["system"] for row in table_of(section, "Fastest bcast")} == {"s", "t"}
    assert {row["system"] for row in table_of(section, "Collective bandwidth")} == {"s", "t"}
    assert {row["system"] for row in table_of(section, "Regressions")} == {"s", "t"}
    assert {row["system"] for row in table_of(section, "Steps of bcast")} == {"s", "t"}
    # Each system has one segment size only: there is nothing to choose.
    assert not [one for one in section.tables if one.caption.startswith("Choice of the segment")]


def test_figure_and_table_agree(two_systems: Path, reported_two: Section) -> None:
    named = {drawing.name: drawing for drawing in reported_two.figures}
    assert {"bcast-against-size", "bcast-against-size-2", "bcast-against-ranks-8"} <= set(named)
    panels = named["bcast-against-ranks-8"].figure.axes
    assert [panel.get_title() for panel in panels] == [
        "system s, MPI m, allocation core",
        "system t, MPI n, allocation core",
    ]
    measured = points(table.load(two_systems), "bcast")
    for panel, system in zip(panels, "st", strict=True):
        drawn = {line.get_label(): line for line in panel.get_lines()}
        for label, rows in measured[(measured["system"] == system) & (measured["bytes"] == 8)].groupby("label"):
            assert np.asarray(drawn[label].get_xdata()).tolist() == list(rows["ranks"])
            assert np.asarray(drawn[label].get_ydata()).tolist() == pytest.approx(list(rows["time_s"] * 1e6))
    # One picture of times against size for each system: those of t end ten times lower.
    ends = [
        max(float(np.asarray(line.get_ydata())[-1]) for line in named[name].figure.axes[0].get_lines())
        for name in ("bcast-against-size", "bcast-against-size-2")
    ]
    assert ends[0] / ends[1] == pytest.approx(10)


SYSTEM = System(
    schema_version=1,
    name="s",
    node=Node(packages=2, numa_per_package=1, caches_per_numa=2, cores_per_cache=8),
    network=SystemNetwork(topology="switch"),
    mappings={"core": Mapping(order=["core", "cache", "numa", "package", "node"])},
)


def test_boundaries_come_from_the_system_file(measured: Path) -> None:
    section = section_of(measured, systems=[SYSTEM])
    # 8 cores a cache, 16 a package, 32 a node; three algorithms at three sizes, all twice as slow from there on.
    rows = [row for row in table_of(section, "Steps of bcast") if "another node begins" in row["what is there"]]
    assert [row["between ranks"] for row in rows] == ["30 → 34"] * 9
    # The smooth curve is fitted to a stepped one: its tangent is a little off.
    ratios = [float(row["step (95 % interval)"].split()[1]) for row in rows]
    assert ratios == pytest.approx([2.0] * 9, rel=0.04)
    (figure,) = [one.figure for one in section.figures if one.name == "bcast-against-ranks-8"]
    assert [text.get_text() for text in figure.axes[0].texts] == ["node"]


@unjudged
def test_what_a_system_file_does_not_describe_is_said(measured: Path) -> None:
    other = SYSTEM.model_copy(update={"mappings": {"socket": SYSTEM.mappings["core"]}})
    report = make(measured, Wish(systems=[other]))
    assert any("no mapping 'core'" in warning for warning in report.warnings)
    assert "another node begins" in report.html


def test_a_system_that_is_not_in_the_table_is_refused(two_systems: Path) -> None:
    with pytest.raises(RequestError, match="no rows of system 'x'"):
        make(two_systems, Wish(systems=[SYSTEM.model_copy(update={"name": "x"})]))


def test_statistics_of_algorithms_without_segments_are_told(measured: Path, tmp_path: Path) -> None:
    frame = table.load(measured)
    mean = frame.assign(statistic="mean_over_ranks", time_s=frame["time_s"] / 2)
    table.write(pd.concat([frame, mean]), tmp_path / "both.csv")
    section = section_of(tmp_path / "both.csv", "completion")
    (row,) = table_of(section, "Statistics over ranks")
    assert (row["points"], row["median"]) == (str(len(frame)), "0.500")


@unjudged
def test_variants_share_a_figure_and_unknown_ranks_are_said(measured: Path, tmp_path: Path) -> None:
    """Two imported runs that do not say on how many ranks they were."""
    frame = table.load(measured)
    once = frame[(frame["algorithm"] == "default") & (frame["ranks"] == 30)].assign(
        ranks=None, nodes=None, ppn=None
    )
    both = pd.concat([once.assign(variant=name) for name in ("tcp", "ucx")], ignore_index=True)
    table.write(both, tmp_path / "variants.csv")
    (section,) = make(tmp_path / "variants.csv").sections
    (drawing,) = [drawing for drawing in section.figures if "against-size" in drawing.name]
    (panel,) = drawing.figure.axes
    legend = not_none(panel.get_legend())
    assert [text.get_text() for text in legend.get_texts()] == ["variant tcp", "variant ucx"]
    assert drawing.title == "bcast by configuration, ranks unknown, allocation core."


@pytest.mark.parametrize(("counts", "scale"), [(range(2, 66), "linear"), ([2**k for k in range(1, 12)], "log")])
def test_numbers_of_ranks_that_would_crowd_have_a_logarithmic_axis(
    counts: Sequence[int], scale: str, tmp_path: Path
) -> None:
    """Powers of two: on a linear axis all but the last three would stand on the left eighth."""
    row = {"system": "s", "mpi": "m", "operation": "bcast", "mapping": "core", "nodes": 1, "bytes": 8}
    row |= {"statistic": "completion", "repetition": 0, "algorithm": "linear"}
    rows = [{**row, "ppn": ranks, "ranks": ranks, "time_s": 1e-6 * ranks} for ranks in counts]
    table.write(pd.DataFrame(rows), tmp_path / "t.csv")
    section = section_of(tmp_path / "t.csv")
    (drawing,) = [figure for figure in section.figures if figure.name == "bcast-against-ranks-8"]
    assert [panel.get_xscale() for panel in drawing.figure.axes] == [scale]


def section_of(
    path: Path, statistic: str = "", sizes_B: Sequence[int] = (), systems: Sequence[System] = ()
) -> Section:
    """The section on broadcasts alone, without predictions, which take seconds."""
    frame = table.load(path)
    source = Explorable(path.name, frame, [], {"bcast": statistics_of(frame, statistic, sizes_B)[0]["bcast"]})
    seen = not_none(explored([source]))
    with drawing_style():
        return collectives.section(source, "bcast", Places(frame, systems), sizes_B, Looks(), seen)


def points_of(section: Section) -> list[dict[str, str]]:
    (part,) = [one for one in section.parts if one.id.endswith("-points")]
    return [dict(zip(part.points.columns, row, strict=True)) for row in part.points.rows]


def test_no_interval_is_shown_where_there_is_none(reported: Report, measured: Path, tmp_path: Path) -> None:
    bounds = "95 % interval, or range of repeats"
    assert {row[bounds] for row in points_of(reported.sections[0])} == {"—"}
    frame = table.load(measured)
    again = frame[(frame["ranks"] == 2) & (frame["bytes"] == 8)].assign(repetition=1, time_s=9e-6)
    known = (frame["ranks"] == 6) & (frame["bytes"] == 8)
    frame["low_s"], frame["high_s"] = frame["time_s"].where(known) * 0.5, frame["time_s"].where(known) * 2
    table.write(pd.concat([frame, again]), tmp_path / "some.csv")
    rows = points_of(section_of(tmp_path / "some.csv"))
    of_2 = [row for row in rows if row["ranks"] == "2" and row["size"] == "8 B"]
    assert all(row[bounds].endswith("(2 repeats)") for row in of_2)
    of_6 = [row for row in rows if row["ranks"] == "6" and row["size"] == "8 B"]
    assert all("…" in row[bounds] and "repeats" not in row[bounds] for row in of_6)
    assert {row[bounds] for row in rows if row["ranks"] == "10"} == {"—"}


@unjudged
def test_an_algorithm_has_one_colour_on_the_page(measured: Path, tmp_path: Path) -> None:
    bcast = table.load(measured).query("ranks <= 22")
    reduce_ = bcast[bcast["algorithm"] != "default"].assign(
        operation="reduce", algorithm=lambda rows: rows["algorithm"].replace("binomial", "chain")
    )
    table.write(pd.concat([bcast, reduce_]), tmp_path / "both.csv")
    colours: dict[str, set[str]] = {}
    for section in make(tmp_path / "both.csv").sections:
        for drawing in section.figures:
            for axes in drawing.figure.axes if "bandwidth" not in drawing.name else ():
                for line in axes.get_lines():
                    name = str(line.get_label()).partition(" (")[0]
                    if name in ("default", "linear", "binomial", "chain"):
                        colours.setdefault(name, set()).add(str(line.get_color()))
    assert {name: len(of_it) for name, of_it in colours.items()} == dict.fromkeys(colours, 1)
    assert len(set.union(*colours.values())) == len(colours) == 4


def test_the_statistic_and_the_sizes_that_are_asked_for_are_drawn(measured: Path, tmp_path: Path) -> None:
    frame = table.load(measured)
    means = frame.assign(statistic="mean_over_ranks", time_s=lambda rows: rows["time_s"] / 2)
    table.write(pd.concat([frame, means]), tmp_path / "two.csv")
    section = section_of(tmp_path / "two.csv", "mean_over_ranks", [1024])
    drawn = [
        drawing for drawing in section.figures if "against-ranks" in drawing.name and "band" not in drawing.name
    ]
    assert [drawing.name for drawing in drawn] == ["bcast-against-ranks-1024"]
    (panel,) = drawn[0].figure.axes
    assert panel.get_ylabel() == "mean time over ranks in µs"
    (linear,) = [line for line in panel.get_lines() if line.get_label() == "linear"]
    # `measured` at 2 ranks: 3 (1 + 0.2 + 0.1024) µs to completion, and half of that here.
    assert np.asarray(linear.get_ydata())[0] == pytest.approx(3 * 1.3024 / 2)
    assert {row["size"] for row in table_of(section, "Regressions")} == {"1 KiB"}
    assert "means over the ranks" in section.meaning


def test_what_was_not_measured_is_refused_or_said(measured: Path, tmp_path: Path) -> None:
    with pytest.raises(
        RequestError, match="no collective has times of the statistic 'min_over_ranks'"
    ) as refused:
        make(measured, Wish(statistic="min_over_ranks"))
    assert "completion" in refused.value.hint
    # A table need not name the statistic of all its rows.
    unnamed = table.load(measured).assign(operation="reduce", statistic="")
    with pytest.raises(RequestError) as refused:
        statistics_of(pd.concat([table.load(measured), unnamed]), "min_over_ranks", [])
    assert "is ," not in refused.value.hint
    with refusing("no collective was measured at 2 B", "8 B, 1 KiB, 64 KiB"):
        make(measured, Wish(sizes_B=[2]))
    frame = table.load(measured)
    other = frame.assign(operation="reduce", statistic="max_over_ranks")
    table.write(pd.concat([frame[frame["bytes"] != 8], other]), tmp_path / "both.csv")
    statistics, unmet = statistics_of(table.load(tmp_path / "both.csv"), "completion", [8])
    assert statistics == {"bcast": "completion", "reduce": "max_over_ranks"}
    assert unmet == [
        "reduce has no completion: shown is max_over_ranks.",
        "bcast: not measured at 8 B, so not shown there.",
    ]
