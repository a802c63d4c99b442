"""`hockney study`: answer one question with measurements, models and a page."""

from __future__ import annotations

from typing import Annotated

import typer

from hockney import api
from hockney.errors import Incomplete
from hockney.options.study import AppLaunching, StudyOptions, Submission, Without
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.terminal.signals import interruptible
from hockney.units import counted, format_duration


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
hockney study program --quick -o app -- mpirun -n 2 ./app
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

    A study is a TOML file: its steps are commands of `measure` and `run`. It prints how long it will take, and
    keeps each step on disk. It ends with a machine file, a page and the findings as JSON, all in one folder.
    """
    answer = api.study(options, launching, submission, quiet=json)
    if json:
        say.json(answer)
    else:
        _show(answer)
    if isinstance(answer, api.StudyDone | api.StudyLeft) and answer.unfinished:
        if json:
            raise typer.Exit(Incomplete.exit_code)
        raise Incomplete(answer.unfinished, answer.resume)


def _show(answer: api.StudyAnswer) -> None:
    match answer:
        case api.StudyList():
            columns = (Column("study", "name"), Column("question", "question"))
            say.rows("", answer.studies, columns)
        case api.ShownStudy():
            say.text(answer.text)
        case api.StudyPlanned():
            _show_plan(answer)
        case api.StudyLeft():
            done = f"{answer.done} of {len(answer.steps)} steps are done"
            say.line(f"{done}; `hockney status {answer.folder}` says the rest")
        case api.StudyDone():
            _show_page(answer)
        case api.ProgramPlanned():
            say.line(f"{answer.study}: {answer.command}")
            for line in answer.lines:
                say.line(f"  {line}")
        case api.ProgramStudied():
            for finding in answer.findings:
                say.line(f"{finding.verdict}: {finding.text}")
            say.line(f"wrote {answer.report}")
            say.warnings(answer.warnings, "on the page")
        case _:
            for line in answer.lines:
                say.line(line)


def _show_plan(answer: api.StudyPlanned) -> None:
    say.line(f"{answer.study}: {answer.question}")
    say.line(answer.compares)
    say.line(answer.shows)
    for step, takes in zip(answer.steps, answer.takes, strict=True):
        say.line(f"{step.name}: {step.command}")
        say.line(f"  takes {takes}")
        if step.why:
            say.line(f"  {step.why}")
    on = counted(answer.asked.ranks, "rank")
    say.line(f"on {on}, about {format_duration(answer.estimate_s)} with the page")
    if answer.remark:
        say.line(answer.remark)


def _show_page(answer: api.StudyDone) -> None:
    for finding in answer.findings:
        say.line(f"{finding.verdict}: {finding.text}")
    if not answer.findings:
        say.line("No sentence answers it; the page shows what was measured.")
    if answer.estimate_s is not None and answer.took_s is not None:
        estimate, took = format_duration(answer.estimate_s), format_duration(answer.took_s)
        say.line(f"estimated {estimate}, took {took}")
    say.line(f"wrote {answer.report}")
    say.warnings(answer.warnings, "on the page")
