"""`hockney measure`: measure messages and collectives of an MPI into a campaign."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import typer

from hockney import api
from hockney.cli._measured import LIMIT, show_collectives, show_pairs
from hockney.errors import Incomplete
from hockney.options.measure import MeasureOptions, Submission
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.options import written
from hockney.terminal.signals import interruptible, undisturbed
from hockney.units import counted, format_duration

MOST_EFFECTS = 8
"""Effects that are printed."""
RUNS = {
    "quiet": "its numbers can be used",
    "disturbed": "look at the intervals before you compare",
    "unusable": "measure again on a quiet machine",
}
"""What the kind of a run means for its reader."""


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

    The measurement itself chooses sizes, repetitions and warm-up. Every point is on disk before the next starts,
    and --resume continues after an interruption.
    """
    confirm = _confirm if sys.stdin.isatty() and not json else None
    asked = api.MeasureRequest(options, submission, written(context), confirm)
    with ExitStack() as closing:
        answer = api.measure(asked, lambda: closing.enter_context(undisturbed()), quiet=json)
        if json:
            say.json(answer)
        else:
            _show(answer)
        if isinstance(answer, api.MeasureAnswer) and (answer.failures or answer.job_is_over):
            raise typer.Exit(Incomplete.exit_code) if json else _incomplete(answer)


def _confirm(reason: str) -> bool:
    say.note(reason)
    return typer.confirm("Run it?", err=True)


def _show(answer: api.MeasureAnswer | api.MeasurePlanned | api.WrittenJobs) -> None:
    match answer:
        case api.MeasureAnswer():
            _show_measured(answer)
        case api.MeasurePlanned():
            _show_planned(answer)
        case _:
            for line in answer.lines:
                say.line(line)


def _show_planned(answer: api.MeasurePlanned) -> None:
    launches = counted(answer.launches, "launch", plural="launches")
    say.line(
        f"{launches} of {counted(answer.plan.ranks, 'rank')}, in each about {counted(answer.points, 'point')} "
        f"in {counted(answer.visits, 'visit')} → {answer.campaign}"
    )
    compiling = f"; compiling comes first, about {answer.compile_s:.0f} s" if answer.compile_s else ""
    say.line(f"takes {answer.takes}{compiling}")
    for text in answer.warnings:
        say.line(text)


def _show_measured(answer: api.MeasureAnswer) -> None:
    if answer.pairs:
        show_pairs(answer.pairs, LIMIT, f"fit {answer.campaign}")
    show_collectives(answer.collectives, f"report {answer.campaign}")
    for line in answer.effects[:MOST_EFFECTS]:
        say.line(line)
    took = f"{counted(answer.measured, 'visit')} in {format_duration(answer.measure_s)}"
    run = f"The run was {answer.run}: {RUNS[answer.run]}. " if answer.run else ""
    say.line(f"{run}{took}, {answer.records} in {answer.campaign}.")
    _show_missing(answer)
    say.warnings(answer.warnings)
    say.line(answer.next_step)


def _show_missing(answer: api.MeasureAnswer) -> None:
    if answer.limitations:
        many = len(answer.limitations)
        say.line(f"{counted(many, 'combination')} unsupported and skipped; first: {answer.limitations[0]}")
    if answer.vanished:
        many = len(answer.vanished)
        say.line(f"{counted(many, 'point')} without a time, --resume tries again; first: {answer.vanished[0]}")
    if answer.left_out:
        effects = f" and of the effects {', '.join(answer.effects_left_out)}" if answer.effects_left_out else ""
        planned = counted(answer.measured + answer.left_out, "planned record", ",")
        say.line(f"The time limit came after {answer.measured:,} of {planned}{effects}; --resume continues.")


def _incomplete(answer: api.MeasureAnswer) -> Incomplete:
    if answer.job_is_over:
        return Incomplete(
            f"the job's time was over; what was measured is kept in {answer.campaign}",
            f"submit it again, or `hockney measure -o {answer.campaign} --resume` in the next job",
        )
    return Incomplete(
        f"{counted(len(answer.failures), 'failure')}, first: {answer.failures[0]}",
        f"what was measured is kept; `hockney measure -o {answer.campaign} --resume` tries the rest again",
    )
