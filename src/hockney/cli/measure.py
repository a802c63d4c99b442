"""`hockney measure`: point-to-point communication and collectives of an MPI, measured into a campaign folder."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import typer

from hockney.batch.options import Submission
from hockney.campaign.options import KEPT, MeasureOptions, lasting
from hockney.campaign.plan import Plan
from hockney.campaign.share import WHOLE, Share
from hockney.cli._next import next_step
from hockney.cli._planned import tell_planned
from hockney.errors import HockneyError, Incomplete, RequestError
from hockney.fields import flag
from hockney.fields import options as options_of
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.terminal.options import written
from hockney.terminal.signals import Interrupted, interruptible, undisturbed
from hockney.writing import NotWritten

with later():
    from hockney.batch.base import allocation
    from hockney.campaign.effect_runs import expect_subsets
    from hockney.campaign.jobs import job_of, job_text, planned, write_jobs
    from hockney.campaign.loop import Outcome
    from hockney.campaign.measure import run
    from hockney.campaign.prepare import launches as prepare
    from hockney.campaign.prepare import with_transports
    from hockney.campaign.trust import doubt, seal
    from hockney.network.topologies.base import parse_spec
    from hockney.predict.adaptive import Adaptive
    from hockney.records import table
    from hockney.records.folder import JOBS, PLAN, Campaign
    from hockney.records.record import Record
    from hockney.records.visits import CHOICES
    from hockney.runner.transports import ALL
    from hockney.tune.loading import traps_of

NOT_OF_EFFECTS = ("pairs", "off_cache", "window", "visits", "root", "start", "adaptive")
OF_EFFECTS = {
    "sizes_B": ("congestion", "injection", "subsets"),
    **dict.fromkeys(("algorithms", "rank_counts", "segments_B", "radices"), ("subsets",)),
}
"""Options that these effects alone heed."""


@verb(
    "measure",
    examples="""hockney measure --quick -o demo
hockney measure -o campaign --operation pingpong --largest 64MiB --launches 5
hockney measure -o tcp --variant 'sm: --mca btl sm,self' --variant 'tcp: --mca pml ob1 --mca btl tcp,self'
hockney measure -o transports --quick --variant all-transports
hockney measure -o nodes --hosts n1:4,n2:4 --ranks 8 --map-by node --mpi /opt/openmpi
hockney measure --operation bcast,scatter,allreduce --algorithm all --ranks 2 -o c
hockney measure --operation collectives --algorithm ours,default --time 10min -o c2
hockney measure --operation bcast --algorithm pipeline,tuned:chain --segment none,4KiB --root rotate -o c3
hockney measure --operation allreduce --algorithm all --adaptive -o c4
hockney measure --operation collectives --algorithm ours,default --time 10min --dry-run -o c2
hockney measure --operation pingpong,bandwidth,effects --ranks 2 -o c5
hockney measure --operation subsets --algorithm pairwise,default --ranks 8 --rank-counts 4 -o c6
hockney measure -o campaign --resume
hockney measure -o nodes --operation bcast --nodes 4 --ranks 32 --submit slurm --site sites/here.toml --now""",
)
@interruptible()
def measure(
    context: typer.Context, options: MeasureOptions, submission: Submission, json: JsonOption = False
) -> None:
    """Measure point-to-point communication and collectives of an MPI on this machine.

    Sizes, repetitions and warm-up are chosen by the measurement itself; every point is on disk before the next
    one starts, and --resume goes on after an interruption.
    """
    output, began_s = options.output, time.monotonic()
    if options.dry_run:
        tell_planned(_asked(context, options, submission), output, json, is_for_jobs=bool(submission.submit))
        return
    if submission.submit:
        _submit(context, options, submission, json)
        return
    given = allocation()
    part = "" if given is None else given.part
    if options.resume:
        campaign = Campaign.open(output, part)
        _refuse_other_choices(context)
        plan = Plan.stored(campaign.plan(), output)
        _expect_trusted(output, plan, trust=options.trust, ask=sys.stdin.isatty() and not json)
    else:
        plan = _with_transports(_plan(options, context), quiet=json)
        if part and (output / PLAN).is_file():
            plan = _of_system(Campaign.open(output), plan, context)
    prepared = prepare(plan)
    for text in traps_of(plan, prepared):
        say.warn(text)
    if not options.resume:
        campaign = Campaign.create(output, plan.model_dump(), part)
        seal(output)
    ready_s = time.monotonic()
    if not json:
        say.line(f"{prepared[0].mpi_name}, {plan.ranks} ranks, {len(prepared)} variant(s) → {campaign.own}")
        if given is not None:
            say.line(job_text(given))
    ended: Interrupted | NotWritten | None = None
    outcome: Outcome | None = None
    with ExitStack() as closing:
        try:
            with say.PointsBar(quiet=json) as watcher:
                # Preparing took some of it.
                left = None if given is None else given.work_s
                job_s = None if left is None else left - (ready_s - began_s)
                outcome = run(campaign, plan, prepared, watcher, Adaptive, job_s=job_s, share=options.share)
                closing.enter_context(undisturbed())
        except Interrupted as error:
            # With an outcome there is nothing left to end.
            ended = None if outcome is not None else error
        except NotWritten as error:
            ended = error
        except Exception:
            with suppress(NotWritten):
                _table(campaign, plan)
            raise
        took = Took(ready_s - began_s, time.monotonic() - ready_s)
        _close(campaign, plan, ended, outcome, took, json)


def _asked(context: typer.Context, options: MeasureOptions, submission: Submission) -> Plan:
    """The plan of a campaign that is only told of; what the campaign would refuse is refused."""
    plan, output = _plan(options, context), options.output
    if submission.submit:
        return _expect_jobs(
            output, planned(plan, submission.chosen(), set(written(context))), context, submission
        )
    given = allocation()
    if given is None or not given.part or not (output / PLAN).is_file():
        Campaign.expect_new(output)
    return plan


def _expect_jobs(output: Path, plan: Plan, context: typer.Context, submission: Submission) -> Plan:
    """The plan of jobs; RequestError where they have no share of it, or the folder holds another campaign."""
    _expect_shares(submission, plan)
    if (output / JOBS).is_dir():
        joined = Campaign.open(output)
        joined.expect_plan(_of_system(joined, plan, context).model_dump())
    else:
        Campaign.expect_new(output)
    return plan


def _close(
    campaign: Campaign,
    plan: Plan,
    ended: Interrupted | NotWritten | None,
    outcome: Outcome | None,
    took: Took,
    as_json: bool,
) -> None:
    """Write the table, whatever ended the campaign (`ended`, or nothing did), and say what there is."""
    why = f"{ended.name} ended the campaign" if isinstance(ended, Interrupted) else ""
    lost = ended.message if isinstance(ended, NotWritten) else ""
    try:
        records = _table(campaign, plan)
    except NotWritten as error:
        # Where a record had no room, it says enough that the table has none either.
        records, lost = campaign.records(), lost or error.message
    effects = campaign.effects()
    answers = sum(1 for record in effects if record.answer)
    kept = f"kept in {campaign.path}: {len(records)} records and {answers} answers about effects"
    resume = f"`hockney measure -o {campaign.path} --resume`"
    if lost and outcome is not None and outcome.is_whole:
        raise Incomplete(f"{lost}; all is measured and {kept}", f"make room; {resume} writes it")
    said = "; ".join(filter(None, (why, lost, kept)))
    if lost:
        raise Incomplete(said, f"make room; {resume} goes on, and writes it")
    if outcome is None:
        raise Incomplete(said, f"{resume} goes on")
    if not records and not answers and not any(record.not_measurable for record in effects):
        raise _nothing(plan, outcome)
    _finish(campaign.path, plan, outcome, records, answers, took, as_json)


def _table(campaign: Campaign, plan: Plan) -> list[Record]:
    """Write the table of what there is; returns the records behind it."""
    if records := campaign.records():
        table.write(table.from_records(records, choice=CHOICES[plan.level]), campaign.table)
    return records


class Took(NamedTuple):
    """Seconds until the runner was there, compiled if it had to be, and from then on."""

    prepare_s: float
    measure_s: float


def _finish(
    output: Path, plan: Plan, outcome: Outcome, records: list[Record], answers: int, took: Took, as_json: bool
) -> None:
    core_seconds = sum(record.core_seconds or 0.0 for record in records)
    elapsed_s = sum(record.elapsed_s or 0.0 for record in records if record.samples)
    share = sum(record.references_took_s for record in records) / elapsed_s if elapsed_s else 0.0
    if as_json:
        say.json(
            {
                "campaign": str(output),
                "records": len(records),
                "answers_about_effects": answers,
                "core_seconds": core_seconds,
                "references_share": share,
                "measured": outcome.measured,
                **took._asdict(),
                "failures": outcome.failures,
                "vanished": outcome.vanished,
                "limitations": outcome.limitations,
                "left_out": outcome.left_out,
                "job_is_over": outcome.job_is_over,
                "effects_left_out": outcome.effects_left_out,
                "warnings": outcome.warnings,
                "plan": plan.model_dump(),
            }
        )
    else:
        parts = [f"{len(records)} records ({core_seconds:.3g} core-seconds, {share:.1%} for references)"]
        parts = parts if records else []
        parts += [f"{answers} answers about effects"] if answers or not records else []
        say.line(
            f"{outcome.measured} measurements made now; {' and '.join(parts)} in {output}; "
            + next_step(output, plan.operations, has_effects=bool(plan.effects))
        )
        say.line(f"preparing the runner took {took.prepare_s:.0f} s, measuring {took.measure_s:.0f} s")
        if outcome.limitations:
            say.line(
                f"{len(outcome.limitations)} cases an algorithm or effect does not do (kept in the folder), "
                f"first: {outcome.limitations[0]}"
            )
        if outcome.vanished:
            say.line(
                f"{len(outcome.vanished)} points without a time (kept in the folder; --resume tries them again, "
                f"best on a quieter machine), first: {outcome.vanished[0]}"
            )
        if outcome.left_out:
            visits = f"about {outcome.left_out} visits"
            if effects := ", ".join(outcome.effects_left_out):
                visits += f" and all or part of the effects {effects}"
            say.line(f"the time is spent; {visits} were left out (--resume goes on)")
    if outcome.failures or outcome.job_is_over:
        if as_json:
            raise typer.Exit(Incomplete.exit_code)
        if outcome.job_is_over:
            raise Incomplete(
                f"the job's time was over; what was measured is kept in {output}",
                f"submit it again, or `hockney measure -o {output} --resume` in the next job",
            )
        raise Incomplete(
            f"{len(outcome.failures)} failure(s), first: {outcome.failures[0]}",
            f"what was measured is kept; `hockney measure -o {output} --resume` tries the rest again",
        )


def _nothing(plan: Plan, outcome: Outcome) -> HockneyError:
    """Why there is no record at all; a request that everything refuses is a wrong one."""
    if outcome.job_is_over:
        return Incomplete("nothing could be measured: the job's time was over", "submit it with more --walltime")
    if outcome.failures:
        return Incomplete(f"nothing could be measured: {outcome.failures[0]}", "run `hockney doctor --run`")
    if outcome.vanished:
        return Incomplete(
            f"nothing could be measured: {outcome.vanished[0]}", "measure on a quieter machine, or raise --budget"
        )
    if outcome.left_out:
        return Incomplete(
            f"nothing could be measured: {plan.time_s:g} s were over before the first answer",
            "give --time more than a launch takes, and a smaller --budget; `hockney doctor --run` tells whether "
            "this MPI answers at all",
        )
    if outcome.limitations:
        return RequestError(f"nothing could be measured: {outcome.limitations[0]}", "see `hockney schedule list`")
    return RequestError("nothing could be measured: no point was asked for", "see `hockney measure --help`")


def _plan(options: MeasureOptions, context: typer.Context) -> Plan:
    """The plan to measure and to store; RequestError for an option that names nothing, or would be ignored."""
    if options.trust:
        raise RequestError("--trust means nothing without --resume", "leave it out")
    given = written(context)
    for called, text in given.items():
        if text == "":
            raise RequestError(f"{called}: '' names nothing", "leave it out for its default")
    plan = Plan.model_validate(
        {
            **options.model_dump(),
            "mpi": lasting(options.mpi),
            "hostfile": lasting(options.hostfile),
            "platform": lasting(options.platform),
            "topology": parse_spec(options.topology).spec if options.topology else "",
        }
    )
    if plan.topology and "congestion" not in plan.effects:
        raise RequestError("--topology applies to the effect congestion alone", "add it: --operation congestion")
    expect_subsets(plan)
    if not plan.points:
        unheeded = [name for name, effects in OF_EFFECTS.items() if not set(plan.effects) & set(effects)]
        ignored = [*NOT_OF_EFFECTS, *unheeded]
        for name, _, option in options_of(MeasureOptions):
            if name in ignored and flag(name, option) in given:
                raise RequestError(
                    f"{flag(name, option)} means nothing for {', '.join(plan.effects)}",
                    "leave it out, or measure points, too: --operation pingpong,…",
                )
    return plan


def _submit(context: typer.Context, options: MeasureOptions, submission: Submission, as_json: bool) -> None:
    """Write the scripts of jobs that measure, and submit them where that is asked for."""
    output, site = options.output, submission.chosen()
    if options.resume:
        campaign = Campaign.open(output)
        _refuse_other_choices(context)
        plan = Plan.stored(campaign.plan(), output)
        _expect_trusted(output, plan, trust=options.trust, ask=sys.stdin.isatty() and not as_json)
        _expect_shares(submission, plan)
    else:
        plan = planned(_plan(options, context), site, given=set(written(context)))
        _expect_jobs(output, plan, context, submission)
        if not (output / JOBS).is_dir():
            Campaign.create(output, plan.model_dump())
            seal(output)
    command = ["measure", "-o", str(output.absolute()), "--resume"]
    jobs = []
    for number in range(1, submission.jobs + 1):
        share = Share(number, submission.jobs)
        name = "measure" if share == WHOLE else f"measure-{number}"
        jobs.append(job_of(plan, name, [*command, *([] if share == WHOLE else ["--share", str(share)])]))
    written_jobs = write_jobs(jobs, submission, site, output)
    if as_json:
        say.json(written_jobs)
        return
    for line in written_jobs.lines:
        say.line(line)


def _of_system(joined: Campaign, plan: Plan, context: typer.Context) -> Plan:
    """The plan, of the system of the campaign that it joins: without --system it has the name of this node."""
    system = joined.plan().get("system")
    if "--system" in written(context) or not isinstance(system, str):
        return plan
    return plan.model_copy(update={"system": system})


def _expect_shares(submission: Submission, plan: Plan) -> None:
    if submission.jobs > plan.launches:
        raise RequestError(
            f"{submission.jobs} jobs cannot share {plan.launches} launch(es)",
            "add --launches, or leave --jobs out",
        )


def _with_transports(plan: Plan, *, quiet: bool) -> Plan:
    """The plan with its variants; those that do not start are told, and left out."""
    if ALL not in plan.variants:
        return plan
    with say.status("trying transports …") as status:
        plan, results = with_transports(plan, lambda name: status(f"trying {name}"))
    for one in results if not quiet else ():
        say.line(f"{one.name}: {one.why_not or 'starts'}")
    return plan


def _refuse_other_choices(context: typer.Context) -> None:
    """A resumed campaign keeps its plan: another choice beside --resume would be ignored, so it is refused."""
    of_jobs = [flag(name, option) for name, _, option in options_of(Submission)]
    if "--dry-run" in written(context):
        raise RequestError(
            "--dry-run tells of a new campaign, and --resume goes on with one",
            "`hockney status FOLDER` says how far it is and what is missing",
        )
    for called in written(context):
        if called.removeprefix("--") not in (*KEPT, "json") and called not in of_jobs:
            raise RequestError(
                f"{called} cannot be changed with --resume: the campaign's plan is kept",
                "leave it out, or start a new campaign",
            )


def _expect_trusted(output: Path, plan: Plan, *, trust: bool, ask: bool) -> None:
    """Run what a plan from elsewhere names only if the user wants it: by --trust, or when asked on a terminal."""
    if not (reason := doubt(output, plan)):
        return
    if not trust:
        if ask:
            say.note(reason)
        if not (ask and typer.confirm("Run it?", err=True)):
            raise RequestError(reason, "look at its plan.json; --trust resumes it all the same")
    seal(output)
