"""`hockney simulate`: a collective under LogGOPS parameters, without measuring anything."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from hockney.cli import JsonOption, emit_json, err, out, verb
from hockney.cli._network_figures import NetworkBandwidth, NetworkLatency, network_figures
from hockney.errors import RequestError

if TYPE_CHECKING:
    from hockney.predict.costs import Source
    from hockney.predict.network_figures import NetworkFigures
    from hockney.predict.scenario import Place
    from hockney.predict.simulation import Outcome, Shared
    from hockney.schedule.catalogue import Asked

PICTURES = (".svg", ".png", ".html")


MOST_PLACES = 2**28
"""Nodes and links that are held: a few gigabytes."""


@verb(
    "simulate",
    examples="hockney simulate bcast --algorithm binomial --ranks 1048576 --bytes 1024 --latency 2.5us "
    "--overhead 1.5us --gap 1us --gap-per-byte 6ns\n"
    "hockney simulate allreduce --algorithm ring --ranks 4096 --bytes 64MiB --latency 1us --overhead 0.3us "
    "--gap-per-byte 12.5GB/s --reduction 20GB/s --critical-path --json\n"
    "hockney simulate alltoall --algorithm pairwise --ranks 512 --bytes 64KiB --latency 2us --overhead 0.5us "
    "--gap-per-byte 10GB/s --node-size 8 --node-bandwidth 12.5GB/s --torus 4x4x4 --link-bandwidth 10GB/s\n"
    "hockney simulate bcast --algorithm binomial --ranks 64 --bytes 1KiB --machine machine.json --json",
)
def simulate(
    collective: Annotated[str, typer.Argument(help="bcast, allreduce, …", metavar="COLLECTIVE")],
    algorithm: Annotated[str, typer.Option(help="See `hockney schedule list`.")],
    ranks: Annotated[int, typer.Option(help="Number of ranks.")],
    size: Annotated[
        str,
        typer.Option("--bytes", help="The vector (bcast, reduce, allreduce), or one rank's block (the others)."),
    ] = "1KiB",
    latency: Annotated[str, typer.Option(help="L: a time, as 2.5us; needed without --machine or --system.")] = "",
    overhead: Annotated[str, typer.Option(help="o: the processor's time to send, and to receive.")] = "",
    receive_overhead: Annotated[str, typer.Option(help="o_r, where it differs from --overhead.")] = "",
    overhead_per_byte: Annotated[str, typer.Option(help="O: a time, or a rate.")] = "",
    gap: Annotated[str, typer.Option(help="g: between two messages of a rank.")] = "",
    gap_per_byte: Annotated[str, typer.Option(help="G: a time, as 6ns, or a rate, as 10GB/s.")] = "",
    reduction: Annotated[str, typer.Option(help="γ: to reduce a byte, or a rate.")] = "",
    copy: Annotated[str, typer.Option(help="To copy a byte, or a rate.")] = "",
    rendezvous_above: Annotated[str, typer.Option(help="Largest eager message; none: all are.")] = "",
    machine: Annotated[
        Path | None, typer.Option(help="Machine file: its parameters where none are given here.")
    ] = None,
    system: Annotated[
        str, typer.Option(help="Description of the system, where ranks are: a known name or a JSON file.")
    ] = "",
    mapping: Annotated[str, typer.Option(help="How the system's mapping puts ranks.")] = "",
    network_latency: NetworkLatency = "",
    network_bandwidth: NetworkBandwidth = "",
    root: Annotated[int, typer.Option(help="The root, where the collective has one.")] = 0,
    segment: Annotated[str, typer.Option(help="Size of a segment, or none.")] = "none",
    radix: Annotated[int, typer.Option(help="Fan-out or radix; 0 for the algorithm's default.")] = 0,
    node_size: Annotated[int, typer.Option(help="Ranks of a node, one after another.")] = 1,
    node_bandwidth: Annotated[str, typer.Option(help="Into and out of a node, shared by its ranks.")] = "",
    torus: Annotated[str, typer.Option(help="Extents of a torus of nodes, as 8x8x8.")] = "",
    fat_tree: Annotated[str, typer.Option(help="Children:uplinks of each level, as 16:4,8:2.")] = "",
    link_bandwidth: Annotated[str, typer.Option(help="Of each link between the nodes.")] = "",
    noise: Annotated[str, typer.Option(help="Mean of an exponential delay of each act.")] = "0s",
    seed: Annotated[int, typer.Option(help="Of the noise.")] = 0,
    by_class: Annotated[bool, typer.Option(help="One rank for all that do the same.")] = True,
    critical_path: Annotated[bool, typer.Option("--critical-path", help="Where the time went.")] = False,
    per_rank: Annotated[Path | None, typer.Option(help="CSV: when each rank is done.")] = None,
    trace: Annotated[Path | None, typer.Option(help="Each step: .csv, or drawn: .svg, .png, .html.")] = None,
    json: JsonOption = False,
) -> None:
    """When each rank is done with a collective, under LogGOPS parameters.

    They are given here, or are those of a machine file (or, roughly, of a system's description), by locality
    where --system says where ranks are; what is given here replaces them everywhere.
    """
    from hockney.predict.simulation import simulate as run
    from hockney.schedule.catalogue import ask
    from hockney.units import parse_bytes, parse_per_byte, parse_time

    asked = ask(
        collective,
        algorithm,
        ranks=ranks,
        root=root,
        size_B=parse_bytes(size),
        segment_B=_size(segment, parse_bytes, "segment") or 0,
        radix=radix,
    )
    options = {
        "latency_s": (latency, parse_time),
        "overhead_s": (overhead, parse_time),
        "receive_overhead_s": (receive_overhead or overhead, parse_time),
        "overhead_s_per_B": (overhead_per_byte, parse_per_byte),
        "gap_s": (gap, parse_time),
        "gap_s_per_B": (gap_per_byte, parse_per_byte),
        "reduce_s_per_B": (reduction, parse_per_byte),
        "copy_s_per_B": (copy, parse_per_byte),
        "rendezvous_above_B": (rendezvous_above, lambda text: _size(text, parse_bytes, "limit")),
    }
    given: dict[str, Any] = {name: parse(text) for name, (text, parse) in options.items() if text}
    shared = _shared(node_size, node_bandwidth, torus, fat_tree, link_bandwidth)
    network = network_figures(network_latency, network_bandwidth)
    source, place, parameters, warnings = _source(given, machine, system, mapping, network, asked, shared)
    noise_s = parse_time(noise)
    if not 0 <= seed < 2**64:
        raise RequestError(
            f"the seed must be at least 0 and below 2^64, and {seed} is not", "for example --seed 1"
        )
    if trace and (shared or noise_s or place):
        raise RequestError("--trace shows neither shared links nor places nor noise", "leave one of them out")
    outcome = run(
        asked,
        source,
        place=place,
        shared=shared,
        noise_s=noise_s,
        seed=seed,
        # A row for each rank needs each rank.
        by_class=by_class and per_rank is None,
        critical_path=critical_path,
    )
    written = _write_files(asked, source, outcome, per_rank, trace)
    if json:
        problem = asked.problem
        emit_json(
            {
                "collective": collective,
                "algorithm": algorithm,
                "ranks": ranks,
                "bytes": problem.bytes,
                "root": root,
                "segment_bytes": problem.segment_B or None,
                "radix": radix or None,
                "parameters": parameters,
                "warnings": warnings,
                "noise_s": noise_s,
                "seed": seed if noise_s else None,
                **outcome.summary(),
                **written,
            }
        )
        return
    for warning in warnings:
        err.print(f"[yellow]warning:[/yellow] {warning}", soft_wrap=True)
    _print(asked, outcome, written)


def _source(
    given: dict[str, Any],
    machine: Path | None,
    system: str,
    mapping: str,
    network: NetworkFigures,
    asked: Asked,
    shared: Shared | None,
) -> tuple[Source, Place | None, dict[str, Any], list[str]]:
    """What messages cost, where ranks are, {locality: {parameter: {value, from}}}, and what is assumed."""
    from hockney.machine.file import load
    from hockney.machine.system import find_system
    from hockney.predict.machine_costs import COMMAND_LINE, of_machine, of_system, placed
    from hockney.predict.network_figures import with_network
    from hockney.predict.scenario import LOCALITIES
    from hockney.predict.simulation import FARTHEST, Parameters

    if machine is None and not system:
        if "latency_s" not in given:
            raise RequestError(
                "a simulation needs --latency, or --machine or --system", "for example --latency 2.5us"
            )
        if mapping:
            raise RequestError("--mapping needs --system", "say which system the ranks are on")
        if network.are_given:
            raise RequestError(
                "--network-latency and --network-bandwidth complete a --machine or --system",
                "without one --latency and --gap-per-byte are those of all messages",
            )
        plain = Parameters(
            **{"overhead_s": 0.0, "receive_overhead_s": 0.0, "gap_s": 0.0, "gap_s_per_B": 0.0} | given
        )
        told = {
            name: {"value": value, "from": COMMAND_LINE if name in given else "default"}
            for name, value in vars(plain).items()
        }
        return plain, None, {"all": told}, []
    described = find_system(system) if system else None
    if described and shared:
        raise RequestError(
            "--system says what nodes and links are shared", "leave out --node-size, --node-bandwidth, networks"
        )
    if machine:
        costs = of_machine(load(machine), str(machine))
    elif described:
        costs = of_system(described)
    costs = with_network(costs, network, described).replaced(given)
    ranks = asked.problem.ranks
    warnings = [*costs.warnings, *costs.beyond(asked.problem.bytes)]
    if described is None:
        if mapping:
            raise RequestError("--mapping needs --system", "say which system the ranks are on")
        if shared is None:
            warnings += costs.assumptions(None, ranks)
            costs = costs.alike(ranks)
            return costs, None, costs.told(given, list(costs.messages)), warnings
        on_nodes = shared.place(ranks)
        costs.check_network(on_nodes, ranks)
        warnings += costs.assumptions(on_nodes, ranks)
        return costs, None, costs.told(given, [FARTHEST - 1, FARTHEST]), warnings
    costs, place = placed(costs, network.of(described), mapping, ranks)
    costs.check_network(place, ranks)
    warnings += costs.assumptions(place, ranks)
    return costs, place, costs.told(given, range(len(LOCALITIES))), warnings


def _size(text: str, parse: Callable[[str], int], what: str) -> int | None:
    if text == "none":
        return None
    size_B = parse(text)
    if size_B == 0 and what == "segment":
        raise RequestError("a segment of 0 B holds nothing", "write `none` for a message in one piece")
    return size_B


def _shared(node_size: int, node_bandwidth: str, torus: str, fat_tree: str, link_bandwidth: str) -> Shared | None:
    from hockney.predict.simulation import Shared
    from hockney.units import parse_per_byte

    if not 1 <= node_size <= MOST_PLACES:
        raise RequestError(
            f"a node must have at least one rank and at most {MOST_PLACES}, not {node_size}",
            "for example --node-size 8",
        )
    if torus and fat_tree:
        raise RequestError("a network is a torus or a fat tree, not both", "leave one of them out")
    if bool(torus or fat_tree) != bool(link_bandwidth):
        raise RequestError(
            "a network needs the bandwidth of its links, and links a network",
            "give --torus or --fat-tree together with --link-bandwidth",
        )
    if not (node_bandwidth or link_bandwidth):
        if node_size > 1:
            raise RequestError("--node-size alone changes nothing", "add --node-bandwidth, or a network")
        return None
    return Shared(
        node_size=node_size,
        node_gap_s_per_B=parse_per_byte(node_bandwidth) if node_bandwidth else 0.0,
        network_gap_s_per_B=parse_per_byte(link_bandwidth) if link_bandwidth else 0.0,
        torus=_extents(torus),
        tree=_levels(fat_tree),
    )


def _extents(text: str) -> tuple[int, ...]:
    if text and not re.fullmatch(r"[1-9]\d{0,6}(x[1-9]\d{0,6}){0,9}", text):
        raise RequestError(f"{text!r} is not a torus", "write its extents, for example 8x8x8")
    extents = tuple(int(extent) for extent in text.split("x") if extent)
    _refuse_huge(math.prod(extents) * 2 * len(extents), text)
    return extents


def _refuse_huge(links: int, text: str) -> None:
    if links > MOST_PLACES:
        raise RequestError(f"{text!r} has {links:.3g} links, more than are held", "give a smaller network")


def _levels(text: str) -> tuple[tuple[int, int], ...]:
    level = r"[1-9]\d{0,6}:[1-9]\d{0,6}"
    if text and not re.fullmatch(f"{level}(,{level}){{0,9}}", text):
        raise RequestError(f"{text!r} is not a fat tree", "write children:uplinks of each level, as 16:4,8:2")
    pairs = [one.split(":") for one in text.split(",") if one]
    levels = tuple((int(children), int(uplinks)) for children, uplinks in pairs)
    nodes = math.prod(children for children, _ in levels)
    _refuse_huge(nodes * 2 * max((uplinks for _, uplinks in levels), default=0), text)
    return levels


def _write_files(
    asked: Asked, source: Source, outcome: Outcome, per_rank: Path | None, trace: Path | None
) -> dict[str, str]:
    from hockney.predict.simulation import trace as steps

    written: dict[str, str] = {}
    if per_rank is not None:
        _write_table(per_rank, ({"rank": r, "finish_s": s} for r, s in enumerate(outcome.finish_s.tolist())))
        written["per_rank"] = str(per_rank)
    if trace is not None:
        if trace.suffix in PICTURES:
            _draw(asked, source, trace)
        elif trace.suffix == ".csv":
            _write_table(trace, steps(asked, source))
        else:
            raise RequestError(
                f"cannot write a trace as {trace.name}", "end the name in .csv, .svg, .png or .html"
            )
        written["trace"] = str(trace)
    return written


def _write_table(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = None
            for row in rows:
                if writer is None:
                    writer = csv.DictWriter(file, row.keys(), lineterminator="\n")
                    writer.writeheader()
                writer.writerow(row)
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror}", "choose another place") from error


def _draw(asked: Asked, source: Source, path: Path) -> None:
    from hockney.predict.simulation import FARTHEST
    from hockney.report.schedules import draw, page
    from hockney.report.svg import png_file, svg_file

    figure = draw(asked, "space-time", source.at([FARTHEST]))
    try:
        if path.suffix == ".html":
            path.write_bytes(page(figure, asked))
        else:
            path.write_bytes(svg_file(figure) if path.suffix == ".svg" else png_file(figure))
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror}", "choose another place") from error


def _print(asked: Asked, outcome: Outcome, written: dict[str, str]) -> None:
    from hockney.units import format_bytes, format_time

    problem = asked.problem
    name = f"{asked.algorithm.collective} {asked.algorithm.name}, {problem.ranks:,} ranks"
    out.print(f"{name}, {format_bytes(problem.bytes)} ({outcome.method})", markup=False)
    table = Table(show_header=False, box=None)
    table.add_column()
    table.add_column(justify="right")
    told = outcome.summary()
    table.add_row("last rank done", format_time(told["makespan_s"]))
    table.add_row("mean over ranks", format_time(told["mean_over_ranks_s"]))
    table.add_row("first rank done", format_time(told["min_over_ranks_s"]))
    table.add_row("messages", f"{outcome.messages:,}")
    table.add_row("simulated in", format_time(outcome.engine_s))
    out.print(table)
    if outcome.critical_path is not None:
        path = Table("critical path", "time", "share", box=None)
        for term, seconds in outcome.critical_path["terms_s"].items():
            if seconds:
                share = f"{seconds / told['makespan_s']:.1%}"
                path.add_row(term.replace("_", " "), format_time(seconds), share)
        out.print(path)
    for file in written.values():
        out.print(f"wrote {file}", markup=False, soft_wrap=True)
