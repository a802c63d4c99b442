"""`hockney run pinning`: a plan, or a run that is compared with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from hockney.apps.launched import Launched, Told, records
from hockney.apps.pinning.answer import PinningAnswer
from hockney.apps.pinning.app import PinningLaunching, WishOptions
from hockney.apps.pinning.judge import PinningFinding, PlacedThread, Sight, findings, line, sight
from hockney.apps.pinning.plan import SPREADS, PinningPlan, plan
from hockney.apps.pinning.plan import wish as checked_wish
from hockney.apps.pinning.recipes import Recipe, kmp_affinity, recipe, recipes, request, target_of
from hockney.apps.pinning.show import Nodes, node_tables, planned_nodes, recipe_text, seen_nodes, sight_text
from hockney.apps.pinning.topology import MOST_CPUS, here, read
from hockney.apps.repetitions import repetitions
from hockney.campaign.loop import Asking
from hockney.errors import RequestError
from hockney.records.answers import Answer
from hockney.records.app_record import AppRecord
from hockney.report.application import AppAnswer
from hockney.report.drawing import checked_ending
from hockney.report.node_figure import write_figure
from hockney.report.tables import Table
from hockney.runner.find import find
from hockney.units import listed, wholes

WORK_S = 0.01
LOOKS = 20
REPETITIONS = 5


class PinnedRun(AppRecord):
    """A run: a line for each thread, where it may run and was seen, and what is wrong."""

    answer: Annotated[Answer, Field(exclude=True)]
    seen: Annotated[Sight, Field(exclude=True)]
    openmp: bool
    environment: dict[str, str]
    lines: list[str]
    threads: list[PlacedThread]
    findings: list[PinningFinding]


@dataclass(frozen=True)
class PinningPlans(AppAnswer):
    """With --dry-run: recipes for every launcher."""

    plan: PinningPlan
    recipes: list[Recipe]
    kmp_affinity: str
    nodes: Annotated[Nodes, Field(exclude=True)]

    def text(self) -> Iterator[str | Table]:
        """The nodes, and what is typed for each launcher."""
        yield from node_tables(self.nodes)
        yield recipe_text(self.recipes)
        yield f"Intel's OpenMP, in place of OMP_PLACES and OMP_PROC_BIND:\n  KMP_AFFINITY='{self.kmp_affinity}'"


@dataclass(frozen=True)
class PinningRuns(AppAnswer):
    """Where threads were; `plan`, `recipe` and `as_wished` are null without a wish."""

    plan: PinningPlan | None
    recipe: Recipe | None
    as_wished: bool | None
    runs: list[PinnedRun]

    def text(self) -> Iterator[str | Table]:
        """How it was launched, and what was seen."""
        if self.recipe is not None:
            yield recipe_text([self.recipe])
        for run in self.runs:
            yield from sight_text(run.seen, run.findings)

    @property
    def is_no(self) -> bool:
        """Whether something is not as it was wished."""
        return self.as_wished is False


def run(told: Told, wish: WishOptions, launching: PinningLaunching) -> PinningPlans | PinningRuns:
    """The plan of a wish, or what came of it."""
    _check(wish, launching)
    planned = _plan(wish, launching) if wish.spread else None
    if wish.plan:
        assert planned is not None
        nodes = planned_nodes(planned, launching.hosts)
        if wish.figure:
            write_figure(wish.figure, nodes)
        return PinningPlans(planned, recipes(planned, launching.hosts), kmp_affinity(planned), nodes)
    target, placed = "", launching
    if planned:
        target = target_of(find(launching.mpi, launching.launcher or None))
        placing = request(planned, target, launching.hosts)
        placed = launching.model_copy(
            update={
                "ranks": planned.wish.ranks,
                "threads": planned.wish.threads,
                "map_by": placing.map_by,
                "bind_to": placing.bind_to,
                "cpus": [list(cpus) for cpus in placing.cpus],
                "slots": [list(slots) for slots in placing.slots],
                "hosts": list(placing.hosts) or launching.hosts,
            }
        )

    def ask(launched: Launched) -> Asking[AppRecord]:
        parameters = {**repetitions(wish.repetitions or REPETITIONS), "work_s": WORK_S, "samples": LOOKS}
        yield launched.request("pinning", parameters)

    runs = [_seen(record, planned) for record in records(told, ask, placed)]
    if wish.figure and (nodes := seen_nodes(runs[0].seen)):
        write_figure(wish.figure, nodes)
    return PinningRuns(
        planned,
        recipe(planned, target, launching.hosts) if planned else None,
        not any(run.findings for run in runs) if planned else None,
        runs,
    )


def _seen(record: AppRecord, planned: PinningPlan | None) -> PinnedRun:
    seen = sight(record.answer.read_as(PinningAnswer))
    return PinnedRun(
        **dict(record),
        seen=seen,
        openmp=seen.openmp,
        environment=seen.environment,
        lines=[line(thread) for thread in seen.threads],
        threads=list(seen.threads),
        findings=findings(seen, planned),
    )


def _check(wish: WishOptions, launching: PinningLaunching) -> None:
    """RequestError for options that mean nothing together, before anything is launched."""
    if wish.plan and not wish.spread:
        raise RequestError("--dry-run plans a placement, and none is named", f"add --spread {listed(SPREADS)}")
    if wish.topology and not wish.plan:
        raise RequestError("--node is for plans; a run takes the machine as it is", "add --dry-run")
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
    return plan(node, checked_wish(ranks, threads, wish.spread, nodes))
