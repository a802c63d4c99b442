"""What Hockney makes of the exercises' programs, by its own functions: laws, ring, sum, Jacobi, CG."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from bench.exercises.rows import DRAWS, FORMULA, PREDICTION, RECOVERY, Inputs, Row, Section, noisy, thin

from hockney.apps.jacobi.printed import WeakScalingCase, predict_formula
from hockney.apps.ring.model import MachineLinks, predict_ring
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.loads import as_lines, loads
from hockney.apps.stencil.stencil import Stencil
from hockney.apps.sum3d.model import costs_of, predict_sum3d
from hockney.models.over_ranks.boundaries import Boundary
from hockney.models.over_ranks.segments import segments
from hockney.models.scaling.laws import laws, whole_processes
from hockney.records.record import Locality
from hockney.units import Extents


def amdahl(inputs: Inputs) -> Section:
    """The laws of Amdahl and Gustafson."""
    given = inputs["amdahl"]
    serial, law = given["serial_fraction"], laws.get("amdahl")
    kept = whole_processes(law, given["efficiency"], [serial])
    assert kept is not None
    rows = [
        Row("processes that keep an efficiency of 70 %", given["most_processes"], kept[0], FORMULA),
        Row("the same before rounding", given["most_before_rounding"], kept[1], FORMULA),
        Row(
            "largest speed-up", given["speedup_limit"], float(law.limits([serial])["speedup_limit"] or 0), FORMULA
        ),
    ]
    return Section(rows)


def ring(inputs: Inputs) -> Section:
    """Latency of a hop from the slopes of a ring's cycle, and from ping-pongs."""
    given = inputs["ring"]
    ends = given["ends"]
    rows = []
    for place_of_row, (node, at) in enumerate((("THIN", given["thin"]), ("GPU", given["gpu"]))):
        found, broke = _planted_ring([2e-6 * value for value in at.values()], ends, place_of_row)
        for (place, printed), ours in zip(at.items(), found, strict=True):
            rows.append(Row(f"{node}, {place}: T_l = b/2", printed, ours * 1e6, RECOVERY, "µs"))
        note = f"of {DRAWS} curves with 1 % noise, both breaks"
        rows.append(Row(f"{node}: curves whose breaks are found", DRAWS, broke, RECOVERY, note=note))
    links = MachineLinks(thin())
    around: dict[str, Locality] = {"package": "cache", "node": "node", "network": "network"}
    for place, locality in around.items():
        made = predict_ring([locality] * 24, links, "sendrecv")
        assert made is not None
        note = f"24 processes, `{locality}` ping-pongs of `orfeo_thin`"
        printed = 2 * given["thin"][place]
        rows.append(Row(f"THIN, {place}: a hop, b", printed, made.time_s / 24 * 1e6, PREDICTION, "µs", note))
    return Section(rows)


def _planted_ring(slopes_s: list[float], ends: list[int], place: int) -> tuple[list[float], int]:
    """Median latencies in s over curves with those slopes, and in how many of them the breaks are found."""
    ranks = np.arange(1, ends[-1] + 1, dtype=np.float64)
    slope = np.array([next(s for s, end in zip(slopes_s, ends, strict=True) if end >= P) for P in ranks])
    # A further process adds two latencies of all its cycle's hops: T = b P with the b of the slowest neighbours.
    time_s = slope * ranks
    expected = [Boundary(ends[0], ends[0] + 1, "package"), Boundary(ends[1], ends[1] + 1, "node")]
    found: list[list[float]] = []
    for drawn_s in noisy(time_s, 3, place):
        lines = segments(ranks, drawn_s, expected).segments
        firsts = [line.first for line in lines[1:]]
        slopes = [line.slope_s() for line in lines]
        if firsts == [ends[0] + 1, ends[1] + 1] and all(slopes):
            found.append([slope[0] / 2 for slope in slopes if slope])
    return [float(value) for value in np.median(found, axis=0)] if found else [math.nan] * 3, len(found)


def sum3d(inputs: Inputs) -> Section:
    """Loads and times of the three-dimensional sum."""
    given = inputs["sum3d"]
    agree, differing = 0, []
    shown: list[Row] = []
    for row in given["rows"]:
        split = "cartesian" if row["a"] else "balanced"
        made = " ".join(as_lines(loads(Extents(*row["size"]), Grid(*row["grid"]), split)))
        agree += made == row["loads"]
        if made != row["loads"]:
            differing.append((row, made))
    for row in given["example"]:
        split, grid = "cartesian" if row["a"] else "balanced", Grid(*row["grid"])
        made = " ".join(as_lines(loads(Extents(5, 5, 1), grid, split)))
        shown.append(
            Row(
                f"5×5 on {'×'.join(map(str, row['grid']))}, {split}",
                _spaced(row["loads"]),
                _spaced(made),
                FORMULA,
            )
        )
    low, high = (np.array([row[name] for row in given["rows"]]) for name in ("low_s", "high_s"))
    mean_s = float(np.mean((low + high) / 2))
    rows = [*shown, Row("rows of loads (tables I to III)", len(given["rows"]), agree, FORMULA)]
    rows += [
        Row(
            f"{'×'.join(map(str, row['size']))} on {'×'.join(map(str, row['grid']))}",
            _spaced(row["loads"]),
            _spaced(made),
            FORMULA,
        )
        for row, made in differing
    ]
    size, grid = Extents(2400, 100, 100), Grid(24, 1, 1)
    for locality in ("cache", "node"):
        # Memory that costs nothing: the exercise prints no bandwidth of it, and none is chosen for it.
        cycle = predict_sum3d(size, grid, "balanced", costs_of(thin(), "orfeo_thin", size, locality), math.inf)
        parts = {"scatter": cycle.scatter_s, "gather": cycle.gather_s}
        note = f"messages alone; {mean_s / cycle.time_s:.1f} times too fast"
        rows.append(Row(f"a cycle, `{locality}`", mean_s, cycle.time_s, PREDICTION, "s", note))
        for part, part_s in parts.items():
            printed = given[f"{part}_share"] * mean_s
            rows.append(Row(f"{part}, `{locality}`", printed, part_s, PREDICTION, "s"))
    return Section(rows, {"least_high": f"{high.min():.4f}", "largest_low": f"{low.max():.4f}"})


def _spaced(ranks: str) -> str:
    """A list that a browser may break."""
    return ranks.replace(",", ", ")


def jacobi(inputs: Inputs) -> Section:
    """Weak scaling of Jacobi by the printed formulas, beside the measured rates."""
    given = inputs["jacobi"]
    rows = []
    for table in given["tables"]:
        for row in table["rows"]:
            case = WeakScalingCase(
                given["subdomain"],
                table["serial_time_s"],
                table["latency_us"] * 1e-6,
                (table["bandwidth_MB_per_s"] or 1) * 1e6,
            )
            made = predict_formula(case, Grid(*row["grid"]))
            grid = "×".join(map(str, row["grid"]))
            assert (made.k, made.halo_B / 1e6) == (row["k"], row["halo_MB"])
            ours = round(made.mlups, 3 if len(table["rows"]) > 1 else 2)
            where = f"{table['name']}, {grid}"
            note = f"{table['where'][0].lower()}{table['where'][1:]}" if row is table["rows"][0] else ""
            rows += [
                Row(f"{where}: P^com", row["mlups"], ours, FORMULA, "MLUP/s", note),
                Row(f"{where}: N·P₁/P", row["ratio"], round(1 / made.efficiency, 3), FORMULA),
                Row(f"{where}: P^Jac", row["measured_mlups"], made.mlups, PREDICTION, "MLUP/s"),
            ]
        if "bandwidth_behind_MB_per_s" in table:
            last = Grid(*table["rows"][-1]["grid"])
            behind = replace(case, bandwidth_B_per_s=table["bandwidth_behind_MB_per_s"] * 1e6)
            made = predict_formula(behind, last)
            what = f"{table['name']} with B = {table['bandwidth_behind_MB_per_s']} MB/s"
            note = "×".join(map(str, last))
            rows.append(Row(what, table["rows"][-1]["mlups"], round(made.mlups, 3), FORMULA, "MLUP/s", note))
    return Section(rows)


def cg(inputs: Inputs) -> Section:
    """Conjugate gradients on six process grids."""
    given = inputs["cg"]
    cells = (*given["cells"], 1)
    best = min(row["time_s"] for row in given["rows"])
    exchanged: dict[str, int] = {}
    for row in given["rows"]:
        stencil = Stencil(cells, Grid(*(*row["grid"], 1)))
        exchanged["×".join(map(str, row["grid"]))] = int(
            (stencil.faces() * (stencil.neighbours() >= 0)).sum(axis=1).max()
        )
    printed = sorted(given["rows"], key=lambda row: float(row["time_s"]))
    rows = [
        Row(
            f"{grid}: time over the best", row["time_s"] / best, "–",
            PREDICTION, note=f"a rank sends {exchanged[grid]} cells at most",
        )
        for row in given["rows"] for grid in ["×".join(map(str, row["grid"]))]
    ]  # fmt: skip
    fewest = min(exchanged.values())
    rows.append(
        Row(
            "the fastest grid",
            "×".join(map(str, printed[0]["grid"])),
            " and ".join(grid for grid, sent in exchanged.items() if sent == fewest),
            PREDICTION,
            note="by the fewest cells sent; 0.1 % apart in print",
        )
    )
    return Section(rows, {"iterations": str(given["iterations"])})


PROGRAMS: Mapping[str, Callable[[Inputs], Section]] = {
    "amdahl": amdahl,
    "ring": ring,
    "sum3d": sum3d,
    "jacobi": jacobi,
    "cg": cg,
}
"""By the words of the template."""
