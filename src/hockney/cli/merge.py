"""`hockney merge`: join campaigns into a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hockney.cli import JsonOption, emit_json, err, out, verb


@verb(
    "merge", examples="hockney merge monday tuesday -o both\nhockney merge openmpi mpich -o side-by-side --json"
)
def merge(
    campaigns: Annotated[list[Path], typer.Argument(help="Campaign folders, at least two.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="New campaign folder.")],
    json: JsonOption = False,
) -> None:
    """Join campaigns. The sources stay as they are; repeats of a point become further repetitions."""
    from hockney.errors import RequestError
    from hockney.records import table
    from hockney.records.merge import merge as join

    if len(campaigns) < 2:
        raise RequestError("one campaign cannot be merged", "name at least two campaign folders")
    merged = join(campaigns, output)
    records, runs, answers = merged.records(), merged.apps(), merged.effects()
    table.write(table.from_records(records), merged.table)
    if json:
        emit_json(
            {
                "campaign": str(output),
                "records": len(records),
                "runs": len(runs),
                "answers_about_effects": len(answers),
                "merged": [str(path) for path in campaigns],
                "warnings": merged.warnings,
            }
        )
        return
    for text in merged.warnings:
        err.print(f"[yellow]warning:[/yellow] {text.replace('[', chr(92) + '[')}", soft_wrap=True)
    held = [f"{len(records)} records"]
    held += [f"{len(runs)} runs of applications"] if runs else []
    held += [f"{len(answers)} answers about effects"] if answers else []
    what = ", ".join(held)
    out.print(f"{what} of {len(campaigns)} campaigns in {output}; next: `hockney fit {output}`", soft_wrap=True)
