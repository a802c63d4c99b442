"""What Hockney makes of each exercise's printed inputs, by its own functions."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from bench.exercises.page import FORMULA, PREDICTION, RECOVERY, Inputs, Row, Section

from hockney.apps.jacobi.printed import WeakScalingCase, jacobi_models
from hockney.apps.jacobi.printed import predict as predict_jacobi
from hockney.apps.ring.model import MachineLinks
from hockney.apps.ring.model import predict as predict_ring
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.loads import as_lines, loads
from hockney.apps.stencil.stencil import Stencil
from hockney.apps.sum3d.model import costs_of, predict_sum3d
from hockney.machine.file import Entry, Machine, load
from hockney.machine.system import Mapping as Order
from hockney.machine.system import Node, System, SystemNetwork
from hockney.models.base import models, predict
from hockney.models.collectives._torus import congestion, congestion_as_printed
from hockney.models.collectives.base import CollectiveModel
from hockney.models.over_ranks.boundaries import Boundary
from hockney.models.over_ranks.regression import regressions
from hockney.models.over_ranks.segments import segments
from hockney.models.scaling.laws import laws, whole_processes
from hockney.network.bisection.measure import measure
from hockney.network.topologies.base import Network
from hockney.network.topologies.edge_list import edge_list
from hockney.network.topologies.fat_tree import fat_tree
from hockney.network.topologies.torus import torus
from hockney.network.traffic.base import Allocated, Links
from hockney.network.traffic.study import alltoall_congestion, study
from hockney.predict.machine_costs import of_machine, placed
from hockney.predict.simulation import simulate
from hockney.records.record import Locality
from hockney.records.series import Series
from hockney.report.marks import Peak
from hockney.schedule.catalogue import ask
from hockney.schedule.words import counts
from hockney.units import Extents

MIB = 2**20
SEEDS = range(20)
NOISE = 0.01
PLACES: dict[str, Locality] = {"core": "cache", "socket": "node", "node": "network"}
"""The exercises' words for where two ranks are, on a node of two packages with one cache each."""


def _thin() -> Machine:
    return load(Path("orfeo_thin"))


def _system() -> System:
    """Two nodes of two packages with twelve cores each, as the exercises describe them."""
    return System(
        schema_version=1,
        name="two nodes",
        nodes=2,
        node=Node(packages=2, numa_per_package=1, caches_per_numa=1, cores_per_cache=12),
        network=SystemNetwork(topology="switch"),
        mappings={"core": Order(order=["core", "cache", "numa", "package", "node"])},
    )


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
    for node, at in (("THIN", given["thin"]), ("GPU", given["gpu"])):
        found, broke = _planted_ring([2e-6 * value for value in at.values()], ends)
        for (place, printed), ours in zip(at.items(), found, strict=True):
            rows.append(Row(f"{node}, {place}: T_l = b/2", printed, ours * 1e6, RECOVERY, "µs"))
        note = "of 20 curves with 1 % noise, both breaks"
        rows.append(Row(f"{node}: curves whose breaks are found", len(SEEDS), broke, RECOVERY, note=note))
    links = MachineLinks(_thin())
    around: dict[str, Locality] = {"package": "cache", "node": "node", "network": "network"}
    for place, locality in around.items():
        made = predict_ring([locality] * 24, links, "sendrecv")
        assert made is not None
        note = f"24 processes, `{locality}` ping-pongs of `orfeo_thin`"
        printed = 2 * given["thin"][place]
        rows.append(Row(f"THIN, {place}: a hop, b", printed, made.time_s / 24 * 1e6, PREDICTION, "µs", note))
    return Section(rows)


def _planted_ring(slopes_s: list[float], ends: list[int]) -> tuple[list[float], int]:
    """Median latencies in s over curves with those slopes, and in how many of them the breaks are found."""
    ranks = np.arange(1, ends[-1] + 1, dtype=np.float64)
    slope = np.array([next(s for s, end in zip(slopes_s, ends, strict=True) if end >= P) for P in ranks])
    # A further process adds two latencies of all its cycle's hops: T = b P with the b of the slowest neighbours.
    time_s = slope * ranks
    expected = [Boundary(ends[0], ends[0] + 1, "package"), Boundary(ends[1], ends[1] + 1, "node")]
    found: list[list[float]] = []
    for seed in SEEDS:
        noisy = time_s * np.random.default_rng(seed).normal(1, NOISE, ranks.size)
        lines = segments(ranks, noisy, expected).segments
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
        shown.append(Row(f"5×5 on {'×'.join(map(str, row['grid']))}, {split}", row["loads"], made, FORMULA))
    low, high = (np.array([row[name] for row in given["rows"]]) for name in ("low_s", "high_s"))
    mean_s = float(np.mean((low + high) / 2))
    rows = [*shown, Row("rows of loads (tables I to III)", len(given["rows"]), agree, FORMULA)]
    rows += [
        Row(
            f"{'×'.join(map(str, row['size']))} on {'×'.join(map(str, row['grid']))}", row["loads"], made, FORMULA
        )
        for row, made in differing
    ]
    size, grid = Extents(2400, 100, 100), Grid(24, 1, 1)
    for locality in ("cache", "node"):
        # Memory that costs nothing: the exercise prints no bandwidth of it, and none is chosen for it.
        cycle = predict_sum3d(size, grid, "balanced", costs_of(_thin(), "orfeo_thin", size, locality), math.inf)
        parts = {"scatter": cycle.scatter_s, "gather": cycle.gather_s}
        note = f"messages alone; {mean_s / cycle.time_s:.1f} times too fast"
        rows.append(Row(f"a cycle, `{locality}`", mean_s, cycle.time_s, PREDICTION, "s", note))
        for part, part_s in parts.items():
            printed = given[f"{part}_share"] * mean_s
            rows.append(Row(f"{part}, `{locality}`", printed, part_s, PREDICTION, "s"))
    return Section(rows, {"least_high": f"{high.min():.4f}", "largest_low": f"{low.max():.4f}"})


def pingpong(inputs: Inputs) -> Section:
    """λ and B by placement."""
    given = inputs["pingpong"]
    size_B = np.array([0, *(2**power for power in range(29))], np.float64)
    worst: dict[str, float] = {}
    for row in given["rows"]:
        latency_s, rate = row["latency_us"] * 1e-6, row["bandwidth_MB_per_s"] * 1e6
        time_s = latency_s + size_B / rate
        for name in ("least_squares", "hockney"):
            fit = models.get(name)(Series({}, size_B, time_s, time_s, time_s))
            line = fit.regimes[0]
            off = max(abs(line.alpha_s.value / latency_s - 1), abs(1 / line.beta_s_per_B.value / rate - 1))
            worst[name] = max(off, worst.get(name, 0.0))
    rows = [
        Row(f"λ and B of 26 lines by `{name}`: pairs within 10⁻⁶", len(given["rows"]),
            len(given["rows"]) if off < 1e-6 else f"off by {off:.2g}", RECOVERY)
        for name, off in worst.items()
    ]  # fmt: skip
    for row in given["shares"]:
        share = Peak("", row["peak_MB_per_s"]).share(row["bandwidth_MB_per_s"], 1)
        rows.append(Row(f"share of the peak: {row['what']}", row["share"], round(100 * share), FORMULA, "%"))
    for row in given["again"]:
        entry = _entry(_thin(), PLACES[row["placement"]])
        fit = entry.fits["piecewise"]
        note = "fit of one report, ten runs of the other"
        small, large = (float(predict(fit, np.array([float(at)]))[0]) for at in (1, 256 * MIB))
        rows += [
            Row(f"{row['placement']}: latency", row["latency_us"], small * 1e6, PREDICTION, "µs", note),
            Row(f"{row['placement']}: rate of 256 MiB", row["bandwidth_MB_per_s"], 256 * MIB / large / 1e6,
                PREDICTION, "MB/s"),
        ]  # fmt: skip
    return Section(rows)


def _entry(machine: Machine, locality: str) -> Entry:
    return next(
        entry
        for entry in machine.point_to_point
        if entry.operation == "pingpong" and entry.locality == locality and "piecewise" in entry.fits
    )


def jacobi(inputs: Inputs) -> Section:
    """Weak scaling of Jacobi by the printed formulas, beside the measured rates."""
    given = inputs["jacobi"]
    rows = []
    for table in given["tables"]:
        worst, ratio, measured = Row("", 0.0, 0.0, FORMULA), 0.0, Row("", 1.0, 1.0, PREDICTION)
        for row in table["rows"]:
            case = WeakScalingCase(
                given["subdomain"],
                table["serial_time_s"],
                table["latency_us"] * 1e-6,
                (table["bandwidth_MB_per_s"] or 1) * 1e6,
            )
            made = predict_jacobi(jacobi_models.get("weak_scaling_jacobi"), case, Grid(*row["grid"]))
            grid = "×".join(map(str, row["grid"]))
            one = Row(grid, row["mlups"], round(made.mlups, 3 if len(table["rows"]) > 1 else 2), FORMULA)
            if abs(one.off) >= abs(worst.off):
                worst = one
            assert (made.k, made.halo_B / 1e6) == (row["k"], row["halo_MB"])
            ratio = max(ratio, abs(round(1 / made.efficiency, 3) - row["ratio"]))
            seen = Row(grid, row["measured_mlups"], made.mlups, PREDICTION)
            if abs(seen.off) >= abs(measured.off):
                measured = seen
        title = f"{table['name']}: {table['where'][0].lower()}{table['where'][1:]}"
        note = f"P^com, the worst of {len(table['rows'])} rows ({worst.what}); N·P₁/P off by {ratio:.3f} at most"
        rows.append(Row(title, worst.printed, worst.ours, FORMULA, "MLUP/s", note))
        if "bandwidth_behind_MB_per_s" in table:
            last = Grid(*table["rows"][-1]["grid"])
            behind = replace(case, bandwidth_B_per_s=table["bandwidth_behind_MB_per_s"] * 1e6)
            made = predict_jacobi(jacobi_models.get("weak_scaling_jacobi"), behind, last)
            what = f"{table['name']} with B = {table['bandwidth_behind_MB_per_s']} MB/s"
            note = "×".join(map(str, last))
            rows.append(Row(what, table["rows"][-1]["mlups"], round(made.mlups, 3), FORMULA, "MLUP/s", note))
        if len(table["rows"]) > 1:
            note = f"P^Jac, the worst row ({measured.what})"
            rows.append(
                Row(f"{table['name']}: measured", measured.printed, measured.ours, PREDICTION, "MLUP/s", note)
            )
    return Section(rows)


def broadcast(inputs: Inputs) -> Section:
    """Messages of three broadcasts."""
    given = inputs["broadcast"]
    rows = []
    for row in given["rows"]:
        made = counts(ask("bcast", row["ours"], ranks=row["ranks"], size_B=given["size_B"]).generate())
        what = f"{row['algorithm']} (`{row['ours']}`), {row['ranks']} ranks"
        rows += [
            Row(f"{what}: critical path", row["critical"], made["critical_path"]["messages"], FORMULA),
            Row(f"{what}: in all", row["all"], made["messages"], FORMULA),
        ]
    pieces = given["segments"]
    for ranks in sorted({row["ranks"] for row in given["rows"]}):
        segment_B = given["size_B"] // pieces
        problem = ask("bcast", "pipeline", ranks=ranks, size_B=given["size_B"], segment_B=segment_B)
        made = counts(problem.generate())
        what = f"pipeline of {pieces} packets, {ranks} ranks"
        rows.append(Row(what, pieces + ranks - 2, made["critical_path"]["messages"], FORMULA, note="n/b + P − 2"))
    return Section(rows)


def fat_tree_(inputs: Inputs) -> Section:
    """Ports and bisections of a fat tree."""
    given = inputs["fat_tree"]
    rate = given["link_Gbit_per_s"] * 1e9
    network = fat_tree(
        given["nodes"], tuple(given["leaf_ports"]), given["spines"], (given["spine_ports"], 0),
        links_per_node=given["links_per_node"], link=rate,
    )  # fmt: skip
    whole = measure(network, np.arange(network.nodes), time_limit_s=5, seed=1).as_data()
    leaves = network.switches - given["spines"]
    spine_ports = int(network.parallel[(network.ends >= network.nodes).all(axis=1)].sum()) // given["spines"]
    rows = [
        Row("leaf switches", given["leaves"], leaves, FORMULA),
        Row("used ports of a spine", given["used_spine_ports"], spine_ports, FORMULA),
        Row("links down to links up", given["taper"], given["leaf_ports"][0] / given["leaf_ports"][1], FORMULA),
    ]
    for case in given["allocations"]:
        rows += _bisection(f"{case['nodes']} nodes", network, case)
    with tempfile.TemporaryDirectory() as folder:
        for case in given["complete"]:
            path = Path(folder) / "complete"
            pairs = combinations(range(case["nodes"]), 2)
            path.write_text("".join(f"n{a} n{b} x{case['parallel']}\n" for a, b in pairs), encoding="utf-8")
            rows += _bisection(f"16 nodes in pairs, {case['parallel']} links", edge_list(str(path), rate), case)
    return Section(rows, {"links_of_all": str(whole["bisection_links"])})


def _bisection(what: str, network: Network, case: Mapping[str, Any]) -> list[Row]:
    made = measure(network, np.arange(case["nodes"]), time_limit_s=5, seed=1).as_data()
    rate = made["bisection_bandwidth_bit_per_s"] / 1e9
    return [
        Row(f"{what}: links of the bisection", case["links"], made["bisection_links"], FORMULA),
        Row(f"{what}: its rate", case["Gbit_per_s"], rate, FORMULA, "Gbit/s", "slip of the exercise: ten times"),
    ]


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


def bluegene_p(inputs: Inputs) -> Section:
    """Hoefler et al. 2010."""
    given = inputs["bluegene_p"]
    machine = load(Path("bluegene_p"))
    fit = _entry_of(machine)
    rows = []
    for piece in given["pieces"]:
        size = piece["at_B"]
        printed = piece["alpha_us"] + piece["beta_ns_per_B"] * size / 1e3
        ours = float(predict(fit, np.array([float(size)]))[0]) * 1e6
        rows.append(Row(f"message of {size} B, equation (1)", printed, ours, FORMULA, "µs"))
    rate = 1 / fit.regimes[-1].beta_s_per_B.value / 1e6
    rows.append(Row("bandwidth of a link", given["bandwidth_MB_per_s"], rate, FORMULA, "MB/s", "MiB/s in print"))
    of = {model.operation: model for model in machine.collectives if not model.algorithm}
    bcast, allreduce, alltoall = given["bcast"], given["allreduce"], given["alltoall"]
    P = bcast["ranks"]
    small = bcast["alpha_us"] + bcast["beta_us"] * math.log2(P)
    rows += [
        Row("barrier", given["barrier_us"], _us(of["barrier"], P, 0), FORMULA, "µs"),
        Row(f"broadcast of 8 B on {P} nodes", small, _us(of["bcast"], P, 8), FORMULA, "µs"),
        Row("allreduce of 8 B, 4096 nodes", allreduce["constant_us"],
            _us(of["allreduce"], allreduce["most_ranks"], 8), FORMULA, "µs"),
        Row("alltoall of 8 B, 512 nodes", alltoall["alpha_us"] + alltoall["gap_us"] * (alltoall["ranks"] - 1),
            _us(of["alltoall"], alltoall["ranks"], 8), FORMULA, "µs"),
        Row("broadcast of 960 MiB: rate", bcast["large_MB_per_s"],
            bcast["large_B"] / _us(of["bcast"], 32768, bcast["large_B"]), FORMULA, "MB/s", "MiB/s in print"),
        Row("allreduce over broadcast, 9.6·10⁸ B", allreduce["large_over_bcast"],
            _us(of["allreduce"], 4096, allreduce["large_B"]) / _us(of["bcast"], 4096, allreduce["large_B"]),
            FORMULA),
    ]  # fmt: skip
    k = given["torus"]["k"]
    cube = torus((k, k, k))
    effects = {effect.effect: effect.parameters for effect in machine.effects}
    queue, vector = given["queue"], given["vector"]
    rows += [
        Row(
            f"matching behind {queue['entries']} entries",
            queue["time_us"],
            effects["matching"]["per_entry_s"].value * queue["entries"] * 1e6,
            FORMULA,
            "µs",
            "the worst case",
        ),
        Row(
            "contiguous vector of 16 KiB",
            vector["contiguous_us"],
            float(predict(fit, np.array([float(vector["size_B"])]))[0]) * 1e6,
            PREDICTION,
            "µs",
            "by equation (1)",
        ),
        Row(
            f"largest distance, {k}³ torus",
            given["torus"]["hops_over_half_k"] * (k // 2),
            measure(cube, np.arange(cube.nodes), time_limit_s=5, seed=1).hops.diameter,
            FORMULA,
            note="3⌊k/2⌋",
        ),
    ]
    among = Allocated(Links.of(cube), np.arange(cube.nodes))
    paired = study(among, traffic="worst_pairing", routing="shortest", size_B=1, streams=6)
    rows.append(
        Row(f"worst pairing, {k}³ torus: congestion", given["torus"]["congestion_over_k"] * k,
            float(paired.load.worst_B), FORMULA, note="3k/2")
    )  # fmt: skip
    for case in given["alltoall_congestion"]:
        side = case["k"]
        exact = float(alltoall_congestion((side, side, side)))
        assert exact == congestion(side)
        rows += [
            Row(
                f"alltoall, {side}³ torus: C as printed", case["printed"], congestion_as_printed(side**3), FORMULA
            ),
            Row(
                f"alltoall, {side}³ torus: C",
                case["printed"],
                exact,
                FORMULA,
                note="exact: k⁴/8; slip, see below",
            ),
        ]
    return Section(rows)


def _entry_of(machine: Machine) -> Any:
    entry = next(one for one in machine.point_to_point if one.operation == "pingpong")
    return next(iter(entry.fits.values()))


def _us(model: CollectiveModel, ranks: int, size_B: int) -> float:
    time_s = model.time_s(ranks, size_B)
    return math.nan if time_s is None else time_s * 1e6


def osu(inputs: Inputs) -> Section:
    """Regressions of broadcast and scatter in the number of processes."""
    given = inputs["osu"]
    ranks = np.arange(2, given["ranks"] + 1, dtype=np.float64)
    rows = []
    costs, place = placed(of_machine(_thin(), "orfeo_thin"), _system(), "core", given["ranks"])
    for row in given["rows"]:
        coefficients = row["coefficients"]
        what = f"{row['operation']}, {row['algorithm']}"
        if len(coefficients) == 2:
            line = np.polynomial.Polynomial(coefficients)(ranks) * 1e-6
            fit = next(one for one in regressions(ranks, line) if one.degree == 1 and one.weights == "absolute")
            rows.append(Row(f"{what}: slope", coefficients[1], fit.coefficients[1] * 1e6, RECOVERY, "µs"))
        problem = ask(row["operation"], row["ours"], ranks=given["ranks"], size_B=given["size_B"])
        finish_us = simulate(problem, costs, place=place).finish_s * 1e6
        printed: float | str = "no number"
        if len(coefficients) == 2:
            printed = float(np.polynomial.Polynomial(coefficients)(given["ranks"]))
        note = f"the last rank at {finish_us.max():.3g} µs"
        mean_us = float(finish_us.mean())
        rows.append(Row(f"{what}: mean over 48 ranks", printed, mean_us, PREDICTION, "µs", note))
    return Section(rows)


SECTIONS: Mapping[str, Callable[[Inputs], Section]] = {
    "amdahl": amdahl,
    "ring": ring,
    "sum3d": sum3d,
    "pingpong": pingpong,
    "jacobi": jacobi,
    "broadcast": broadcast,
    "fat_tree": fat_tree_,
    "cg": cg,
    "bluegene_p": bluegene_p,
    "osu": osu,
}
"""By the words of the template."""
