"""`hockney merge`: join campaigns into a new one."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel

from hockney.cli._next import next_step
from hockney.errors import RequestError
from hockney.fields import Argument, Option
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.terminal.signals import interruptible, undisturbed

with later():
    from hockney.records.contents import Contents
    from hockney.records.folder import TABLE
    from hockney.records.merge import merge as join


class MergeOptions(BaseModel):
    """Which campaigns are joined, and where."""

    campaigns: Annotated[list[Path], Argument("Campaign folders, at least two.", metavar="CAMPAIGN")]
    output: Annotated[Path, Option("New campaign folder.", flags=("--output", "-o"))]


@verb(
    "merge", examples="hockney merge monday tuesday -o both\nhockney merge openmpi mpich -o side-by-side --json"
)
@interruptible()
def merge(options: MergeOptions, json: JsonOption = False) -> None:
    """Join campaigns. The sources stay as they are; repeats of a point become further repetitions."""
    campaigns, output = options.campaigns, options.output
    if len(campaigns) < 2:
        raise RequestError("one campaign cannot be merged", "name at least two campaign folders")
    with ExitStack() as closing:
        contents = join(campaigns, output, lambda: closing.enter_context(undisturbed()))
        _say(options, contents, json)


def _say(options: MergeOptions, contents: Contents, as_json: bool) -> None:
    campaigns, output = options.campaigns, options.output
    records, runs, answers = contents.records, contents.apps, contents.effects
    warnings = [*contents.warnings, *_left_out(contents)]
    if as_json:
        say.json(
            {
                "campaign": str(output),
                "records": len(records),
                "runs": len(runs),
                "answers_about_effects": len(answers),
                "merged": [str(path) for path in campaigns],
                "warnings": warnings,
            }
        )
        return
    for text in warnings:
        say.warn(text)
    parts = [f"{len(records)} records"]
    parts += [f"{len(runs)} runs of applications"] if runs else []
    parts += [f"{len(answers)} answers about effects"] if answers else []
    step = next_step(output, {record.operation for record in records}, has_effects=bool(answers))
    say.line(f"{', '.join(parts)} of {len(campaigns)} campaigns in {output}; {step}")


def _left_out(contents: Contents) -> list[str]:
    """What the table lacks of the records: launches that met other levels of the machine than the common one."""
    left_out = contents.settled.left_out
    if not left_out:
        return []
    launches = {record.launch or record.repetition for record in left_out}
    return [
        f"Fit the folder to have the other levels too: {TABLE} is of the machine's common level, and "
        f"leaves out {len(left_out)} measurements of {len(launches)} launch{'es' if len(launches) > 1 else ''} "
        "that did not meet them at it, where others did; their samples are in the records"
    ]
