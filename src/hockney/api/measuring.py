"""A campaign, measured: from its options to its folder, and what it would take."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from hockney.api.measured import MeasureAnswer as MeasureAnswer
from hockney.api.measured import MeasurePlanned as MeasurePlanned
from hockney.batch.base import allocation
from hockney.campaign.effect_runs import expect_subsets
from hockney.campaign.estimate import compile_s, estimate
from hockney.campaign.further import write_table
from hockney.campaign.jobs import WrittenJobs as WrittenJobs
from hockney.campaign.jobs import job_of, job_text, planned, write_jobs
from hockney.campaign.measure import run
from hockney.campaign.options import KEPT, lasting
from hockney.campaign.outcome import Outcome
from hockney.campaign.plan import Plan
from hockney.campaign.prepare import by_mapping, has_more_ranks_than_cores, refuse_far_too_many, with_transports
from hockney.campaign.prepare import launches as prepare
from hockney.campaign.share import WHOLE, Share
from hockney.campaign.trust import doubt, seal
from hockney.errors import EnvironmentLack, Incomplete, RequestError
from hockney.fields import Value, flag
from hockney.fields import options as options_of
from hockney.machine.build import reviewed
from hockney.machine.effects import effects_of
from hockney.machine.locality import read
from hockney.machine.measured import effect_lines, measured_collectives, measured_pairs
from hockney.network.topologies.base import parse_spec
from hockney.options.measure import MeasureOptions, Submission
from hockney.predict.adaptive import Adaptive
from hockney.records.folder import JOBS, PLAN, Campaign
from hockney.records.journal import StoredPlan
from hockney.records.record import Record
from hockney.runner.find import find, measures_a_wheel
from hockney.runner.transports import ALL
from hockney.studies.crowding import ONLY_CHECKS
from hockney.terminal import say
from hockney.terminal.signals import Interrupted
from hockney.tune.loading import traps_of
from hockney.units import counted
from hockney.writing import NotWritten

NOT_OF_EFFECTS = ("pairs", "off_cache", "window", "visits", "root", "adaptive")
OF_EFFECTS = {
    "sizes_B": ("congestion", "injection", "subsets"),
    **dict.fromkeys(("algorithms", "rank_counts", "segments_B", "radices"), ("subsets",)),
}
"""Options that these effects alone heed."""


class MeasureRequest(NamedTuple):
    """A campaign as it was asked for: `written` are the options on the command line, and what stands there.

    `confirm` asks the user whether to run what a plan from elsewhere names; None where nobody can answer.
    """

    options: MeasureOptions
    submission: Submission
    written: Mapping[str, Value]
    confirm: Callable[[str], bool] | None


def measure(
    asked: MeasureRequest, closing: Callable[[], object], *, quiet: bool
) -> MeasureAnswer | MeasurePlanned | WrittenJobs:
    """Measure a campaign into its folder, or plan it, or write the scripts of jobs that measure it.

    `closing` is called when all is measured, before the table is written; progress is drawn unless `quiet`.
    RequestError for options that mean nothing together, Incomplete where the campaign has no answer.
    """
    options, began_s = asked.options, time.monotonic()
    if options.dry_run:
        return _planned(_expected(asked), options.output, is_for_jobs=bool(asked.submission.submit))
    if asked.submission.submit:
        return _submit(asked)
    output = options.output
    job = allocation()
    part = "" if job is None else job.part
    if options.resume:
        campaign = Campaign.open(output, part)
        plan = _resumed(asked, campaign)
    else:
        plan = _with_transports(_plan(asked), quiet=quiet)
        stored: Plan | StoredPlan = plan
        if part and (output / PLAN).is_file():
            plan, stored = _joining(Campaign.open(output), plan, asked)
    prepared = prepare(plan)
    for text in traps_of(plan, prepared):
        say.warn(text)
    is_new = not part and not output.exists()
    if not options.resume:
        campaign = Campaign.create(output, stored.model_dump(), part)
        seal(output)
    ready_s = time.monotonic()
    if not quiet:
        first = prepared[0]
        say.line(f"{first.mpi_name} ({first.mpi_why})")
        what = [counted(plan.ranks, "rank"), counted(len({each.variant for each in prepared}), "variant")]
        by = f" by {' and '.join(plan.mappings)}" if plan.mappings else ""
        say.line(f"{', '.join(what)}{by} → {campaign.own}")
        if _is_crowded(plan):
            say.warn(f"more ranks than cores: {ONLY_CHECKS}")
        if job is not None:
            say.line(job_text(job))
    ended: Interrupted | NotWritten | None = None
    outcome: Outcome | None = None
    try:
        with say.PointsBar(quiet=quiet, ends_with=not quiet) as watcher:
            # Preparing took some of it.
            left = None if job is None else job.work_s
            job_s = None if left is None else left - (ready_s - began_s)
            outcome = run(campaign, plan, prepared, watcher, Adaptive, job_s=job_s, share=options.share)
            closing()
    except Interrupted as error:
        # With an outcome there is nothing left to end.
        ended = None if outcome is not None else error
    except NotWritten as error:
        ended = error
    except Exception as error:
        with suppress(NotWritten):
            is_empty = not write_table(campaign, plan) and not campaign.effects()
            if is_new and is_empty and isinstance(error, RequestError):
                # What a launch refuses leaves no campaign that is in the way of the next try.
                shutil.rmtree(output)
        raise
    took = Took(ready_s - began_s, time.monotonic() - ready_s)
    return _closed(campaign, plan, ended, outcome, took)


def _is_crowded(plan: Plan) -> bool:
    """Whether ranks share cores under any of its mappings; simulated ranks need none."""
    return plan.mpi != "smpi" and any(map(has_more_ranks_than_cores, by_mapping(plan)))


def _planned(plan: Plan, output: Path, *, is_for_jobs: bool) -> MeasurePlanned:
    """What would be launched, how many points that is, and what it takes."""
    refuse_far_too_many(plan)
    expected = estimate(plan)
    unknown = []
    if is_for_jobs:
        unknown.append("localities and a compiled runner are those of this host: the jobs' nodes may have others")
    if ALL in plan.variants:
        unknown.append(f"{ALL} is counted as one variant: how many of them work, only a launch shows")
    if _is_crowded(plan):
        unknown.append(f"ranks share cores, and the estimate leaves out their waiting; {ONLY_CHECKS}")
    return MeasurePlanned(
        campaign=str(output),
        **asdict(expected),
        compile_s=compile_s(plan.mpi),
        warnings=unknown,
        plan=plan,
        takes=str(expected),
    )


def _expected(asked: MeasureRequest) -> Plan:
    """The plan of a campaign that is only told of; what the campaign would refuse is refused."""
    plan, output = _plan(asked), asked.options.output
    if asked.submission.submit:
        return _expect_jobs(asked, planned(plan, asked.submission.chosen(), set(asked.written)))
    job = allocation()
    if job is None or not job.part or not (output / PLAN).is_file():
        Campaign.expect_new(output)
    return plan


def _expect_jobs(asked: MeasureRequest, plan: Plan) -> Plan:
    """The plan of jobs; RequestError where they have no share of it, or the folder holds another campaign."""
    _expect_shares(asked.submission, plan)
    output = asked.options.output
    if (output / JOBS).is_dir():
        joined = Campaign.open(output)
        joined.expect_plan(StoredPlan.of(_joining(joined, plan, asked)[1].model_dump()))
    else:
        Campaign.expect_new(output)
    return plan


def _closed(
    campaign: Campaign,
    plan: Plan,
    ended: Interrupted | NotWritten | None,
    outcome: Outcome | None,
    took: Took,
) -> MeasureAnswer:
    """Write the table, whatever ended the campaign (`ended`, or nothing did), and count what there is."""
    why = f"{ended.name} ended the campaign" if isinstance(ended, Interrupted) else ""
    lost = ended.message if isinstance(ended, NotWritten) else ""
    try:
        records = write_table(campaign, plan)
    except NotWritten as error:
        # Where a record had no room, it says enough that the table has none either.
        records, lost = campaign.records(), lost or error.message
    effects = campaign.effects()
    answers = sum(1 for record in effects if record.answer)
    of_effects = f" and {counted(answers, 'answer')} about effects" if answers else ""
    kept = f"kept in {campaign.path}: {counted(len(records), 'record')}{of_effects}"
    resume = f"`hockney measure -o {campaign.path} --resume`"
    if lost and outcome is not None and outcome.is_whole:
        raise Incomplete(f"{lost}; all is measured and {kept}", f"make room; {resume} writes it")
    said = "; ".join(filter(None, (why, lost, kept)))
    if lost:
        raise Incomplete(said, f"make room; {resume} continues, and writes it")
    if outcome is None:
        raise Incomplete(said, f"{resume} continues")
    if not records and not answers and not any(record.not_measurable for record in effects):
        raise outcome.nothing(campaign.path)
    return _answer(campaign.path, plan, outcome, records, answers, took)


class Took(NamedTuple):
    """Seconds until the runner was there, compiled if it had to be, and from then on."""

    prepare_s: float
    measure_s: float


def _answer(
    output: Path, plan: Plan, outcome: Outcome, records: list[Record], answers: int, took: Took
) -> MeasureAnswer:
    elapsed_s = sum(record.elapsed_s or 0.0 for record in records if record.samples)
    contents = read(output)
    entries, said = reviewed(contents)
    effects = effects_of(contents.effects, lambda _: None) if contents.effects else []
    return MeasureAnswer(
        **vars(replace(outcome, warnings=list(dict.fromkeys([*outcome.warnings, *said.warnings])))),
        **took._asdict(),
        campaign=str(output),
        records=len(records),
        answers_about_effects=answers,
        core_seconds=sum(record.core_seconds or 0.0 for record in records),
        references_share=sum(record.references_took_s for record in records) / elapsed_s if elapsed_s else 0.0,
        pairs=measured_pairs(entries),
        collectives=measured_collectives(contents.frame),
        effects=[line for effect in effects for line in effect_lines(effect)],
        run=said.noise,
        plan=plan,
    )


def _plan(asked: MeasureRequest) -> Plan:
    """The plan to measure and to store; RequestError for an option that names nothing, or would be ignored."""
    options, written = asked.options, asked.written
    if options.trust:
        raise RequestError("--trust means nothing without --resume", "leave it out")
    for called, text in written.items():
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
            if name in ignored and flag(name, option) in written:
                raise RequestError(
                    f"{flag(name, option)} means nothing for {', '.join(plan.effects)}",
                    "leave it out, or measure points, too: --operation pingpong,…",
                )
    return plan


def _submit(asked: MeasureRequest) -> WrittenJobs:
    """Write the scripts of jobs that measure, and submit them where that is asked for."""
    options, submission = asked.options, asked.submission
    output, site = options.output, submission.chosen()
    if options.resume:
        plan = _resumed(asked, Campaign.open(output))
        _expect_shares(submission, plan)
    else:
        plan = planned(_plan(asked), site, given=set(asked.written))
        _expect_jobs(asked, plan)
        if not (site.modules or site.setup or site.environment) and (doubt := _doubt_of_wheel(plan)):
            say.warn(doubt)
        if not (output / JOBS).is_dir():
            Campaign.create(output, plan.model_dump())
            seal(output)
    command = ["measure", "-o", str(output.absolute()), "--resume"]
    jobs = []
    for number in range(1, submission.jobs + 1):
        share = Share(number, submission.jobs)
        name = "measure" if share == WHOLE else f"measure-{number}"
        jobs.append(job_of(plan, name, [*command, *([] if share == WHOLE else ["--share", str(share)])]))
    return write_jobs(jobs, submission, site, output)


def _doubt_of_wheel(plan: Plan) -> str:
    try:
        return measures_a_wheel(find(plan.mpi))
    except EnvironmentLack:
        # The library may be on the nodes of the job alone.
        return ""


def _resumed(asked: MeasureRequest, campaign: Campaign) -> Plan:
    """The plan of a campaign that goes on; RequestError for another choice beside --resume."""
    _refuse_other_choices(asked.written)
    plan = Plan.stored(campaign.plan(), asked.options.output)
    _expect_trusted(asked, plan)
    return plan


def _joining(joined: Campaign, plan: Plan, asked: MeasureRequest) -> tuple[Plan, Plan | StoredPlan]:
    """The plan of a campaign that joins another, and as it is stored: the same plan in the words of the other.

    An older version did not store every choice. Without --system a plan has the name of this node, and takes the
    other's.
    """
    stored = joined.plan()
    if "--system" not in asked.written and "system" in stored.model_fields_set:
        plan = plan.model_copy(update={"system": stored.system})
    is_same = Plan.stored(stored, joined.path) == plan
    return plan, stored if is_same else plan


def _expect_shares(submission: Submission, plan: Plan) -> None:
    if submission.jobs > plan.launches:
        what = f"{submission.jobs} jobs cannot share {counted(plan.launches, 'launch', plural='launches')}"
        raise RequestError(what, "add --launches, or leave --jobs out")


def _with_transports(plan: Plan, *, quiet: bool) -> Plan:
    """The plan with its variants; those that do not start are told, and left out."""
    if ALL not in plan.variants:
        return plan
    with say.status("trying transports …") as status:
        plan, results = with_transports(plan, lambda name: status(f"trying {name}"))
    for result in results if not quiet else ():
        say.line(f"{result.name}: {result.why_not or 'starts'}")
    return plan


def _refuse_other_choices(written: Mapping[str, Value]) -> None:
    """A resumed campaign keeps its plan: another choice beside --resume would be ignored, so it is refused."""
    of_jobs = [flag(name, option) for name, _, option in options_of(Submission)]
    if "--dry-run" in written:
        raise RequestError(
            "--dry-run is for a new campaign, and --resume continues one",
            "`hockney status FOLDER` says how far it is and what is missing",
        )
    for called in written:
        if called.removeprefix("--") not in (*KEPT, "json") and called not in of_jobs:
            raise RequestError(
                f"{called} cannot be changed with --resume: the campaign's plan is kept",
                "leave it out, or start a new campaign",
            )


def _expect_trusted(asked: MeasureRequest, plan: Plan) -> None:
    """Run what a plan from elsewhere names only if the user wants it: by --trust, or when asked on a terminal."""
    output = asked.options.output
    if not (reason := doubt(output, plan)):
        return
    if not asked.options.trust and not (asked.confirm and asked.confirm(reason)):
        raise RequestError(reason, "look at its plan.json; --trust resumes it all the same")
    seal(output)
