"""Tables of Jacobi's scaling: what belongs together, N P₁/P with its interval, and the formula beside it."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
import pytest
from tests.factories import holds, jacobi_run, not_none

from hockney.apps.jacobi.links import Links, farthest, links_of, locality_of
from hockney.apps.jacobi.section import compare, section, side_of
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.scaling import ScalingTable, scaling_tables
from hockney.errors import RequestError
from hockney.machine.build import build
from hockney.machine.file import Machine
from hockney.machine.placement import Placement
from hockney.models.base import Parameter
from hockney.records.app_record import AppRecord
from hockney.records.app_rows import joined
from hockney.report.app_sections import Runs
from hockney.units import percent

# Published runs of a Jacobi solver with cubes of 1200³ cells: P on one rank, then on grids of one node of 24
# cores, each with two hardware threads, in MLUP/s.
ALONE = 78.29
PUBLISHED = {
    "12x1x1": 895.448,
    "3x2x2": 895.091,
    "24x1x1": 1656.790,
    "4x3x2": 1686.510,
    "25x1x1": 1366.520,
    "5x5x1": 1389.400,
    "32x1x1": 1675.980,
    "4x4x2": 1742.530,
    "40x1x1": 2042.430,
    "5x4x2": 2131.680,
    "48x1x1": 2341.970,
    "4x4x3": 2499.760,
}
# Latency in s and bandwidth in B/s of messages by where the ranks are, from the same publication.
MESSAGES = {"cache": (0.21e-6, 6155e6), "node": (0.40e-6, 5024e6), "network": (0.98e-6, 12185e6)}
NOISE = 0.01


def imported(seed: int, repetitions: int) -> list[AppRecord]:
    noise = np.random.default_rng(seed)
    runs = []
    for grid, rate in {"1x1x1": ALONE, **PUBLISHED}.items():
        along = [int(count) for count in grid.split("x")]
        sides = {f"n{axis}": 1200 * count for axis, count in zip("xyz", along, strict=True)}
        parts = {f"p{axis}": count for axis, count in zip("xyz", along, strict=True)}
        for _ in range(repetitions):
            mlups = rate * math.exp(noise.normal(0, NOISE))
            time_s = math.prod(sides.values()) / mlups / 1e6
            parameters = {**sides, **parts, "iterations": 1, "halo": "", "faces": ""}
            runs.append(
                AppRecord.model_validate(
                    {
                        "operation": "jacobi", "ranks": math.prod(along), "parameters": parameters,
                        "system": "GPU", "time_s": time_s, "samples_s": [time_s], "answer": {"mlups": mlups},
                    }
                )
            )  # fmt: skip
    return joined(runs)


def only(records: list[AppRecord]) -> ScalingTable:
    (table,) = [table for table in scaling_tables(records) if table.is_weak]
    return table


def planted(draws: int) -> tuple[list[float], float, float]:
    """Relative errors of N P₁/P, the share of intervals that hold it, and of breaks between 24 and 25 ranks."""
    errors, inside, found = [], [], 0
    for seed in range(draws):
        table = only(imported(seed, 10))
        for run in table.runs:
            truth = run.grid.ranks * ALONE / PUBLISHED[str(run.grid)]
            assert run.ratio is not None
            errors.append(run.ratio.value / truth - 1)
            inside.append(not_none(run.ratio.low) <= truth <= not_none(run.ratio.high))
        made = not_none(table.study())
        found += made.broken is not None and (made.broken.before, made.broken.after) == (24, 25)
    return errors, sum(inside) / len(inside), found / draws


def test_planted_ratios_come_back() -> None:
    errors, _, found = planted(5)
    # Medians of ten with 1 % noise each: 0.5 % for a ratio of two.
    assert float(np.quantile(np.abs(errors), 0.95)) < 0.02
    assert found == 1


@pytest.mark.thorough
def test_planted_ratios_and_breaks_of_many_draws() -> None:
    errors, inside, found = planted(200)
    assert abs(float(np.median(errors))) < 0.03
    assert float(np.quantile(np.abs(errors), 0.95)) < 0.08
    assert inside >= 0.92
    assert found >= 0.95


def machine(tmp_path: Path, seed: int) -> Machine:
    """Fitted to ping-pongs of λ + n/B with 1 % noise, from 1 B to 256 MiB, at three localities."""
    noise = np.random.default_rng(seed)
    rows = [
        {
            "system": "GPU", "mpi": "m", "operation": "pingpong", "algorithm": "default", "mapping": "",
            "nodes": 1, "ppn": 2, "ranks": 2, "bytes": 2**power, "statistic": "one_way", "repetition": 0,
            "locality": locality,
            "time_us": 1e6 * (latency_s + 2**power / rate) * math.exp(noise.normal(0, NOISE)),
        }
        for locality, (latency_s, rate) in MESSAGES.items()
        for power in range(29)
    ]  # fmt: skip
    path = tmp_path / f"messages{seed}.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return build(path)


def planted_links(tmp_path: Path, draws: int) -> tuple[list[float], list[bool]]:
    errors, inside = [], []
    for seed in range(draws):
        made = machine(tmp_path, seed)
        for locality, truths in MESSAGES.items():
            found = links_of(made, locality)
            for parameter, truth in zip((found.latency_s, found.bandwidth_B_per_s), truths, strict=True):
                errors.append(parameter.value / truth - 1)
                inside.append(holds(parameter, truth))
    return errors, inside


def test_latency_and_bandwidth_come_from_messages_of_the_locality(tmp_path: Path) -> None:
    errors, _ = planted_links(tmp_path, 1)
    # A mean over ten sizes or more, with 1 % noise each.
    assert max(map(abs, errors)) < 0.03


def test_a_negative_latency_is_of_no_use(tmp_path: Path) -> None:
    made = machine(tmp_path, 0)
    for fit in made.point_to_point[0].fits.values():
        fit.regimes[0].alpha_s.value = -1e-6
    with pytest.raises(RequestError, match="is negative in this machine file"):
        links_of(made, "cache")


@pytest.mark.thorough
def test_planted_latencies_and_bandwidths_of_many_draws(tmp_path: Path) -> None:
    errors, inside = planted_links(tmp_path, 200)
    assert abs(float(np.median(errors))) < 0.03
    assert float(np.quantile(np.abs(errors), 0.95)) < 0.08
    assert sum(inside) / len(inside) >= 0.92


def places(nodes: list[int]) -> Placement:
    ranks = np.arange(len(nodes), dtype=np.int32)
    node = np.array(nodes, dtype=np.int32)
    return Placement(core=ranks, cache=ranks, numa=node, package=node, node=node)


def test_neighbours_may_be_nearer_than_the_farthest_ranks() -> None:
    # 2x1x2: ranks 0 and 1 differ along z, 0 and 2 along x. Of ranks 0, 1 | 2, 3 on two nodes, x crosses.
    assert farthest(places([0, 0, 1, 1]), Grid(2, 1, 2)) == "network"
    assert farthest(places([0, 0, 0, 0]), Grid(2, 1, 2)) == "numa"
    assert farthest(places([0]), Grid(1, 1, 1)) is None


def test_several_localities_have_to_be_chosen_from(tmp_path: Path) -> None:
    made = machine(tmp_path, 0)
    with pytest.raises(RequestError, match="cache, node, network apart"):
        locality_of(made, None, Grid(2, 1, 1))
    # Nobody measured a NUMA domain: the nearest that was, farther out.
    assert locality_of(made, places([0, 0]), Grid(2, 1, 1)) == "node"
    assert locality_of(made, places([0, 1]), Grid(2, 1, 1)) == "network"


def test_strong_and_weak_runs_make_tables_of_their_own() -> None:
    strong = [jacobi_run(ranks, time_s=1e-3 / ranks) for ranks in (1, 2, 4)]
    weak = [jacobi_run(ranks, parameters={"nz": 8 * ranks}) for ranks in (2, 4)]
    tables = scaling_tables([*strong, *weak])
    assert [(table.is_weak, len(table.runs)) for table in tables] == [(True, 2), (False, 2)]
    assert [side_of(table) for table in tables] == [8, None]
    # Each rank as fast as one alone, with the 2 % of both runs in the interval.
    ratio = not_none(tables[1].runs[1].ratio)
    assert ratio.value == pytest.approx(1)
    assert ratio.low == pytest.approx(math.exp(-math.hypot(math.log(1.02), math.log(1 / 0.98))), rel=1e-6)


def test_a_run_on_one_rank_of_another_system_is_not_its_p1() -> None:
    there = jacobi_run(1).model_copy(update={"system": "other"})
    (table,) = scaling_tables([there, jacobi_run(2), jacobi_run(4)])
    assert table.alone is None
    assert [run.ratio for run in table.runs] == [None, None]


def test_the_formula_and_the_baseline_are_judged_beside_each_other() -> None:
    table = only(imported(1, 1))
    links = Links(Parameter(value=0.42e-6, unit="s"), Parameter(value=5007e6, unit="B/s"), "given")
    compared = compare(table, lambda _: links)
    row = next(row for row in compared.rows if str(row.run.grid) == "24x1x1")
    serial_s = 1200**3 / 1e6 / not_none(table.alone).mlups.value
    assert not_none(row.predicted).time_s == pytest.approx(serial_s + 46.08 / 5007 + 0.84e-6)
    formula, ideal = map(median, compared.errors)
    # Communication is a thousandth of the time: the formula is next to nothing better than the baseline.
    assert formula < ideal < formula + 0.003
    said = f"formula median {percent(formula)}, largest {percent(max(compared.errors[0]))}; N·P₁ median"
    assert f"|error| of P: {said} {percent(ideal)}" in compared.shown().caption


def test_findings_say_efficiency_break_and_grid() -> None:
    said = section(Runs(imported(0, 10))).findings
    text = " ".join(finding.text for finding in said)
    # 48 · 78.29 / 2499.76 = 1.503: 66.5 %
    assert "48 ranks on 4x4x3" in text
    assert [one.verdict for one in said if "48 ranks on 4x4x3 reach" in one.text] == ["look"]
    assert "66 %" in text or "67 %" in text
    assert "between 24 and 25 ranks an iteration's time steps by a factor of 1.2" in text
    assert "not explained: the runs do not say where their ranks were" in text
    assert "The grid matters for Jacobi, weak scaling (1200x1200x1200), 48 ranks: 48x1x1 takes" in text
    assert {finding.anchor for finding in said} == {"app-jacobi", "app-jacobi-laws"}
