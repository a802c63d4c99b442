"""Documentation hooks: the program makes the page of commands, schemas and tables; notebooks are pages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

from hockney import _core
from hockney.api.answers.base import answers, schema
from hockney.models.collectives.closed_form import ClosedForm, CostFormula, collective_models
from hockney.terminal import application


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add `reference/commands.md`, a page of each notebook, and the schema of each verb's answer."""
    command = typer.main.get_command(application())
    context = command.make_context("hockney", [], resilient_parsing=True)
    text = get_docs_for_click(obj=command, ctx=context, name="hockney")
    files.append(File.generated(config, "reference/commands.md", content=text))
    for path in sorted(Path(config.docs_dir).glob("notebooks/*.ipynb")):
        page = notebook(json.loads(path.read_text(encoding="utf-8")))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=page))
    for verb in answers():
        text = json.dumps(schema(verb), indent=2, ensure_ascii=False)
        files.append(File.generated(config, f"reference/schemas/{verb.replace(' ', '-')}.json", content=text))
    return files


def notebook(book: dict[str, Any]) -> str:
    """The page of a notebook: its texts, its code, and what the code said when it was last executed."""
    parts = []
    for cell in book["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else _indented(source))
        parts += [_output(output) for output in cell.get("outputs", ())]
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        encoded = data["image/png"].strip()
        return f'<img alt="The figure that the code draws." src="data:image/png;base64,{encoded}">'
    if "text/html" in data:
        # A blank line would end the element for Markdown.
        html = re.sub("<style.*?</style>", "", "".join(data["text/html"]), flags=re.DOTALL)
        on_one_line = re.sub(r"\n\s*", "", html)
        return f'<div style="overflow-x: auto">{on_one_line}</div>'
    return _indented("".join(data.get("text/plain", output.get("text", ""))))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put a table or list where a page says `<!-- closed forms of OPERATION -->`, `<!-- applications -->` …"""
    markdown = re.sub("<!-- schemas -->", lambda _: schemas(), markdown)
    with_forms = re.sub(r"<!-- closed forms of (\w+) -->", lambda marker: closed_forms(marker[1]), markdown)
    return re.sub("<!-- applications -->", lambda _: applications(), with_forms)


def schemas() -> str:
    """A link to the schema of each verb's answer."""
    return "\n".join(f"- [`{verb}`](schemas/{verb.replace(' ', '-')}.json)" for verb in answers())


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
    counts = (counted.alpha, counted.bytes, counted.reduced)
    return {symbol: count.text(spelled=False) for symbol, count in zip("αβγ", counts, strict=True)}


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
