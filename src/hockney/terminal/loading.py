"""Verbs are loaded when they are called: a help page is there at once.

A list of verbs imports none that its own file tells: `show.py` begins with "`hockney show`: ", and what follows
on that line stands in the list.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from hockney import reading
from hockney.registry import unit_files

VERBS = "hockney.cli"
"""Where the verbs are that are no group's."""
BEGINNING_B = 500
"""Of a verb's file, in which its first line is."""


class _Helped:
    """What helps: --help takes no word."""

    def get_help_option(self, ctx: Any) -> Any:
        """Without the name of a type."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.metavar = ""
        return option


class Verb(_Helped, TyperCommand):
    """A verb, whose --help takes no word."""


class Verbs(_Helped, TyperGroup):
    """A group whose verbs are modules: imported when they are called, and listed by the first line of their file.

    `places` say where they are, as for `unit_files`; `verbs` is where the modules enter their verbs. A module may
    enter several, under other names than its own: it is imported for a list, too. `of_files` is the verb for a
    file in the place of a verb.
    """

    places: tuple[str, ...]
    verbs: typer.Typer
    of_files: str = ""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # The list of all verbs and the group's own page say the same of it.
        self.help = self.help or first_line(f"{VERBS}.{self.name}", str(self.name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that the first word names, imported; `of_files` where that is a JSON file."""
        if self.of_files and args[0].endswith(".json"):
            args = [self.of_files, *args]
        import_verbs(self.places, args[0].replace("-", "_"))
        self.commands = get_group(self.verbs).commands
        for module, name in _modules(self.places):
            # Modules that enter several verbs, until one enters this.
            if args[0] not in self.commands and not first_line(module, name):
                importlib.import_module(module)
                self.commands = get_group(self.verbs).commands
        if args[0] not in self.commands:
            self.list_commands(ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """All names. Of a verb that is not imported there is only what the list says of it."""
        told = {}
        for module, name in _modules(self.places):
            if line := first_line(module, name):
                told[name] = TyperCommand(name, help=line)
            else:
                importlib.import_module(module)
        imported = get_group(self.verbs).commands
        self.commands = {**imported, **{name: verb for name, verb in told.items() if name not in imported}}
        return super().list_commands(ctx)


def import_verbs(places: Iterable[str], only: str = "") -> None:
    """Import the modules of verbs, or the one that is called `only`."""
    for module, name in _modules(places):
        if only in ("", name):
            importlib.import_module(module)


def _modules(places: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The modules of verbs, and how each is called."""
    for place in places:
        for name in unit_files(place):
            yield place.format(name) if "{}" in place else f"{place}.{name}", name


def first_line(module: str, name: str) -> str:
    """What the file of a verb says of it in its first line, or "" where it names no verb or another.

    The file is read as text: a help page needs nothing that the verb works with.
    """
    found = importlib.util.find_spec(module)
    path = Path(found.origin) if found and found.origin else None
    begun = reading.beginning(path, BEGINNING_B).decode("utf-8", "ignore") if path else ""
    said = re.search(rf'^"""`hockney (?:\w+ )?{re.escape(name)}`: (.+?)(?:"""|$)', begun, re.MULTILINE)
    return said[1][0].upper() + said[1][1:] if said else ""
