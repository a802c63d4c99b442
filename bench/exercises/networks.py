"""What Hockney makes of the exercises' messages, broadcasts and networks, by its own functions."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from bench.exercises.rows import (
    DRAWS,
    FORMULA,
    NOT_COMPARED,
    OTHER,
    PLACES,
    PREDICTION,
    RECOVERY,
    Inputs,
    Row,
    Section,
    noisy,
    thin,
)

from hockney.machine.file import Entry, Machine, load
from hockney.machine.system import Mapping as Order
from hockney.machine.system import Node, System, SystemNetwork
from hockney.models.base import models, predict
from hockney.models.collectives._torus import congestion, congestion_as_printed
from hockney.models.collectives.base import CollectiveModel
from hockney.models.over_ranks.regression import regressions
from hockney.network.bisection.measure import measure
from hockney.network.topologies.base import Network
from hockney.network.topologies.edge_list import edge_list
from hockney.network.topologies.fat_tree import fat_tree
from hockney.network.topologies.torus import torus
from hockney.network.traffic.base import Allocated, Links
from hockney.network.traffic.study import alltoall_congestion, study
from hockney.predict.machine_costs import of_machine, placed
from hockney.predict.simulation import simulate
from hockney.records.series import Series
from hockney.report.marks import Peak
from hockney.schedule.catalogue import ask
from hockney.schedule.words import counts
from hockney.statistics import Array

MIB = 2**20
RECOVERED = 0.03
"""What a recovered number may miss."""


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


def pingpong(inputs: Inputs) -> Section:
    """λ and B by placement."""
    given = inputs["pingpong"]
    size_B = np.array([0, *(2**power for power in range(29))], np.float64)
    rows = []
    for name in ("least_squares", "hockney"):
        off = np.array(
            [
                _recovered(name, size_B, row["latency_us"] * 1e-6, row["bandwidth_MB_per_s"] * 1e6, place)
                for place, row in enumerate(given["rows"])
            ]
        )
        for what, errors in zip(("λ", "B"), off.T, strict=True):
            within = int((errors <= RECOVERED).sum())
            note = f"median of {DRAWS} draws at 1 % noise; the worst is off by {errors.max():.2g}"
            title = f"{what} of 26 lines by `{name}`: within {100 * RECOVERED:.0f} %"
            rows.append(Row(title, len(off), within, RECOVERY, note=note))
    for row in given["shares"]:
        share = Peak("", row["peak_MB_per_s"]).share(row["bandwidth_MB_per_s"], 1)
        rows.append(Row(f"share of the peak: {row['what']}", row["share"], round(100 * share), FORMULA, "%"))
    for row in given["again"]:
        entry = _entry(thin(), PLACES[row["placement"]])
        fit = entry.fits["piecewise"]
        note = "fit of one report, ten runs of the other"
        small, large = (float(predict(fit, np.array([float(at)]))[0]) for at in (1, 256 * MIB))
        rows += [
            Row(f"{row['placement']}: latency", row["latency_us"], small * 1e6, PREDICTION, "µs", note),
            Row(f"{row['placement']}: rate of 256 MiB", row["bandwidth_MB_per_s"], 256 * MIB / large / 1e6,
                PREDICTION, "MB/s"),
        ]  # fmt: skip
    return Section(rows)


def _recovered(name: str, size_B: Array, latency_s: float, rate: float, place: int) -> tuple[float, float]:
    """By how much, relatively, the medians of λ and B of the draws miss what was planted."""
    found = []
    for time_s in noisy(latency_s + size_B / rate, 1, place):
        line = models.get(name)(Series({}, size_B, time_s, time_s, time_s)).regimes[0]
        found.append((line.alpha_s.value / latency_s, 1 / line.beta_s_per_B.value / rate))
    of_latency, of_rate = np.abs(np.median(found, axis=0) - 1)
    return float(of_latency), float(of_rate)


def _entry(machine: Machine, locality: str) -> Entry:
    return next(
        entry
        for entry in machine.point_to_point
        if entry.operation == "pingpong" and entry.locality == locality and "piecewise" in entry.fits
    )


def broadcast(inputs: Inputs) -> Section:
    """Messages of three broadcasts."""
    given = inputs["broadcast"]
    rows = []
    for row in given["rows"]:
        counted = counts(ask("bcast", row["ours"], ranks=row["ranks"], size_B=given["size_B"]))
        what = f"{row['algorithm']} (`{row['ours']}`), {row['ranks']} ranks"
        rows += [
            Row(f"{what}: critical path", row["critical"], counted.critical_path.messages, FORMULA),
            Row(f"{what}: in all", row["all"], counted.messages, FORMULA),
        ]
    pieces = given["segments"]
    for ranks in sorted({row["ranks"] for row in given["rows"]}):
        segment_B = given["size_B"] // pieces
        # The second as the code is printed: no number of that is in print.
        for ours, printed, kind, note in (
            ("pipeline", pieces + ranks - 2, FORMULA, "n/b + P − 2"),
            ("blocking_pipeline", NOT_COMPARED, OTHER, "2 (n/b − 1) + P − 1; as its code is printed"),
        ):
            problem = ask("bcast", ours, ranks=ranks, size_B=given["size_B"], segment_B=segment_B)
            counted = counts(problem)
            what = f"buffer (`{ours}`) of {pieces} packets, {ranks} ranks"
            rows.append(Row(what, printed, counted.critical_path.messages, kind, note=note))
    return Section(rows)


def fat_tree_(inputs: Inputs) -> Section:
    """Ports and bisections of a fat tree."""
    given = inputs["fat_tree"]
    rate = given["link_Gbit_per_s"] * 1e9
    network = fat_tree(
        given["nodes"], tuple(given["leaf_ports"]), given["spines"], (given["spine_ports"], 0),
        links_per_node=given["links_per_node"], link=rate,
    )  # fmt: skip
    whole = measure(network, np.arange(network.nodes)).answer()
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
    return Section(rows, {"links_of_all": str(whole.bisection_links)})


def _bisection(what: str, network: Network, case: Mapping[str, Any]) -> list[Row]:
    made = measure(network, np.arange(case["nodes"])).answer()
    rate = (made.bisection_bandwidth_bit_per_s or math.nan) / 1e9
    return [
        Row(f"{what}: links of the bisection", case["links"], made.bisection_links or math.nan, FORMULA),
        Row(f"{what}: its rate", case["Gbit_per_s"], rate, FORMULA, "Gbit/s", "slip of the exercise: ten times"),
    ]


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
            measure(cube, np.arange(cube.nodes)).hops.diameter,
            FORMULA,
            note="3⌊k/2⌋",
        ),
    ]
    among = Allocated(Links.of(cube), np.arange(cube.nodes))
    # Six streams of a byte from each node.
    paired = study(among, traffic="worst_pairing", routing="shortest", size_B=6)
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
    costs, place = placed(of_machine(thin(), "orfeo_thin"), _system(), "core", given["ranks"])
    for place_of_row, row in enumerate(given["rows"]):
        coefficients = row["coefficients"]
        what = f"{row['operation']}, {row['algorithm']}"
        if len(coefficients) == 2:
            line = np.polynomial.Polynomial(coefficients)(ranks) * 1e-6
            slopes = [
                one.coefficients[1] * 1e6
                for time_s in noisy(line, 2, place_of_row)
                for one in regressions(ranks, time_s)
                if one.degree == 1 and one.weights == "relative"
            ]
            note = f"median of {DRAWS} draws at 1 % noise"
            rows.append(Row(f"{what}: slope", coefficients[1], float(np.median(slopes)), RECOVERY, "µs", note))
        problem = ask(row["operation"], row["ours"], ranks=given["ranks"], size_B=given["size_B"])
        finish_us = simulate(problem, costs, place=place).finish_s * 1e6
        printed: float | str = "no number"
        if len(coefficients) == 2:
            printed = float(np.polynomial.Polynomial(coefficients)(given["ranks"]))
        note = f"the last rank at {finish_us.max():.3g} µs"
        mean_us = float(finish_us.mean())
        rows.append(Row(f"{what}: mean over 48 ranks", printed, mean_us, PREDICTION, "µs", note))
    return Section(rows)


NETWORKS: Mapping[str, Callable[[Inputs], Section]] = {
    "pingpong": pingpong,
    "broadcast": broadcast,
    "fat_tree": fat_tree_,
    "bluegene_p": bluegene_p,
    "osu": osu,
}
"""By the words of the template."""
