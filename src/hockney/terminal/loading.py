"""Verbs are loaded when they are called: a help page is there at once.

A list of verbs imports none that its own file tells: `show.py` begins with "`hockney show`: ", and what follows
on that line stands in the list. Several verbs may share a line: "`hockney predict bcast|reduce`: ".
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
    """A command whose switches take no word, and are off where they are not written."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Without the name of a type. Typer would load pydantic for a switch that is neither on nor off."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar, parameter.default = "", parameter.default or False
        return parameters


class Verb(_Helped, TyperCommand):
    """A verb."""


class Verbs(_Helped, TyperGroup):
    """A group whose verbs are modules: imported when they are called, and listed by the first line of their file.

    `places` say where they are, as for `unit_files`; `verbs` is where the modules enter their verbs. A module may
    enter several, under other names than its own. One that tells none is imported for a list, too, unless the
    files at the places `told` tell what it enters. `of_files` is the verb for a file in the place of a verb.
    """

    places: tuple[str, ...]
    verbs: typer.Typer
    told: tuple[str, ...] = ()
    of_files: str = ""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # The list of all verbs and the group's own page say the same of it.
        self.help = self.help or lines_of(f"{VERBS}.{self.name}").get(str(self.name), "")

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that the first word names, imported; `of_files` where that is a JSON file."""
        if self.of_files and args[0].endswith(".json"):
            args = [self.of_files, *args]
        lines = {module: lines_of(module) for module, _ in _modules(self.places)}
        # Modules that tell no verb, until one enters this, come after those that tell it.
        for module in sorted(lines, key=lambda module: args[0] not in lines[module]):
            if not _entered(self.verbs, args[0]) and (args[0] in lines[module] or not lines[module]):
                importlib.import_module(module)
        if entered := _entered(self.verbs, args[0]):
            # Only this verb: a verb takes milliseconds to build, and there are seventy.
            self.commands = {**self.commands, **get_group(entered).commands}
        else:
            self.list_commands(ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """All names. Of a verb that is not imported there is only what the list says of it."""
        lines: dict[str, str] = {}
        for module, _ in _modules((*self.places, *self.told)):
            lines |= (own := lines_of(module))
            if not own and not self.told:
                importlib.import_module(module)
        imported = get_group(self.verbs).commands
        listed = {name: TyperCommand(name, help=line) for name, line in lines.items() if name not in imported}
        self.commands = {**imported, **listed}
        return super().list_commands(ctx)


def _entered(verbs: typer.Typer, name: str) -> typer.Typer | None:
    """What modules entered under this name alone; None where none has."""
    entered = typer.Typer()
    entered.registered_commands = [info for info in verbs.registered_commands if info.name == name]
    entered.registered_groups = [info for info in verbs.registered_groups if info.name == name]
    return entered if entered.registered_commands or entered.registered_groups else None


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


def lines_of(module: str) -> dict[str, str]:
    """What the first lines of a module's file say of the verbs that it enters, by their names.

    The file is read as text: a help page needs nothing that the verb works with.
    """
    specification = importlib.util.find_spec(module)
    path = Path(specification.origin) if specification and specification.origin else None
    begun = reading.beginning(path, BEGINNING_B).decode("utf-8", "ignore") if path else ""
    lines: dict[str, str] = {}
    for names, line in re.findall(r'^(?:""")?`hockney (?:\w+ )?([\w|-]+)`: (.+?)(?:"""|$)', begun, re.MULTILINE):
        lines |= dict.fromkeys(names.split("|"), line[0].upper() + line[1:])
    return lines
