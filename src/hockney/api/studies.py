"""A question, measured, modelled and answered on one page: what `hockney study` does in each of its modes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel

from hockney.api.programs import ProgramPlanned as ProgramPlanned
from hockney.api.programs import ProgramStudied as ProgramStudied
from hockney.api.programs import study_program
from hockney.batch import jobs as batch
from hockney.batch.base import JobAllocation, allocation
from hockney.batch.jobs import Job
from hockney.batch.options import Submission
from hockney.batch.site import Site
from hockney.campaign.estimate import compile_s
from hockney.campaign.jobs import WrittenJobs, of_site, with_options, write_jobs
from hockney.campaign.options import lasting
from hockney.campaign.plan import AppLaunching
from hockney.campaign.prepare import default_ranks
from hockney.errors import EnvironmentLack, Incomplete, RequestError
from hockney.fields import flags_written
from hockney.importers.base import Given
from hockney.machine.locality import given_system, read
from hockney.options.study import LIST, PROGRAM, SHOW, StudyOptions
from hockney.report.marks import peaks_of
from hockney.report.page import Report
from hockney.studies.answers import NotRead, StepAnswer, listed, shown
from hockney.studies.answers import ShownStudy as ShownStudy
from hockney.studies.answers import StudyDone as StudyDone
from hockney.studies.answers import StudyLeft as StudyLeft
from hockney.studies.answers import StudyList as StudyList
from hockney.studies.answers import StudyPlanned as StudyPlanned
from hockney.studies.asked import StudyRequest, check_nodes, check_ranks, libraries, placements, ranks_on
from hockney.studies.crowding import BEFORE, crowded, probed
from hockney.studies.files import Study, find
from hockney.studies.page import PAGE, check_needs, imported, joined, unfinished, write
from hockney.studies.perform import STEPS, Folder, expect_new, perform
from hockney.studies.status import Status as Status
from hockney.studies.status import status as status
from hockney.studies.steps import StudyStep, fits, jobs_for, page_s, steps
from hockney.terminal import say
from hockney.terminal.signals import Interrupted, undisturbed
from hockney.units import counted, format_bytes, format_duration

SHOWN = ("statistic", "sizes_B", "peaks")
"""Options of the page, which are not kept."""
RESUMED = ("output", "resume", "trust", "dry_run", "nodes", *SHOWN)

StudyAnswer: TypeAlias = (
    ProgramPlanned | ProgramStudied | StudyDone | StudyPlanned | StudyLeft | WrittenJobs | StudyList | ShownStudy
)


def study(options: StudyOptions, launching: AppLaunching, submission: Submission, *, quiet: bool) -> StudyAnswer:
    """Perform a study, or what its options ask of one; progress is drawn unless `quiet`.

    RequestError for options that mean nothing together, EnvironmentLack where a job has no room for any step,
    Incomplete where nothing was measured.
    """
    if options.name in (LIST, SHOW):
        _refuse_beside(options.name, ("words",), options, launching, submission)
        return listed(options.words) if options.name == LIST else shown(options.words)
    if options.name == PROGRAM:
        return study_program(options, (launching, submission), quiet=quiet)
    if options.words:
        raise RequestError(f"one study at a time: {options.words[0]!r} was given, too", "leave it out")
    if options.source is not None:
        _refuse_beside("--from", (), submission)
        return _elsewhere(options, launching, options.source)
    return _performed(options, launching, submission, quiet=quiet)


@dataclass(frozen=True)
class _Begun:
    """A study that is about to be performed, or gone on with: then its `folder` is there."""

    study: Study
    asked: StudyRequest
    output: Path
    folder: Folder | None = None
    probe_s: float = 0.0

    @property
    def steps(self) -> list[StudyStep]:
        """All of its steps."""
        return steps(self.study, self.asked, self.output / STEPS)

    @property
    def resume(self) -> str:
        """How to go on with it."""
        return f"`hockney study {self.study.name} -o {self.output} --resume`"


def _resumed(options: StudyOptions, launching: AppLaunching, part: str) -> _Begun:
    """The study of a folder; RequestError for choices that it keeps."""
    for model in (options, launching):
        for name, called in flags_written(model).items():
            if name not in ("name", *RESUMED):
                raise RequestError(
                    f"{called} cannot be changed with --resume: the study's folder says it",
                    "leave it out, or start a new study",
                )
    output = options.output or Path(options.name)
    folder = Folder.open(output, part)
    if Path(options.name).stem != folder.study.name:
        raise RequestError(f"{output} holds the study {folder.study.name}, not {options.name}", "name that one")
    return _Begun(folder.study, folder.state.asked, output, folder)


def _new(options: StudyOptions, launching: AppLaunching, submission: Submission, site: Site) -> _Begun:
    chosen = find(options.name)
    settings = {
        # Each job would name it after its own first node.
        **({"system": launching.system} if submission.submit else {}),
        **of_site(site),
        **launching.model_dump(include=launching.model_fields_set, mode="json"),
        **({"variants": with_options(launching.variants, site)} if site.launcher_options else {}),
    }
    settings |= {name: lasting(settings[name]) for name in ("mpi", "hostfile", "platform") if name in settings}
    asked = StudyRequest(
        name=chosen.name,
        quick=options.quick,
        parts=options.parts,
        libraries=libraries(chosen, options.parts) if "mpi" not in settings else [],
        ranks=options.ranks or ranks_on(options.nodes, launching.hosts, site if submission.submit else None),
        placements=options.map_by or placements(chosen, settings, options.nodes, is_here=not submission.submit),
        nodes=options.nodes or ([1] if submission.submit else []),
        sizes_B=options.sizes_B,
        launching=settings,
    )
    check_nodes(asked)
    return _Begun(chosen, asked, options.output or Path(chosen.name))


def _of_nodes(whole: Sequence[StudyStep], nodes: Sequence[int]) -> list[StudyStep]:
    """The steps on these numbers of nodes, all without; RequestError for one that the study does not have."""
    known = sorted({step.nodes for step in whole if step.nodes is not None})
    for count in nodes:
        if count not in known:
            raise RequestError(
                f"the study has no steps on {count} nodes", f"known: {', '.join(map(str, known)) or 'none'}"
            )
    return [step for step in whole if not nodes or step.nodes in nodes]


def _with_probe(begun: _Begun, began_s: float) -> _Begun:
    """The study with what ranks that share cores wait, where they do."""
    asked = begun.asked
    if not (shared := crowded(asked.launched, asked.placements)):
        return begun
    with say.status("finding what ranks that share cores wait …"):
        asked = asked.model_copy(update={"crowding": probed(asked.launched, shared)})
    return replace(begun, asked=asked, probe_s=time.monotonic() - began_s)


def _performed(
    options: StudyOptions, launching: AppLaunching, submission: Submission, *, quiet: bool
) -> StudyDone | StudyPlanned | StudyLeft | WrittenJobs:
    began_s = time.monotonic()
    job = None if submission.submit else allocation()
    part = "" if job is None else job.part
    site = submission.chosen()
    begun = _resumed(options, launching, part) if options.resume else _new(options, launching, submission, site)
    check_ranks(begun.asked)
    # What its options refuse comes before anything is launched or written.
    expected = _of_nodes(begun.steps, options.nodes if options.resume else [])
    _expect_shown(options, begun.steps)
    if not options.resume and not options.dry_run:
        expect_new(begun.output)
        if job is None and not submission.submit:
            begun = _with_probe(begun, began_s)
            expected = begun.steps
    folder = begun.folder
    left = [step for step in expected if folder is None or not folder.is_done(step)]
    estimate_s = (
        begun.probe_s
        + sum(step.estimate_s for step in left)
        + page_s(expected)
        + compile_s(str(begun.asked.launching.get("mpi", "auto")))
    )
    if options.dry_run:
        return _planned(begun, expected, estimate_s)
    if folder is not None and not options.trust and (reason := folder.doubt(expected)):
        raise RequestError(reason, "look at its study.toml and study.json; --trust resumes it all the same")
    if folder is None:
        folder = Folder.create(begun.output, begun.study, begun.asked, part)
    if submission.submit:
        return _jobs(begun, folder, left, submission, site)
    return _measured(begun, folder, expected, left, job, estimate_s, began_s, options, quiet=quiet)


def _expect_shown(options: StudyOptions, whole: Sequence[StudyStep]) -> None:
    """RequestError for times of collectives that the page is asked for and no step measures."""
    plans = [step.plan for step in whole if step.plan is not None and step.plan.has_collectives]
    if not plans and (flags := [flag for name, flag in flags_written(options).items() if name in SHOWN]):
        raise RequestError(f"{flags[0]}: the study {options.name} measures no collective", "leave it out")
    if options.resume and all(plan.sizes_B for plan in plans):
        planned = sorted({size_B for plan in plans for size_B in plan.sizes_B})
        if lacking := sorted(set(options.sizes_B).difference(planned)):
            raise RequestError(
                f"the study measures no collective at {format_bytes(lacking[0])}",
                f"it measures {', '.join(map(format_bytes, planned))}; a new study measures others",
            )


def _planned(begun: _Begun, expected: Sequence[StudyStep], estimate_s: float) -> StudyPlanned:
    file, asked = begun.study.file, begun.asked
    shares = asked.crowding is None and crowded(asked.launched, asked.placements)
    takes = [str(step.estimate or f"about {format_duration(step.estimate_s)}") for step in expected]
    answers = list(map(StepAnswer.of, expected))
    texts = (begun.study.name, file.question, file.compares, file.shows)
    return StudyPlanned(*texts, asked, estimate_s, answers, takes, BEFORE if shares else "")


def _jobs(
    begun: _Begun, folder: Folder, left: Sequence[StudyStep], submission: Submission, site: Site
) -> WrittenJobs:
    """A job for each number of nodes that has steps left; of a study of parts one chain, as long as they take."""
    name, is_chain = begun.study.name, bool(begun.study.file.parts)
    jobs = []
    for nodes, ranks in begun.asked.on():
        own = [step for step in left if step.nodes == nodes]
        if nodes is None or not own:
            continue
        command = ["study", name, "-o", str(folder.path.absolute()), "--resume", "--nodes", str(nodes)]
        what = f"{counted(ranks, 'rank')} on {nodes} node{'s' * (nodes != 1)}: the study {name}"
        words = [*batch.here(), *command]
        for number in range(1, (jobs_for(own, site.walltime_s) if is_chain else 1) + 1):
            called = f"{name}-{nodes}n" + f"-{number}" * (number > 1)
            jobs.append(Job(name=called, what=what, nodes=nodes, per_node=ranks // nodes, command=words))
    if not jobs:
        raise RequestError(f"{folder.path} has no step left for a job", f"{begun.resume} makes the page")
    return write_jobs(jobs, submission, site, folder.path, is_chain=is_chain)


def _measured(
    begun: _Begun,
    folder: Folder,
    expected: Sequence[StudyStep],
    left: Sequence[StudyStep],
    job: JobAllocation | None,
    estimate_s: float,
    began_s: float,
    options: StudyOptions,
    *,
    quiet: bool,
) -> StudyDone | StudyLeft:
    """The steps that are left, measured as far as there is room and time, and the page where all are over."""
    fitting = [step for step in expected if fits(step, job)]
    if job is not None and left and not any(step in fitting for step in left):
        raise EnvironmentLack(
            f"{len(left)} steps are left, and each needs more than {job.described()}",
            "submit it with more nodes",
        )
    if not quiet:
        say.line(f"{begun.study.name}: {begun.study.file.question}")
        say.line(
            f"{len(left)} step{'s' * (len(left) != 1)} on {max(step.ranks for step in left or expected)} ranks, "
            f"about {format_duration(estimate_s)} → {begun.output}"
        )
        if begun.asked.crowding is not None:
            say.line(f"{begun.asked.crowding.caution} {begun.asked.crowding.waiting}")
    is_ended = False
    work_s = None if job is None else job.work_s
    try:
        end_s = math.inf if work_s is None else began_s + work_s
        perform(folder, fitting, lambda step: _watching(step, quiet=quiet), end_s)
    except (Interrupted, Incomplete) as error:
        if not folder.campaigns(expected):
            if isinstance(error, Incomplete):
                raise
            raise Incomplete("interrupted before anything was measured", f"{begun.resume} continues") from error
        is_ended = True
    folder.join()
    whole = begun.steps
    if job is not None and not all(map(folder.is_over, whole)):
        # The page is for the job that ends last: its time is not this one's, and its file is one for all.
        return _left(begun, folder, expected, whole, job)
    remarks = unfinished(whole, folder.state.steps)
    with undisturbed(), say.status("making the page …") as status:
        page = write(
            begun.study,
            begun.output,
            read(joined(folder, whole)),
            remarks,
            status,
            statistic=options.statistic,
            sizes_B=options.sizes_B,
            peaks=peaks_of(options.peaks),
            parts=begun.asked.parts,
        )
    done = folder.state.steps
    partly = [done[step.name].why for step in whole if step.name in done and not folder.is_over(step)]
    why = next((text for text in remarks if text.startswith("Half")), next(filter(None, partly), "interrupted"))
    is_whole = not is_ended and all(map(folder.is_over, whole))
    return replace(
        _with_page(begun.study.name, begun.output, page),
        estimate_s=estimate_s,
        took_s=time.monotonic() - began_s,
        crowding=begun.asked.crowding,
        steps=_answers(folder, whole),
        unfinished="" if is_whole else why,
        resume=f"{begun.resume} continues",
    )


@contextmanager
def _watching(step: StudyStep, *, quiet: bool) -> Iterator[say.PointsBar]:
    """Says what a step is, and draws how far a campaign has come."""
    if not quiet:
        say.note(f"{step.name}: about {format_duration(step.estimate_s)}")
    bar = say.PointsBar(quiet=quiet or step.plan is None)
    # An application draws its own.
    with nullcontext() if step.plan is None else bar:
        yield bar


def _answers(folder: Folder, whole: Sequence[StudyStep]) -> list[StepAnswer]:
    return [StepAnswer.of(step, folder.state.steps.get(step.name), "not done") for step in whole]


def _left(
    begun: _Begun, folder: Folder, own: Sequence[StudyStep], whole: Sequence[StudyStep], job: JobAllocation
) -> StudyLeft:
    """What a job did of a study that others have still to end."""
    done, why = sum(map(folder.is_over, own)), ""
    if done < len(own):
        half = (text for text in unfinished(own, folder.state.steps) if text.startswith("Half"))
        why = f"{done} of the {counted(len(own), 'step')} of this job are done. {next(half, '')}"
    return StudyLeft(
        study=begun.study.name,
        folder=str(folder.path),
        job=job.job,
        steps=_answers(folder, whole),
        done=sum(map(folder.is_over, whole)),
        unfinished=why,
        resume=f"submit it again, or {begun.resume} in the next job",
    )


def _with_page(name: str, output: Path, page: Report) -> StudyDone:
    return StudyDone(name, str(output), str(output / PAGE), list(page.findings), list(page.warnings))


def _elsewhere(options: StudyOptions, launching: AppLaunching, source: Path) -> StudyDone:
    """The page of what was measured elsewhere."""
    fit = ("output", "source", "ranks", "map_by", "system", "mpi", *SHOWN)
    _refuse_beside("--from", fit, options, launching)
    if len(options.map_by) > 1:
        raise RequestError("--from takes one --map-by, that of what was measured", "import each folder by itself")
    chosen = find(options.name)
    output = options.output or Path(chosen.name)
    said = launching.model_dump(include=launching.model_fields_set & {"system", "mpi"})
    name, systems = given_system(launching.system)
    mapping = options.map_by[0] if options.map_by else ""
    facts = Given(**said | {"system": name}, ranks=options.ranks, mapping=mapping)
    asked = StudyRequest(name=chosen.name, ranks=default_ranks([]), placements=chosen.file.placements[:1])
    measured = {name for step in steps(chosen, asked, output / STEPS) for name in step.operations()}
    with (
        undisturbed(),
        say.status("reading …") as status,
        imported(source, output, facts, systems) as (contents, skipped),
    ):
        page = write(
            chosen,
            output,
            contents,
            check_needs(chosen, contents, source, measured),
            status,
            statistic=options.statistic,
            sizes_B=options.sizes_B,
            peaks=peaks_of(options.peaks),
            systems=systems,
        )
    not_read = [NotRead(file, reason) for file, reason in skipped]
    return replace(_with_page(chosen.name, output, page), source=str(source), skipped=not_read)


def _refuse_beside(what: str, fit: Sequence[str], *models: BaseModel) -> None:
    """RequestError for options other than `fit` beside what measures nothing."""
    unfit = [
        called for model in models for name, called in flags_written(model).items() if name not in ("name", *fit)
    ]
    if unfit:
        raise RequestError(f"{what} measures nothing, and does not take {', '.join(unfit)}", "leave them out")
