"""`hockney simulate`: a collective under LogGOPS parameters, without measuring anything."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field
from rich.table import Table

from hockney.cli.schedule import ScheduleOptions
from hockney.errors import RequestError
from hockney.options import Option
from hockney.predict.verb import NetworkOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time, parse_bytes, parse_extents, parse_per_byte, parse_time

with later():
    from hockney.machine.file import load
    from hockney.machine.system import find_system
    from hockney.predict.costs import CostSource
    from hockney.predict.machine_costs import COMMAND_LINE, of_machine, of_system, placed
    from hockney.predict.network_figures import NetworkFigures, with_network
    from hockney.predict.scenario import LOCALITIES, Place
    from hockney.predict.simulation import FARTHEST, LoggopsParameters, Shared, SimulationResult
    from hockney.predict.simulation import simulate as run
    from hockney.predict.simulation import trace as steps
    from hockney.report.drawn import ENDINGS
    from hockney.report.schedules import draw, write
    from hockney.schedule.catalogue import ScheduleRequest


MOST_PLACES = 2**28
"""Nodes and links that are held: a few gigabytes."""
MOST_DIMENSIONS = 10


def _extents(text: str) -> tuple[int, ...]:
    dimensions, example = range(1, MOST_DIMENSIONS + 1), "8x8x8"
    extents = parse_extents(text, "a torus", "nodes", dimensions=dimensions, at_most=MOST_PLACES, example=example)
    _refuse_huge(math.prod(extents) * 2 * len(extents), text)
    return extents


def _levels(text: str) -> tuple[tuple[int, int], ...]:
    level = r"[1-9]\d{0,6}:[1-9]\d{0,6}"
    if not re.fullmatch(f"{level}(,{level}){{0,9}}", text):
        raise RequestError(
            f"{text!r} is not a fat tree", "write children:uplinks of each level, such as 16:4,8:2"
        )
    levels = tuple((int(children), int(uplinks)) for children, uplinks in re.findall(r"(\d+):(\d+)", text))
    nodes = math.prod(children for children, _ in levels)
    _refuse_huge(nodes * 2 * max(uplinks for _, uplinks in levels), text)
    return levels


def _refuse_huge(links: int, text: str) -> None:
    if links > MOST_PLACES:
        raise RequestError(f"{text!r} has {links:.3g} links, more than are held", "give a smaller network")


class LogGops(BaseModel):
    """LogGOPS parameters: those that are given replace a machine file's everywhere."""

    latency_s: Annotated[
        float | None,
        Option(
            "L: a time, such as 2.5us; needed without --machine or --system.",
            flags=("--latency",),
            read=parse_time,
        ),
    ] = None
    overhead_s: Annotated[
        float | None,
        Option("o: the processor's time to send, and to receive.", flags=("--overhead",), read=parse_time),
    ] = None
    receive_overhead_s: Annotated[
        float | None,
        Option("o_r, where it differs from --overhead.", flags=("--receive-overhead",), read=parse_time),
    ] = None
    overhead_s_per_B: Annotated[
        float | None,
        Option("O: a time, or a rate.", flags=("--overhead-per-byte",), read=parse_per_byte),
    ] = None
    gap_s: Annotated[
        float | None,
        Option("g: the time between two messages of a rank.", flags=("--gap",), read=parse_time),
    ] = None
    gap_s_per_B: Annotated[
        float | None,
        Option(
            "G: a time, such as 6ns, or a rate, such as 10GB/s.", flags=("--gap-per-byte",), read=parse_per_byte
        ),
    ] = None
    reduce_s_per_B: Annotated[
        float | None,
        Option("γ: the time to reduce a byte, or a rate.", flags=("--reduction",), read=parse_per_byte),
    ] = None
    copy_s_per_B: Annotated[
        float | None,
        Option("Time to copy a byte, or a rate.", flags=("--copy",), read=parse_per_byte),
    ] = None
    rendezvous_above_B: Annotated[
        int | None,
        Option(
            "Largest message that is sent eagerly; none: all are.",
            flags=("--rendezvous-above",),
            read=lambda text: None if text == "none" else parse_bytes(text),
        ),
    ] = None

    @property
    def given(self) -> dict[str, Any]:
        """What is given, by the names of `hockney.predict.simulation.LoggopsParameters`."""
        given = self.model_dump(exclude_unset=True)
        return {"receive_overhead_s": given["overhead_s"], **given} if "overhead_s" in given else given


class Sharing(BaseModel):
    """Links and nodes that messages share."""

    node_size: Annotated[int, Option("Ranks of a node; consecutive ranks share one."), Field(ge=1)] = 1
    node_gap_s_per_B: Annotated[
        float | None,
        Option(
            "Bandwidth into and out of a node, shared by its ranks.",
            flags=("--node-bandwidth",),
            read=parse_per_byte,
        ),
    ] = None
    torus: Annotated[
        tuple[int, ...], Option("Extents of a torus of nodes, such as 8x8x8.", read=_extents, show=None)
    ] = ()
    fat_tree: Annotated[
        tuple[tuple[int, int], ...],
        Option("Children:uplinks of each level, such as 16:4,8:2.", read=_levels, show=None),
    ] = ()
    link_gap_s_per_B: Annotated[
        float | None,
        Option("Bandwidth of each link between the nodes.", flags=("--link-bandwidth",), read=parse_per_byte),
    ] = None


class Simulation(BaseModel):
    """Where parameters come from, and what is simulated of the collective."""

    machine: Annotated[Path | None, Option("Machine file: its parameters where none are given here.")] = None
    system: Annotated[
        str, Option("Description of the system that the ranks are on: a known name or a JSON file.")
    ] = ""
    mapping: Annotated[str, Option("Mapping of the system that places the ranks.")] = ""
    noise_s: Annotated[
        float,
        Option(
            "Mean of an exponential delay, added each time a processor is busy.",
            flags=("--noise",),
            read=parse_time,
            show="{:g}s".format,
        ),
    ] = 0.0
    seed: Annotated[int, Option("Seed of the noise."), Field(ge=0, lt=2**64)] = 0
    by_class: Annotated[bool, Option("Simulate one rank for all that do the same.")] = True
    critical_path: Annotated[bool, Option("Say where the time went.", flags=("--critical-path",))] = False
    per_rank: Annotated[Path | None, Option("CSV file: when each rank is done.")] = None
    trace: Annotated[Path | None, Option("File of every step: .csv, or drawn: .svg, .png, .html.")] = None


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
    problem: ScheduleOptions,
    loggops: LogGops,
    between: NetworkOptions,
    sharing: Sharing,
    options: Simulation,
    json: JsonOption = False,
) -> None:
    """When each rank is done with a collective, under LogGOPS parameters.

    The parameters are given here, or come from a machine file (or, roughly, from a system's description), by
    locality where --system says where ranks are. A parameter that is given here replaces theirs everywhere.
    """
    request, noise_s = problem.request(), options.noise_s
    shared = _shared(sharing)
    source, place, parameters, warnings = _source(loggops.given, options, between.network, request, shared)
    if options.trace and (shared or noise_s or place):
        raise RequestError("--trace shows neither shared links nor places nor noise", "leave one of them out")
    outcome = run(
        request,
        source,
        place=place,
        shared=shared,
        noise_s=noise_s,
        seed=options.seed,
        # A row for each rank needs each rank.
        by_class=options.by_class and options.per_rank is None,
        critical_path=options.critical_path,
    )
    written = _write_files(request, source, outcome, options.per_rank, options.trace)
    if json:
        say.json(
            {
                "collective": problem.collective,
                "algorithm": problem.algorithm,
                "ranks": problem.ranks,
                "bytes": request.problem.bytes,
                "root": problem.root,
                "segment_bytes": request.problem.segment_B or None,
                "radix": problem.radix or None,
                "parameters": parameters,
                "warnings": warnings,
                "noise_s": noise_s,
                "seed": options.seed if noise_s else None,
                **outcome.summary(),
                **written,
            }
        )
        return
    for warning in warnings:
        say.warn(warning)
    _print(request, outcome, written)


def _source(
    given: dict[str, Any],
    options: Simulation,
    network: NetworkFigures,
    request: ScheduleRequest,
    shared: Shared | None,
) -> tuple[CostSource, Place | None, dict[str, Any], list[str]]:
    """What messages cost, where ranks are, {locality: {parameter: {value, from}}}, and what is assumed."""
    if options.machine is None and not options.system:
        if "latency_s" not in given:
            raise RequestError(
                "a simulation needs --latency, or --machine or --system", "for example --latency 2.5us"
            )
        if options.mapping:
            raise RequestError("--mapping needs --system", "say which system the ranks are on")
        if network.are_given:
            raise RequestError(
                "--network-latency and --network-bandwidth complete a --machine or --system",
                "without one --latency and --gap-per-byte are those of all messages",
            )
        plain = LoggopsParameters(
            **{"overhead_s": 0.0, "receive_overhead_s": 0.0, "gap_s": 0.0, "gap_s_per_B": 0.0} | given
        )
        origins = {
            name: {"value": value, "from": COMMAND_LINE if name in given else "default"}
            for name, value in vars(plain).items()
        }
        return plain, None, {"all": origins}, []
    described = find_system(options.system) if options.system else None
    if described and shared:
        raise RequestError(
            "--system says what nodes and links are shared", "leave out --node-size, --node-bandwidth, networks"
        )
    if options.machine:
        costs = of_machine(load(options.machine), str(options.machine))
    elif described:
        costs = of_system(described)
    costs = with_network(costs, network, described).replaced(given)
    ranks = request.problem.ranks
    warnings = [*costs.warnings, *costs.beyond(request.problem.bytes)]
    if described is None:
        if options.mapping:
            raise RequestError("--mapping needs --system", "say which system the ranks are on")
        if shared is None:
            warnings += costs.assumptions(None, ranks)
            costs = costs.alike(ranks)
            return costs, None, costs.described(given, list(costs.messages)), warnings
        on_nodes = shared.place(ranks)
        costs.check_network(on_nodes, ranks)
        warnings += costs.assumptions(on_nodes, ranks)
        return costs, None, costs.described(given, [FARTHEST - 1, FARTHEST]), warnings
    costs, place = placed(costs, network.of(described), options.mapping, ranks)
    costs.check_network(place, ranks)
    warnings += costs.assumptions(place, ranks)
    return costs, place, costs.described(given, range(len(LOCALITIES))), warnings


def _shared(sharing: Sharing) -> Shared | None:
    if sharing.node_size > MOST_PLACES:
        raise RequestError(
            f"a node must have at most {MOST_PLACES} ranks, not {sharing.node_size}", "for example --node-size 8"
        )
    if sharing.torus and sharing.fat_tree:
        raise RequestError("a network is a torus or a fat tree, not both", "leave one of them out")
    if bool(sharing.torus or sharing.fat_tree) != (sharing.link_gap_s_per_B is not None):
        raise RequestError(
            "a network needs the bandwidth of its links, and links a network",
            "give --torus or --fat-tree together with --link-bandwidth",
        )
    if sharing.node_gap_s_per_B is None and sharing.link_gap_s_per_B is None:
        if sharing.node_size > 1:
            raise RequestError("--node-size alone changes nothing", "add --node-bandwidth, or a network")
        return None
    return Shared(
        node_size=sharing.node_size,
        node_gap_s_per_B=sharing.node_gap_s_per_B or 0.0,
        network_gap_s_per_B=sharing.link_gap_s_per_B or 0.0,
        torus=sharing.torus,
        tree=sharing.fat_tree,
    )


def _write_files(
    request: ScheduleRequest,
    source: CostSource,
    outcome: SimulationResult,
    per_rank: Path | None,
    trace: Path | None,
) -> dict[str, str]:
    """{option: file} of what was written."""
    if per_rank is not None:
        _write_table(per_rank, ({"rank": r, "finish_s": s} for r, s in enumerate(outcome.finish_s.tolist())))
    if trace is not None and trace.suffix in ENDINGS:
        write(trace, draw(request, "space-time", source.at([FARTHEST])), request)
    elif trace is not None and trace.suffix == ".csv":
        _write_table(trace, steps(request, source))
    elif trace is not None:
        raise RequestError(f"cannot write a trace as {trace.name}", "end the name in .csv, .svg, .png or .html")
    return {name: str(path) for name, path in (("per_rank", per_rank), ("trace", trace)) if path is not None}


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


def _print(request: ScheduleRequest, outcome: SimulationResult, written: dict[str, str]) -> None:
    problem = request.problem
    name = f"{request.algorithm.collective} {request.algorithm.name}, {problem.ranks:,} ranks"
    say.line(f"{name}, {format_bytes(problem.bytes)} ({outcome.method})")
    table = Table(show_header=False, box=None)
    table.add_column()
    table.add_column(justify="right")
    summary = outcome.summary()
    table.add_row("last rank done", format_time(summary["makespan_s"]))
    table.add_row("mean over ranks", format_time(summary["mean_over_ranks_s"]))
    table.add_row("first rank done", format_time(summary["min_over_ranks_s"]))
    table.add_row("messages", f"{outcome.messages:,}")
    table.add_row("simulated in", format_time(outcome.engine_s))
    say.table(table)
    if outcome.critical_path is not None:
        path = Table("critical path", "time", "share", box=None)
        for term, seconds in outcome.critical_path["terms_s"].items():
            if seconds:
                share = f"{seconds / summary['makespan_s']:.1%}"
                path.add_row(term.replace("_", " "), format_time(seconds), share)
        say.table(path)
    for file in written.values():
        say.line(f"wrote {file}")
