"""`hockney measure`: run the runner on a real MPI and keep what it measures in a campaign folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from hockney.cli import JsonOption, emit_json, err, out, verb
from hockney.cli._measure_choices import (
    duration,
    expect_trusted,
    positive,
    refuse_empty,
    refuse_ignored,
    refuse_other_choices,
    segment_size,
    size,
)
from hockney.cli._measure_choices import operations as _operations
from hockney.cli._words import whole, words
from hockney.errors import HockneyError, Incomplete, RequestError
from hockney.registry import unit_files

if TYPE_CHECKING:
    from hockney.campaign.events import Progress
    from hockney.campaign.loop import Outcome
    from hockney.campaign.plan import Plan
    from hockney.records.record import Record

QUICK: dict[str, Any] = {
    "budget_s": 0.2,
    "tolerance": 0.02,
    "most_sizes": 28,
    "size_tolerance": 0.1,
    "narrowest": 1.3,
}
"""A first model in about half a minute: wider intervals, wider brackets around breaks."""


SIMULATED: dict[str, Any] = {"budget_s": 1e-3, "least_samples": 6, "size_tolerance": 0.01, "narrowest": 1 + 1e-9}
"""Of simulated time: a simulation repeats itself, so a break can be followed to the byte."""


@verb(
    "measure",
    examples="""hockney measure --quick -o demo
hockney measure -o campaign --operations pingpong --largest 64MiB --launches 5
hockney measure -o tcp --variant 'sm: --mca btl sm,self' --variant 'tcp: --mca pml ob1 --mca btl tcp,self'
hockney measure -o nodes --hosts n1:4,n2:4 --ranks 8 --map-by node --mpi /opt/openmpi
hockney measure --operations bcast,scatter,allreduce --algorithms all --ranks 2 -o c
hockney measure --operations collectives --algorithms ours,default --time 10min -o c2
hockney measure --operations bcast --algorithms pipeline,tuned:chain --segments none,4KiB --root rotate -o c3
hockney measure --operations allreduce --algorithms all --adaptive -o c4
hockney measure --operations pingpong,bandwidth,effects --ranks 2 -o c5
hockney measure -o campaign --resume""",
)
def measure(
    context: typer.Context,
    output: Annotated[Path, typer.Option("--output", "-o", help="Campaign folder.")],
    mpi: Annotated[
        str,
        typer.Option(help="auto, openmpi, mpich, intel, smpi, a prefix or a wrapper (see `hockney doctor`)."),
    ] = "auto",
    quick: Annotated[bool, typer.Option("--quick", help="A first model in about half a minute.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a campaign; its plan is kept.")] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Resume a campaign that you did not begin: run what its plan names.")
    ] = False,
    operations: Annotated[
        str,
        typer.Option(
            help="Comma-separated: pingpong, bandwidth, …, or bcast, allreduce, …, or overlap, matching, …; "
            "`collectives` for all nine collectives, `effects` for all that a ping-pong hides; default all "
            "between pairs of ranks."
        ),
    ] = "",
    algorithms: Annotated[
        str, typer.Option(help="Of collectives: default, all, library, ours, or names, comma-separated.")
    ] = "default",
    ranks: Annotated[
        int | None, typer.Option(min=2, help="Ranks to launch; default the cores of this host.")
    ] = None,
    hosts: Annotated[str, typer.Option(help="Comma-separated NAME or NAME:SLOTS.")] = "",
    hostfile: Annotated[str, typer.Option(help="Host file in the launcher's own format.")] = "",
    launcher: Annotated[
        str,
        typer.Option(
            help=f"{', '.join(unit_files('hockney.runner.launchers'))}; default the one found with the MPI."
        ),
    ] = "",
    platform: Annotated[str, typer.Option(help="Platform file (XML) of a simulated cluster: --mpi smpi.")] = "",
    map_by: Annotated[str, typer.Option(help="core, socket, numa, cache, node or hwthread.")] = "core",
    bind_to: Annotated[str, typer.Option(help="core, socket, numa, hwthread or none.")] = "core",
    variant: Annotated[
        list[str] | None,
        typer.Option(help="'NAME: launcher arguments and NAME=VALUE settings'; repeat to compare transports."),
    ] = None,
    localities: Annotated[str, typer.Option(help="Comma-separated; default all that the placement has.")] = "",
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of ranks measured in each locality.")] = 1,
    rank_counts: Annotated[
        str, typer.Option(help="Ranks that collectives use, comma-separated; default chosen up to all.")
    ] = "",
    root: Annotated[str, typer.Option(help="Root of collectives, or `rotate`.")] = "0",
    segments: Annotated[
        str,
        typer.Option(help="Segment sizes, comma-separated, for the algorithms that take one; or none."),
    ] = "none",
    radices: Annotated[str, typer.Option(help="Fan-outs or radices for the algorithms that take one.")] = "",
    start: Annotated[
        str, typer.Option(help="How repetitions of collectives start: window (agreed time) or barrier.")
    ] = "window",
    total: Annotated[
        str, typer.Option("--time", help="Time for the whole campaign; the most informative points come first.")
    ] = "",
    adaptive: Annotated[
        bool,
        typer.Option("--adaptive", help="Of collectives, measure only what the choice of algorithm hangs on."),
    ] = False,
    sizes: Annotated[str, typer.Option(help="Comma-separated sizes; default chosen adaptively.")] = "",
    largest: Annotated[str, typer.Option(help="Largest message.")] = "4MiB",
    off_cache: Annotated[
        bool, typer.Option("--off-cache", help="Measure with buffers outside the caches, too.")
    ] = False,
    window: Annotated[int, typer.Option(min=1, help="Messages in flight for bandwidth and bidirectional.")] = 64,
    launches: Annotated[int, typer.Option(min=1, help="Spread every point over this many launches.")] = 1,
    visits: Annotated[int, typer.Option(min=1, help="Visits of each point, far apart; the quietest counts.")] = 2,
    budget: Annotated[
        str, typer.Option(help="Time a point may take, all visits together; default 1s (quick: 0.2s).")
    ] = "",
    tolerance: Annotated[
        float | None,
        typer.Option(help="Relative half-width of the 95 % interval that ends a point; default 0.01."),
    ] = None,
    time_limit: Annotated[str, typer.Option(help="An answer later than this ends the launch.")] = "120s",
    seed: Annotated[int, typer.Option(min=0, help="Of what effects draw by lot.")] = 0,
    topology: Annotated[
        str, typer.Option(help="Of the hosts in their order: congestion measures its worst pairing as well.")
    ] = "",
    system: Annotated[str, typer.Option(help="Name of the system; default the host's name.")] = "",
    json: JsonOption = False,
) -> None:
    """Measure point-to-point communication and collectives of an MPI on this machine.

    Sizes, repetitions and warm-up are chosen by the measurement itself; every point is on disk before the next
    one starts, and --resume goes on after an interruption.
    """
    from socket import gethostname

    from hockney.campaign.measure import run
    from hockney.campaign.plan import Plan
    from hockney.campaign.prepare import default_ranks
    from hockney.campaign.prepare import launches as prepare
    from hockney.campaign.trust import seal
    from hockney.network.topologies.base import parse_spec
    from hockney.predict.adaptive import Adaptive
    from hockney.records import table
    from hockney.records.folder import Campaign

    if resume:
        campaign = Campaign.open(output)
        refuse_other_choices(context)
        plan = Plan.stored(campaign.plan(), output)
        expect_trusted(output, plan, trust=trust, ask=sys.stdin.isatty() and not json)
    elif trust:
        raise RequestError("--trust means nothing without --resume", "leave it out")
    else:
        refuse_empty(context)
        choices: dict[str, Any] = QUICK if quick else {}
        if mpi == "smpi":
            choices = {**choices, **SIMULATED}
            visits = 1
        if budget:
            choices = {**choices, "budget_s": duration(budget, "--budget")}
        if tolerance is not None:
            choices = {**choices, "tolerance": positive(tolerance, "--tolerance")}
        plan = Plan.asked(
            {
                "system": system or gethostname(),
                "mpi": _lasting(mpi),
                "launcher": launcher,
                "ranks": ranks or default_ranks(words(hosts)),
                "hosts": words(hosts),
                "hostfile": _lasting(hostfile),
                "platform": _lasting(platform),
                "map_by": map_by,
                "bind_to": bind_to,
                "variants": variant or [],
                **_operations(operations),
                "seed": seed,
                "topology": parse_spec(topology).spec if topology else "",
                "algorithms": words(algorithms) or ["default"],
                "rank_counts": sorted({whole(word, "--rank-counts") for word in words(rank_counts)}),
                "root": None if root == "rotate" else whole(root, "--root"),
                "segments_B": [segment_size(word) for word in words(segments)] or [0],
                "radices": [whole(word, "--radices") for word in words(radices)] or [0],
                "start": start,
                "adaptive": adaptive,
                "time_s": duration(total, "--time") if total else None,
                "localities": words(localities),
                "pairs": pairs,
                "caches": ["warm", "off"] if off_cache else ["warm"],
                "sizes_B": sorted({size(word, "--sizes") for word in words(sizes)}),
                "largest_B": size(largest, "--largest"),
                "window": window,
                "launches": launches,
                "visits": visits,
                "time_limit_s": duration(time_limit, "--time-limit"),
                **choices,
            }
        )
        refuse_ignored(context, plan)
    prepared = prepare(plan)
    if not resume:
        campaign = Campaign.create(output, plan.model_dump())
        seal(output)
    if not json:
        out.print(f"{prepared[0].mpi_name}, {plan.ranks} ranks, {len(prepared)} variant(s) → {output}")
    watcher = Terminal(quiet=json)
    try:
        with watcher.bar:
            outcome = run(campaign, plan, prepared, watcher, Adaptive)
    except KeyboardInterrupt:
        raise Incomplete(
            "interrupted; every point that was complete is kept",
            f"`hockney measure -o {output} --resume` goes on",
        ) from None
    finally:
        # An interrupt too leaves a table of what there is.
        if records := campaign.records():
            table.write(table.from_records(records), campaign.table)
    answers = [record for record in campaign.effects() if record.answer or record.not_measurable]
    _finish(output, plan, outcome, records, len(answers), json)


def _finish(
    output: Path, plan: Plan, outcome: Outcome, records: list[Record], answers: int, as_json: bool
) -> None:
    if not records and not answers:
        raise _nothing(plan, outcome)
    core_seconds = sum(record.core_seconds or 0.0 for record in records)
    if as_json:
        emit_json(
            {
                "campaign": str(output),
                "records": len(records),
                "answers_about_effects": answers,
                "core_seconds": core_seconds,
                "measured": outcome.measured,
                "failures": outcome.failures,
                "limitations": outcome.limitations,
                "vanished": outcome.vanished,
                "left_out": outcome.left_out,
                "warnings": outcome.warnings,
                "plan": plan.model_dump(),
            }
        )
    else:
        parts = [f"{len(records)} records ({core_seconds:.3g} core-seconds)"] if records else []
        parts += [f"{answers} answers about effects"] if answers else []
        out.print(
            f"{outcome.measured} visits and answers measured now; {' and '.join(parts)} in {output}; "
            f"next: `hockney {'report' if plan.collective and not answers else 'fit'} {output}`",
            soft_wrap=True,
        )
        if outcome.limitations:
            out.print(
                f"{len(outcome.limitations)} cases an algorithm or effect does not do (kept in the folder), "
                f"first: {outcome.limitations[0]}",
                markup=False,
                soft_wrap=True,
            )
        if outcome.vanished:
            out.print(
                f"{len(outcome.vanished)} points without a time (kept in the folder; --resume tries them again, "
                f"best on a quieter machine), first: {outcome.vanished[0]}",
                markup=False,
                soft_wrap=True,
            )
        if outcome.left_out:
            out.print(f"the time is spent; about {outcome.left_out} visits were left out (--resume goes on)")
    if outcome.failures:
        if as_json:
            raise typer.Exit(Incomplete.exit_code)
        raise Incomplete(
            f"{len(outcome.failures)} failure(s), first: {outcome.failures[0]}",
            f"what was measured is kept; `hockney measure -o {output} --resume` tries the rest again",
        )


def _nothing(plan: Plan, outcome: Outcome) -> HockneyError:
    """Why there is no record at all; a request that everything refuses is a wrong one."""
    if outcome.failures:
        return Incomplete(f"nothing could be measured: {outcome.failures[0]}", "run `hockney doctor --run`")
    if outcome.vanished:
        return Incomplete(
            f"nothing could be measured: {outcome.vanished[0]}", "measure on a quieter machine, or raise --budget"
        )
    if outcome.left_out:
        return Incomplete(
            f"nothing could be measured: {plan.time_s:g} s were over before the first point",
            "give --time more than a launch takes, and a smaller --budget",
        )
    if outcome.limitations:
        return RequestError(f"nothing could be measured: {outcome.limitations[0]}", "see `hockney schedule list`")
    return RequestError("nothing could be measured: no point was asked for", "see `hockney measure --help`")


class Terminal:
    """Draws a campaign's progress on the terminal; warnings go above the bar and are never erased."""

    def __init__(self, *, quiet: bool) -> None:
        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("about {task.fields[left]} left"),
            console=err,
            transient=True,
            disable=quiet,
        )
        self._task = self.bar.add_task("starting", total=None, left="?")

    def progress(self, progress: Progress) -> None:
        """Move the bar."""
        minutes, seconds = divmod(round(progress.remaining_s), 60)
        self.bar.update(
            self._task,
            description=progress.doing,
            completed=progress.done,
            total=progress.expected,
            left=f"{minutes}:{seconds:02d}",
        )

    def measured(self, record: Record) -> None:
        """Nothing to say for each point: the bar moves."""

    def warning(self, text: str) -> None:
        """Print it above the bar."""
        err.print(f"[yellow]warning:[/yellow] {text.replace('[', chr(92) + '[')}", soft_wrap=True)


def _lasting(name: str) -> str:
    """A path that still means the same when the campaign is resumed from elsewhere; other words as they are."""
    return str(Path(name).absolute()) if "/" in name and Path(name).exists() else name
