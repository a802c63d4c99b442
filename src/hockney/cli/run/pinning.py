"""`hockney run pinning`: where ranks and threads run, and how to have them where they are wished."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hockney.cli import JsonOption, emit_json, verb
from hockney.cli._words import words
from hockney.cli.run import (
    BindTo,
    HostFile,
    Hosts,
    Launcher,
    MapBy,
    Mpi,
    Output,
    Platform,
    Ranks,
    Repeat,
    SystemName,
    Threads,
    TimeLimit,
    Variants,
    run,
    run_app,
)
from hockney.errors import RequestError

if TYPE_CHECKING:
    from hockney.apps.launched import Launched
    from hockney.apps.pinning.plan import Plan
    from hockney.campaign.loop import Asking
    from hockney.records.app_record import AppRecord

WORK_S = 0.01
LOOKS = 20
REPETITIONS = 5

Spread = Annotated[
    str,
    typer.Option(
        help="The wish: socket, numa, cache, core, node, compact or scatter. The run is compared with it."
    ),
]
OnlyPlan = Annotated[bool, typer.Option("--plan", help="Only print the plan and each launcher's options.")]
Topology = Annotated[
    str,
    typer.Option(
        help="For --plan, instead of this machine: '2 packages x 2 numa x 4 cores x 2 threads', or a file."
    ),
]
FigureFile = Annotated[Path | None, typer.Option("--figure", help="Draw the node (.svg, .png, .html).")]


@verb(
    "pinning",
    examples=(
        "hockney run pinning --ranks 2\n"
        "hockney run pinning --ranks 4 --threads 2 --spread socket --figure node.svg\n"
        "hockney run pinning --ranks 4 --threads 2 --spread socket --plan "
        "--topology '2 packages x 2 numa x 4 cores x 2 threads'"
    ),
    of=run,
)
def pinning(
    ranks: Ranks = None,
    threads: Threads = None,
    spread: Spread = "",
    plan: OnlyPlan = False,
    topology: Topology = "",
    figure: FigureFile = None,
    repetitions: Repeat = None,
    output: Output = None,
    mpi: Mpi = "auto",
    hosts: Hosts = "",
    hostfile: HostFile = "",
    launcher: Launcher = "",
    platform: Platform = "",
    map_by: MapBy = "core",
    bind_to: BindTo = "core",
    variants: Variants = None,
    time_limit: TimeLimit = "120s",
    system: SystemName = "",
    json: JsonOption = False,
) -> None:
    """Where every rank and OpenMP thread may run and does; with a wish, how to get there and whether it came so.

    Exit code 1 where the result is not what was wished.
    """
    _check(spread, plan, topology, map_by, bind_to, figure)
    made = _plan(ranks, threads or 1, spread, topology, words(hosts)) if spread else None
    if plan:
        assert made is not None
        _show_plan(made, words(hosts), figure, json)
        return
    from hockney.apps.launched import repetitions as repeated
    from hockney.apps.pinning.answer import PinningAnswer
    from hockney.apps.pinning.figure import write_figure
    from hockney.apps.pinning.judge import findings, sight
    from hockney.apps.pinning.recipes import recipe, request, target_of
    from hockney.apps.pinning.show import (
        plan_data,
        recipe_data,
        recipe_text,
        seen_nodes,
        sight_data,
        sight_text,
    )

    target, names = "", hosts
    cpus: tuple[tuple[int, ...], ...] = ()
    slots: tuple[tuple[int, ...], ...] = ()
    if made:
        from hockney.runner.find import find

        target = target_of(find(mpi, launcher or None))
        asked = request(made, target, words(hosts))
        ranks, threads, map_by, bind_to = made.wish.ranks, made.wish.threads, asked.map_by, asked.bind_to
        cpus, slots, names = asked.cpus, asked.slots, ",".join(asked.hosts) or hosts

    def do(launched: Launched) -> Asking[AppRecord]:
        parameters = {**repeated(repetitions or REPETITIONS), "work_s": WORK_S, "samples": LOOKS}
        yield launched.request("pinning", parameters)

    records = run_app(
        do,
        output=output,
        verb="pinning",
        mpi=mpi,
        ranks=ranks,
        hosts=names,
        hostfile=hostfile,
        launcher=launcher,
        platform=platform,
        map_by=map_by,
        bind_to=bind_to,
        variants=variants,
        time_limit=time_limit,
        system=system,
        threads=threads,
        cpus=cpus,
        slots=slots,
    )
    seen = [sight(record.answer.read_as(PinningAnswer)) for record in records]
    found = [findings(one, made) for one in seen]
    if figure and (nodes := seen_nodes(seen[0])):
        write_figure(figure, nodes)
    if json:
        emit_json(
            {
                "plan": plan_data(made) if made else None,
                "recipe": recipe_data(recipe(made, target, words(hosts))) if made else None,
                "as_wished": not any(found) if made else None,
                "runs": [
                    {**record.model_dump(exclude={"answer"}), **sight_data(one, wrong)}
                    for record, one, wrong in zip(records, seen, found, strict=True)
                ],
            }
        )
    else:
        if made:
            typer.echo(recipe_text([recipe(made, target, words(hosts))]))
        for one, wrong in zip(seen, found, strict=True):
            typer.echo(sight_text(one, wrong))
    if made and any(found):
        raise typer.Exit(1)


def _check(spread: str, plan: bool, topology: str, map_by: str, bind_to: str, figure: Path | None) -> None:
    """RequestError for options that mean nothing together, before anything is launched."""
    if plan and not spread:
        raise RequestError(
            "--plan needs a wish", "add --spread socket (numa, cache, core, node, compact, scatter)"
        )
    if topology and not plan:
        raise RequestError("--topology is for plans; a run takes the machine as it is", "add --plan")
    if spread and (map_by, bind_to) != ("core", "core"):
        raise RequestError("--spread says where ranks go, --map-by and --bind-to too", "leave one of them out")
    if figure:
        from hockney.report.drawn import checked_ending

        checked_ending(figure)


def _plan(ranks: int | None, threads: int, spread: str, topology: str, hosts: list[str]) -> Plan:
    from hockney.apps.pinning.plan import plan, wish
    from hockney.apps.pinning.topology import here, read

    node = read(topology) if topology else here()
    nodes = max(1, len(hosts))
    if ranks is None:
        slots = node.cpus if spread == "compact" else node.cores
        ranks = max(1, len(slots) // threads) * nodes
    return plan(node, wish(ranks, threads, spread, nodes))


def _show_plan(made: Plan, hosts: list[str], figure: Path | None, json: bool) -> None:
    from hockney.apps.pinning.figure import write_figure
    from hockney.apps.pinning.recipes import recipes
    from hockney.apps.pinning.show import pictures, plan_data, planned_nodes, recipe_data, recipe_text

    nodes, all_ = planned_nodes(made, hosts), recipes(made, hosts)
    if figure:
        write_figure(figure, nodes)
    if json:
        emit_json({"plan": plan_data(made), "recipes": [recipe_data(one) for one in all_]})
        return
    typer.echo(pictures(nodes))
    typer.echo(recipe_text(all_))
