"""Documentation hooks: the program makes the page of commands and the tables of applications and closed forms."""

from __future__ import annotations

import re

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

from hockney import _core
from hockney.cli import application
from hockney.models.collectives._written import symbols
from hockney.models.collectives.base import collective_models
from hockney.models.collectives.closed_form import ClosedForm, CostFormula


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add `reference/commands.md`."""
    command = typer.main.get_command(application())
    context = command.make_context("hockney", [], resilient_parsing=True)
    text = get_docs_for_click(obj=command, ctx=context, name="hockney")
    files.append(File.generated(config, "reference/commands.md", content=text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put a table where a page says `<!-- closed forms of OPERATION -->` or `<!-- applications -->`."""
    with_forms = re.sub(r"<!-- closed forms of (\w+) -->", lambda marker: closed_forms(marker[1]), markdown)
    return re.sub("<!-- applications -->", lambda _: applications(), with_forms)


def applications() -> str:
    """A table with a row for each application: its page, and what its help says first."""
    command = typer.main.get_command(application())
    context = command.make_context("hockney", ["run"], resilient_parsing=True)
    run = command.get_command(context, "run")
    rows = [["application", "what it does"], ["---"] * 2]
    for name in run.list_commands(context):
        said = run.get_command(context, name).help.partition("\n\n")[0].replace("\n", " ")
        rows.append([f"[`{name}`]({name}.md)", said])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def closed_forms(operation: str) -> str:
    """The optimum and a table with a row for each algorithm that has a closed form."""
    collective = collective_models.get(operation)
    bounds = {symbol: text for symbol, text in _counts(collective.optimum).items() if text != "0"}
    optimum = ", ".join(f"{text} {symbol}" for symbol, text in bounds.items())
    rows = [["algorithm", *bounds, "Θ", "exact for"], ["---"] * (len(bounds) + 3)]
    for name, form in collective.forms.items():
        counts = _counts(form)
        rows.append(
            [f"`{name}`", *(counts[symbol] for symbol in bounds), form.order, _exact(operation, name, form)]
        )
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"Optimum: T ≥ {f'max({optimum})' if len(bounds) > 1 else optimum}.\n\n{table}"


def _counts(counted: CostFormula) -> dict[str, str]:
    return {term.symbol.strip(): term.times.text(spelled=False) for term in symbols(counted)}


def _exact(operation: str, algorithm: str, form: ClosedForm) -> str:
    """For which P the form is exact, and what holds of others: nothing where the schedule refuses them."""
    if (operation, algorithm) not in {(schedule.collective, schedule.name) for schedule in _core.algorithms()}:
        return "it has no schedule"
    others = [ranks for ranks in range(2, 65) if not form.is_exact(ranks)]
    if not others:
        return form.exact.column
    problems = [_core.Problem(ranks=ranks, bytes=4 * ranks, element_B=4) for ranks in others]
    if all(_core.refusal(operation, algorithm, problem) for problem in problems):
        return f"{form.exact.column}, no other"
    return f"{form.exact.column}; otherwise {form.otherwise}"
