"""`hockney study`: a question, measured, modelled and answered on one page by one command."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, Field

from hockney.batch.options import Submission
from hockney.campaign.plan import LAUNCH, AppLaunching
from hockney.cli._jobs import of_site, with_options
from hockney.cli._study_jobs import leave, of_nodes, ranks_of, submit
from hockney.errors import EnvironmentLack, Incomplete, RequestError
from hockney.fields import Argument, Option, Without, flags_written
from hockney.options.report import CollectiveTimes
from hockney.runner.launchers.base import MapBy
from hockney.studies.files import FOLDER
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.terminal.signals import Interrupted, interruptible, undisturbed
from hockney.units import format_duration
from hockney.words import names as words_of
from hockney.words import wholes

with later():
    from rich.table import Table

    from hockney.batch.base import allocation
    from hockney.campaign.estimate import compile_s
    from hockney.campaign.options import lasting
    from hockney.campaign.prepare import default_ranks
    from hockney.importers.base import Given
    from hockney.records.contents import read
    from hockney.report.page import Report
    from hockney.studies.asked import Asked, check_nodes, check_ranks
    from hockney.studies.crowding import BEFORE, crowded, probed
    from hockney.studies.files import Study, find, names
    from hockney.studies.page import PAGE, check_needs, imported, joined, unfinished, write
    from hockney.studies.perform import STEPS, Folder, as_data, expect_new, perform
    from hockney.studies.steps import Step, fits, page_s, steps

SHIPPED = ", ".join(sorted(path.stem for path in FOLDER.glob("*.toml")))
LIST, SHOW = "list", "show"
MOST_NODES = 2**20
SHOWN = ("statistic", "sizes_B")
"""Options of the page, which are not kept."""
RESUMED = ("output", "resume", "trust", "dry_run", "nodes", *SHOWN)


class StudyOptions(CollectiveTimes):
    """Which study, into which folder, and how much of it."""

    name: Annotated[
        str,
        Argument(
            f"{SHIPPED}; a TOML file of your own; `list`; or `show` and a name.",
            metavar="NAME",
            known=lambda: [LIST, SHOW, *SHIPPED.split(", ")],
        ),
    ]
    shown: Annotated[str, Argument("The study that `show` prints.", metavar="[NAME]", show=None)] = ""
    output: Annotated[
        Path | None, Option("Folder of the study. [default: the name of the study]", flags=("--output", "-o"))
    ] = None
    quick: Annotated[bool, Option("In minutes.", flags=("--quick",))] = False
    resume: Annotated[bool, Option(flags=("--resume",))] = False
    trust: Annotated[bool, Option(flags=("--trust",))] = False
    dry_run: Annotated[bool, Option("The plan, and what it takes.", flags=("--dry-run",))] = False
    source: Annotated[
        Path | None,
        Option(
            "Measure nothing: a campaign, a tidy table, or a folder of OSU, IMB or other results.",
            flags=("--from",),
            metavar="FOLDER|TABLE",
        ),
    ] = None
    ranks: Annotated[
        int | None, Option("Ranks to launch. [default: the cores of the hosts]", panel=LAUNCH), Field(ge=1)
    ] = None
    nodes: Annotated[
        list[int],
        Option(
            "Numbers of nodes, 1,2,4: each a job, with its share of --ranks; with --resume, which of them.",
            read=lambda text: sorted(set(wholes(text, range(1, MOST_NODES)))),
            panel=LAUNCH,
        ),
    ] = Field(default_factory=list)
    map_by: Annotated[
        list[MapBy],
        Option("core, socket, node, …, or several. [default: as the study says]", read=words_of, panel=LAUNCH),
    ] = Field(default_factory=list)


@verb(
    "study",
    examples="""hockney study list
hockney study show ring
hockney study point_to_point --quick -o p2p
hockney study collectives --ranks 8 --map-by core,socket,node -o collectives
hockney study jacobi --dry-run
hockney study ring -o ring --resume
hockney study collectives --from tidy.csv.gz -o published
hockney study collectives --from orfeo/ --statistic mean_over_ranks --bytes 2,1KiB -o orfeo
hockney study collectives --nodes 1,2,4 --ranks 128 -o nodes --submit slurm --site sites/here.toml --now
hockney study my.toml -o mine --json""",
)
@interruptible()
def study(
    options: StudyOptions,
    launching: Annotated[AppLaunching, Without("ranks", "map_by", "output", "nodes")],
    submission: Annotated[Submission, Without("jobs")],
    json: JsonOption = False,
) -> None:
    """Measure, model and compare what a question needs, and write one page that begins with the answers.

    A study is a TOML file: its steps are commands of `measure` and `run`. It prints what it will take, keeps each
    step on disk, and ends with a machine file, a page and the findings as JSON, all in one folder.
    """
    began_s = time.monotonic()
    if options.name in (LIST, SHOW):
        _refuse_beside(options.name, ("shown",), options, launching, submission)
        _tell(options, json)
        return
    if options.shown:
        raise RequestError(f"one study at a time: {options.shown!r} was given, too", "leave it out")
    if options.source is not None:
        _refuse_beside("--from", (), submission)
        _elsewhere(options, launching, json)
        return
    given = None if submission.submit else allocation()
    part = "" if given is None else given.part
    site = submission.chosen()
    found = None if options.resume else find(options.name)
    output = options.output or Path(options.name if found is None else found.name)
    folder: Folder | None = None
    if options.resume:
        _refuse_other_choices(options, launching)
        folder = Folder.open(output, part)
        chosen, asked = folder.study, folder.state.asked
        if Path(options.name).stem != chosen.name:
            raise RequestError(f"{output} holds the study {chosen.name}, not {options.name}", "name that one")
    else:
        assert found is not None
        chosen = found
        asked = Asked(
            name=chosen.name,
            quick=options.quick,
            ranks=options.ranks or ranks_of(options.nodes, launching, submission, site),
            placements=list(options.map_by or chosen.file.placements),
            nodes=options.nodes or ([1] if submission.submit else []),
            launching={
                name: lasting(value) if name in ("mpi", "hostfile", "platform") else value
                for name, value in {
                    # Each job would name it after its own first node.
                    **({"system": launching.system} if submission.submit else {}),
                    **of_site(site),
                    **launching.model_dump(include=launching.model_fields_set, mode="json"),
                    **({"variants": with_options(launching.variants, site)} if site.launcher_options else {}),
                }.items()
            },
        )
        check_nodes(asked)
    check_ranks(asked)
    whole_study = steps(chosen, asked, output / STEPS)
    probe_s = 0.0
    if folder is None and not options.dry_run:
        expect_new(output)
    is_here = given is None and not (options.dry_run or options.resume or submission.submit)
    if is_here and (shared := crowded(asked.launched, asked.placements)):
        with say.status("finding what ranks that share cores wait …"):
            asked = asked.model_copy(update={"crowding": probed(asked.launched, shared)})
        probe_s = time.monotonic() - began_s
        whole_study = steps(chosen, asked, output / STEPS)
    made = of_nodes(whole_study, options.nodes if options.resume else [])
    left = [step for step in made if folder is None or not folder.is_done(step)]
    estimate_s = (
        probe_s
        + sum(step.estimate_s for step in left)
        + page_s(made)
        + compile_s(asked.launching.get("mpi", "auto"))
    )
    if options.dry_run:
        _plan(chosen, asked, made, estimate_s, json)
        return
    if folder is not None and not options.trust and (reason := folder.doubt(made)):
        raise RequestError(reason, "look at its study.toml and study.json; --trust resumes it all the same")
    if folder is None:
        folder = Folder.create(output, chosen, asked, part)
    if submission.submit:
        submit(folder, left, submission, site, json)
        return
    fitting = [step for step in made if fits(step, given)]
    if given is not None and not any(step in fitting for step in left) and left:
        raise EnvironmentLack(
            f"{len(left)} steps are left, and each needs more than {given.described()}",
            "submit it with more nodes",
        )
    if not json:
        say.line(f"{chosen.name}: {chosen.file.question}")
        count = f"{len(left)} step{'s' * (len(left) != 1)}"
        say.line(
            f"{count} on {max(step.ranks for step in left or made)} ranks, "
            f"about {format_duration(estimate_s)} → {output}"
        )
        if asked.crowding is not None:
            say.line(f"{asked.crowding.caution} {asked.crowding.waiting}")
    ended: Interrupted | Incomplete | None = None
    try:
        work_s = None if given is None else given.work_s
        job_end_s = math.inf if work_s is None else began_s + work_s
        perform(folder, fitting, lambda step: _watching(step, json), job_end_s)
    except (Interrupted, Incomplete) as error:
        if not folder.campaigns(made):
            if isinstance(error, Incomplete):
                raise
            raise Incomplete("interrupted before anything was measured", _resume(options, output)) from error
        ended = error
    folder.join()
    is_over = all(map(folder.is_over, whole_study))
    if given is not None and not is_over:
        # The page is for the job that ends last: its time is not this one's, and its file is one for all.
        leave(folder, made, whole_study, given, json)
        return
    made = whole_study
    with undisturbed(), say.status("making the page …") as status:
        remarks = unfinished(made, folder.state.steps)
        page = write(
            chosen,
            output,
            read(joined(folder, made)),
            remarks,
            lambda name: status(name),
            statistic=options.statistic,
            sizes_B=options.sizes_B,
        )
    took_s = time.monotonic() - began_s
    said = {
        "study": chosen.name,
        "estimate_s": estimate_s,
        "took_s": took_s,
        "crowding": asked.crowding.model_dump() if asked.crowding else None,
        "steps": as_data(folder, made),
    }
    _finish(page, output, said, json)
    if ended is not None or not all(map(folder.is_over, made)):
        why = next((text for text in remarks if text.startswith("Half")), "interrupted")
        if json:
            raise typer.Exit(Incomplete.exit_code)
        raise Incomplete(why, _resume(options, output))


@contextmanager
def _watching(step: Step, quiet: bool) -> Iterator[say.PointsBar]:
    """Says what a step is, and draws how far a campaign has come."""
    if not quiet:
        say.note(f"{step.name}: {step.command}, about {format_duration(step.estimate_s)}")
    bar = say.PointsBar(quiet=quiet or step.plan is None)
    # An application draws its own.
    with nullcontext() if step.plan is None else bar:
        yield bar


def _resume(options: StudyOptions, output: Path) -> str:
    return f"`hockney study {options.name} -o {output} --resume` goes on"


def _finish(page: Report, output: Path, said: dict[str, Any], as_json: bool) -> None:
    if as_json:
        say.json(
            {
                **said,
                "folder": str(output),
                "report": str(output / PAGE),
                "findings": [asdict(finding) for finding in page.findings],
                "warnings": page.warnings,
            }
        )
        return
    for warning in page.warnings:
        say.warn(warning)
    for number, finding in enumerate(page.findings, 1):
        say.line(f"{number}. {finding.text}")
    if not page.findings:
        say.line("what was measured gives no answer in a sentence; the page shows it")
    if "took_s" in said:
        say.line(f"estimated {format_duration(said['estimate_s'])}, took {format_duration(said['took_s'])}")
    say.line(f"wrote {output / PAGE}")


def _tell(options: StudyOptions, as_json: bool) -> None:
    if options.name == SHOW:
        if not options.shown:
            raise RequestError("`hockney study show` needs the name of a study", f"known: {SHIPPED}")
        shown = find(options.shown)
        if as_json:
            say.json({"name": shown.name, **shown.file.model_dump()})
            return
        say.line(shown.text.rstrip())
        return
    if options.shown:
        raise RequestError(f"`list` takes no name, {options.shown!r} was given", "leave it out, or write `show`")
    every = [find(name) for name in names()]
    if as_json:
        told = {"question", "needs"}
        say.json({"studies": [{"name": one.name, **one.file.model_dump(include=told)} for one in every]})
        return
    shown_table = Table("study", "question", box=None)
    for one in every:
        shown_table.add_row(one.name, one.file.question)
    say.table(shown_table)


def _plan(chosen: Study, asked: Asked, made: list[Step], estimate_s: float, as_json: bool) -> None:
    if as_json:
        say.json(
            {
                "study": chosen.name,
                **chosen.file.model_dump(include={"question", "compares", "shows"}),
                "asked": asked.model_dump(),
                "estimate_s": estimate_s,
                "steps": [step.planned() for step in made],
            }
        )
        return
    say.line(f"{chosen.name}: {chosen.file.question}")
    say.line(chosen.file.compares)
    say.line(chosen.file.shows)
    for step in made:
        say.line(f"{step.name}: {step.command}")
        say.line(f"  takes {step.estimate or f'about {format_duration(step.estimate_s)}'}")
        if step.why:
            say.line(f"  {step.why}")
    say.line(f"on {asked.ranks} ranks, about {format_duration(estimate_s)} with the page")
    if asked.crowding is None and crowded(asked.launched, asked.placements):
        say.line(BEFORE)


def _elsewhere(options: StudyOptions, launching: AppLaunching, as_json: bool) -> None:
    """The page of what was measured elsewhere."""
    assert options.source is not None
    fit = ("output", "source", "ranks", "map_by", "system", "mpi", *SHOWN)
    _refuse_beside("--from", fit, options, launching)
    if len(options.map_by) > 1:
        raise RequestError("--from takes one --map-by, that of what was measured", "import each folder by itself")
    chosen = find(options.name)
    output = options.output or Path(chosen.name)
    said = launching.model_dump(include=launching.model_fields_set & {"system", "mpi"})
    given = Given(**said, ranks=options.ranks, mapping=options.map_by[0] if options.map_by else "")
    asked = Asked(name=chosen.name, ranks=default_ranks([]), placements=chosen.file.placements[:1])
    measured = {name for step in steps(chosen, asked, output / STEPS) for name in step.operations()}
    with (
        undisturbed(),
        say.status("reading …") as status,
        imported(options.source, output, given) as (contents, skipped),
    ):
        remarks = check_needs(chosen, contents, options.source, measured)
        page = write(
            chosen,
            output,
            contents,
            remarks,
            lambda name: status(name),
            statistic=options.statistic,
            sizes_B=options.sizes_B,
        )
    said_of = {"study": chosen.name, "from": str(options.source)}
    not_read = [{"file": file, "reason": reason} for file, reason in skipped]
    _finish(page, output, {**said_of, "skipped": not_read}, as_json)


def _refuse_beside(what: str, fit: Sequence[str], *models: BaseModel) -> None:
    """RequestError for options other than `fit` beside what measures nothing."""
    unfit = [
        called for model in models for name, called in flags_written(model).items() if name not in ("name", *fit)
    ]
    if unfit:
        raise RequestError(f"{what} measures nothing, and does not take {', '.join(unfit)}", "leave them out")


def _refuse_other_choices(options: StudyOptions, launching: AppLaunching) -> None:
    """A resumed study keeps what it was asked for: another choice beside --resume would be ignored."""
    for model in (options, launching):
        for name, called in flags_written(model).items():
            if name not in ("name", *RESUMED):
                raise RequestError(
                    f"{called} cannot be changed with --resume: the study's folder says it",
                    "leave it out, or start a new study",
                )
