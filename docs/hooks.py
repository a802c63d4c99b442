"""Documentation hook: the page of commands is made from their own help, so that the two cannot drift apart."""

from __future__ import annotations

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

from hockney.cli import application


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add `reference/commands.md`."""
    command = typer.main.get_command(application())
    context = command.make_context("hockney", [], resilient_parsing=True)
    text = get_docs_for_click(obj=command, ctx=context, name="hockney")
    files.append(File.generated(config, "reference/commands.md", content=text))
    return files
