"""`hockney merge`: join several campaigns into a new one."""

from __future__ import annotations

from contextlib import ExitStack

from hockney import api
from hockney.options.joined import MergeOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.signals import interruptible, undisturbed
from hockney.units import counted


@verb(
    "merge", examples="hockney merge monday tuesday -o both\nhockney merge openmpi mpich -o side-by-side --json"
)
@interruptible()
def merge(options: MergeOptions, json: JsonOption = False) -> None:
    """Join campaigns. The sources stay as they are; repeats of a point become further repetitions."""
    with ExitStack() as closing:
        _show(api.merge(options, lambda: closing.enter_context(undisturbed())), as_json=json)


def _show(answer: api.MergeAnswer, *, as_json: bool) -> None:
    if as_json:
        say.json(answer)
        return
    parts = [counted(answer.records, "record")]
    parts += [f"{counted(answer.runs, 'run')} of applications"] if answer.runs else []
    parts += [f"{answer.answers_about_effects} answers about effects"] if answer.answers_about_effects else []
    held = f"{', '.join(parts)} of {counted(len(answer.merged), 'campaign')}"
    say.line(f"{held} in {answer.campaign}; {answer.next_step}")
    say.warnings(answer.warnings)
