"""`hockney run pinning`: where ranks and threads run, and how to have them where they are wished."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from hockney.apps.launched import Repetitions
from hockney.apps.pinning.plan import SPREADS
from hockney.apps.run import run, run_app
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.loading import later
from hockney.words import listed, wholes

with later():
    from hockney.apps.launched import Launched
    from hockney.apps.launched import repetitions as repeated
    from hockney.apps.pinning.answer import PinningAnswer
    from hockney.apps.pinning.judge import findings, sight
    from hockney.apps.pinning.plan import PinningPlan, plan
    from hockney.apps.pinning.plan import wish as checked_wish
    from hockney.apps.pinning.recipes import kmp_affinity, recipe, recipes, request, target_of
    from hockney.apps.pinning.show import (
        pictures,
        plan_data,
        planned_nodes,
        recipe_data,
        recipe_text,
        seen_nodes,
        sight_data,
        sight_text,
    )
    from hockney.apps.pinning.topology import MOST_CPUS, here, read
    from hockney.campaign.loop import Asking
    from hockney.records.app_record import AppRecord
    from hockney.report.drawn import checked_ending
    from hockney.report.node_figure import write_figure
    from hockney.runner.find import find


WORK_S = 0.01
LOOKS = 20
REPETITIONS = 5


class WishOptions(BaseModel):
    """Where ranks and threads are wished, and what is made of it."""

    spread: Annotated[
        str,
        Option(
            f"The wish: {listed(SPREADS)}, or CPUs such as 0,6,7,13, one for each thread, rank by rank. "
            "The run is compared with it."
        ),
    ] = ""
    thread_spread: Annotated[
        str,
        Option(
            "Threads of a rank on consecutive cores (close), or far apart in its share of the --spread's unit "
            "(spread)."
        ),
    ] = "close"
    plan: Annotated[bool, Option("The plan, and each launcher's options.", flags=("--dry-run",))] = False
    topology: Annotated[
        str,
        Option(
            "With --dry-run: a machine other than this one, '2 packages x 2 numa x 4 cores x 2 "
            "threads' or a file.",
            flags=("--node",),
        ),
    ] = ""
    figure: Annotated[Path | None, Option("The node.")] = None
    repetitions: Repetitions = None


class PinningLaunching(AppLaunching):
    """Launch options with the threads of each rank."""

    threads: Annotated[
        int | None,
        Option("Each on a core of its own. [default: as the environment says]"),
        Field(ge=1),
    ] = None


@verb(
    "pinning",
    examples=(
        "hockney run pinning --ranks 2\n"
        "hockney run pinning --ranks 4 --threads 2 --spread socket --figure node.svg\n"
        "hockney run pinning --spread 0,14 --dry-run --node '2 packages x 14 cores'\n"
        "hockney run pinning --ranks 4 --threads 2 --spread numa --thread-spread spread --dry-run "
        "--node '2 packages x 2 numa x 7 cores'\n"
        "hockney run pinning --ranks 4 --threads 2 --spread socket --dry-run "
        "--node '2 packages x 2 numa x 4 cores x 2 threads'"
    ),
    of=run,
)
def pinning(wish: WishOptions, launching: PinningLaunching, json: JsonOption = False) -> None:
    """Where every rank and OpenMP thread may run and does; with a wish, how to launch it and whether it was met.

    Exit code 1 where the result is not what was wished.
    """
    _check(wish, launching)
    plan = _plan(wish, launching) if wish.spread else None
    if wish.plan:
        assert plan is not None
        _show_plan(plan, launching.hosts, wish.figure, json)
        return
    target, placed = "", launching
    if plan:
        target = target_of(find(launching.mpi, launching.launcher or None))
        placing = request(plan, target, launching.hosts)
        placed = launching.model_copy(
            update={
                "ranks": plan.wish.ranks,
                "threads": plan.wish.threads,
                "map_by": placing.map_by,
                "bind_to": placing.bind_to,
                "cpus": [list(cpus) for cpus in placing.cpus],
                "slots": [list(slots) for slots in placing.slots],
                "hosts": list(placing.hosts) or launching.hosts,
            }
        )

    def do(launched: Launched) -> Asking[AppRecord]:
        parameters = {**repeated(wish.repetitions or REPETITIONS), "work_s": WORK_S, "samples": LOOKS}
        yield launched.request("pinning", parameters)

    records = run_app(do, placed)
    seen = [sight(record.answer.read_as(PinningAnswer)) for record in records]
    differences = [findings(sight_of_run, plan) for sight_of_run in seen]
    if wish.figure and (nodes := seen_nodes(seen[0])):
        write_figure(wish.figure, nodes)
    if json:
        say.json(
            {
                "plan": plan_data(plan) if plan else None,
                "recipe": recipe_data(recipe(plan, target, launching.hosts)) if plan else None,
                "as_wished": not any(differences) if plan else None,
                "runs": [
                    {**record.model_dump(exclude={"answer"}), **sight_data(sight_of_run, wrong)}
                    for record, sight_of_run, wrong in zip(records, seen, differences, strict=True)
                ],
            }
        )
    else:
        if plan:
            say.line(recipe_text([recipe(plan, target, launching.hosts)]))
        for sight_of_run, wrong in zip(seen, differences, strict=True):
            say.line(sight_text(sight_of_run, wrong))
    if plan and any(differences):
        answer_no()


def _check(wish: WishOptions, launching: PinningLaunching) -> None:
    """RequestError for options that mean nothing together, before anything is launched."""
    if wish.plan and not wish.spread:
        raise RequestError("--dry-run needs a wish", f"add --spread with {listed(SPREADS)}")
    if wish.topology and not wish.plan:
        raise RequestError("--node is for plans; a run takes the machine as it is", "add --dry-run")
    if wish.thread_spread != "close" and not wish.spread:
        raise RequestError("--thread-spread needs a wish for the ranks", "add --spread socket, numa or cache")
    if wish.spread and (launching.map_by, launching.bind_to) != ("core", "core"):
        raise RequestError("--spread says where ranks go, --map-by and --bind-to too", "leave one of them out")
    if wish.figure:
        checked_ending(wish.figure)


def _plan(wish: WishOptions, launching: PinningLaunching) -> PinningPlan:
    node = read(wish.topology) if wish.topology else here()
    nodes, threads = max(1, len(launching.hosts)), launching.threads or 1
    ranks = launching.ranks
    if "ranks" not in launching.model_fields_set:
        if wish.spread[:1].isdecimal():
            room = len(wholes(wish.spread, range(MOST_CPUS)))
        else:
            room = len(node.cpus if wish.spread == "compact" else node.cores)
        ranks = max(1, room // threads) * nodes
    return plan(node, checked_wish(ranks, threads, wish.spread, nodes, wish.thread_spread))


def _show_plan(plan: PinningPlan, hosts: list[str], figure: Path | None, json: bool) -> None:
    nodes, launches = planned_nodes(plan, hosts), recipes(plan, hosts)
    if figure:
        write_figure(figure, nodes)
    if json:
        say.json(
            {
                "plan": plan_data(plan),
                "recipes": [recipe_data(launch) for launch in launches],
                "kmp_affinity": kmp_affinity(plan),
            }
        )
        return
    say.line(pictures(nodes))
    say.line(recipe_text(launches))
    say.line(f"Intel's OpenMP, in place of OMP_PLACES and OMP_PROC_BIND:\n  KMP_AFFINITY='{kmp_affinity(plan)}'")
