"""Verbs are loaded when they are called, libraries when something of them is used: a help page is there at once.

A list of verbs imports none that its own file tells: `show.py` begins with "`hockney show`: ", and what follows
on that line stands in the list. Several verbs may share a line: "`hockney predict bcast|reduce`: ".
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from itertools import accumulate
from linecache import getlines
from threading import RLock
from types import MappingProxyType, ModuleType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from hockney.registry import unit_files
from hockney.vocabulary import operation

VERBS = "hockney.cli"
"""Where the verbs are that are no group's."""
BEGINNING = 10
"""Lines of a verb's file, in which the first lines of its verbs are."""
_ALL = "--help-all"
MOST_OPTIONS = 12
"""Options that `--help` shows; `--help-all` shows all."""
FIRST = {
    "measure": "output operation algorithm ranks mpi hosts map-by bytes time quick resume submit",
    "study": "output quick resume dry-run from ranks nodes map-by mpi hosts submit site",
    "run cg": "size grid ranks iterations tolerance formulation exchange repetitions mpi hosts output figure",
    "run jacobi": "size grid ranks iterations subdomain threads exchange repetitions mpi hosts output map-by",
    "run pinning": "ranks threads spread dry-run node figure mpi hosts map-by bind-to launcher output",
    "run ring": "ranks exchange communicator iterations repetitions csv machine figure map-by mpi hosts output",
    "run sum3d": "size grid ranks split repetitions iterations machine mpi hosts output dry-run",
    "import": "output system mpi nodes ppn ranks mapping algorithm operation variant locality format",
    "show": "format view model operation algorithm ranks locality where warnings topology json",
}
"""The most used options of verbs that have more; of a verb that is not named here, those declared first."""


_OF_SCIPY = ("interpolate", "linalg", "optimize", "sparse", "sparse.csgraph", "spatial", "special", "stats")
LATE = {"matplotlib", "pandas", "pyarrow", "scipy", *(f"scipy.{part}" for part in _OF_SCIPY)}
"""Libraries that take longer to load than most answers. importlib's LazyLoader loads them at a second import."""
_LOCK = RLock()


class _LateModule(ModuleType):
    """A module that has a name and a place only, until an attribute is asked for."""

    def __getattr__(self, name: str) -> Any:
        load(self)
        return self.__getattribute__(name)


class _Loader(Loader):
    """Loads nothing yet; `by` will."""

    def __init__(self, by: Loader) -> None:
        self.by = by

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__class__ = _LateModule


def load(module: ModuleType) -> None:
    """Another thread waits until it is loaded; who asks within its own loading gets what there is."""
    with _LOCK:
        spec = module.__spec__
        if spec and isinstance(late := spec.loader, _Loader):
            spec.loader = module.__loader__ = late.by
            try:
                late.by.exec_module(module)
            except BaseException:
                # Whoever asks again gets this error, not one of a name that is missing.
                spec.loader = module.__loader__ = late
                raise
            # Only now: until then other threads must come here, too.
            module.__class__ = ModuleType


class _Loaded(Loader):
    """Of a module that its parent has imported meanwhile."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


class LateFinder(MetaPathFinder):
    """Comes before the finders of `sys.meta_path`."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        if fullname in LATE:
            found = PathFinder.find_spec(fullname, path, target)
            if found and found.loader:
                found.loader = _Loader(found.loader)
            return found
        # Parts of a library expect that it is loaded. One that is being loaded imports them itself.
        for parent in accumulate(fullname.split(".")[:-1], "{}.{}".format):
            whole = sys.modules.get(parent)
            if isinstance(whole, _LateModule) and isinstance(whole.__loader__, _Loader):
                load(whole)
        # Python would execute once more what a parent has imported.
        return (
            importlib.util.spec_from_loader(fullname, _Loaded(sys.modules.pop(fullname)))
            if fullname in sys.modules
            else None
        )


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
    """A verb, whose `--help` shows its most used options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """`--help-all` is the help with all options."""
        own = args[: args.index("--")] if "--" in args else args
        if _ALL in own:
            ctx.meta[_ALL] = True
            args = ["--help"]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help, without the options that are seldom used."""
        options = [each for each in self.params if each.param_type_name == "option"]
        options = [each for each in options if not getattr(each, "hidden", False)]
        words = ctx.command_path.removeprefix(ctx.find_root().command_path).strip()
        first = FIRST.get(words, "").split()
        shown = copy(self)
        if _ALL not in ctx.meta and len(options) > MOST_OPTIONS:
            further = sorted(options, key=lambda each: each.opts[0][2:] not in first)[MOST_OPTIONS:]
            shown.params = [each for each in self.params if each not in further]
            more = f"{len(further)} more options: `{ctx.command_path} {_ALL}`"
            shown.epilog = f"{more}\n\n{self.epilog or ''}"
        TyperCommand.format_help(shown, ctx, formatter)


class Verbs(_Helped, TyperGroup):
    """A group whose verbs are modules: imported when they are called, and listed by the first line of their file.

    `places` say where they are, as for `unit_files`; `verbs` is where the modules enter their verbs. A module may
    enter several, under other names than its own. One that tells none is imported for a list, too, unless the
    files at the places `told` tell what it enters. `of_files` is the verb for a file in the place of a verb,
    `of_lines` the one that is written as an option. `words` says of which verbs words with spaces between stand
    for one: `bcast` for `collective`. `headings` are those of the list, each with its verbs, in its order.
    """

    places: tuple[str, ...]
    verbs: typer.Typer
    told: tuple[str, ...] = ()
    of_files: str = ""
    of_lines: str = ""
    words: Mapping[str, str] = MappingProxyType({})
    headings: Mapping[str, str] = MappingProxyType({})

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # The list of all verbs and the group's own page say the same of it.
        self.help = self.help or lines_of(f"{VERBS}.{self.name}").get(str(self.name), "")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Options that stand before the verb of a group are those of the verb."""
        args = ["--help"] if args == [_ALL] else args
        if self.of_lines and args[:1] == [f"--{self.of_lines}"]:
            args = [self.of_lines, *args[1:]]
        if ctx.parent is not None and args and args[0].startswith("-") and args[0] not in ctx.help_option_names:
            args = self._verb_first(args)
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def _verb_first(self, args: list[str]) -> list[str]:
        """The words with the verb before the options; without a verb as they are."""
        import_verbs(self.places)
        parameters = [each for command in get_group(self.verbs).commands.values() for each in command.params]
        switched = [each for each in parameters if getattr(each, "is_flag", False)]
        switches = {word for each in switched for word in (*each.opts, *each.secondary_opts)}
        place = 0
        while place < len(args) and args[place].startswith("-"):
            place += 1 if args[place] in switches or "=" in args[place] else 2
        return [*args[place : place + 1], *args[:place], *args[place + 1 :]] if place < len(args) else args

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that the first word names, imported; `of_files` where that is a file of theirs."""
        for name, words in self.words.items():
            if operation(args[0]) in words.split():
                args = [operation(args[0]), *args[1:]]
                _, command, rest = self.resolve_command(ctx, [name, *args[1:]])
                return args[0], command, rest
        if self.of_files and args[0].rstrip("/").endswith((".json", ".trace")):
            args = [self.of_files, *args]
        lines = {module: lines_of(module) for module in _modules(self.places)}
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
        for module in _modules((*self.places, *self.told)):
            lines |= (own := lines_of(module))
            if not own and not self.told:
                importlib.import_module(module)
        imported = get_group(self.verbs).commands
        listed = {name: TyperCommand(name, help=line) for name, line in lines.items() if name not in imported}
        under = {name: heading for heading, names in self.headings.items() for name in names.split()}
        unsorted = {**imported, **listed}
        self.commands = {name: unsorted[name] for name in (*under, *unsorted) if name in unsorted}
        for name, command in self.commands.items():
            if self.headings:
                setattr(command, "rich_help_panel", under.get(name, "More"))  # noqa: B010 - of Typer alone
        return super().list_commands(ctx)


def _entered(verbs: typer.Typer, name: str) -> typer.Typer | None:
    """What modules entered under this name alone; None where none has."""
    entered = typer.Typer()
    entered.registered_commands = [info for info in verbs.registered_commands if info.name == name]
    entered.registered_groups = [copy(info) for info in verbs.registered_groups if info.name == name]
    for group in entered.registered_groups:
        # A group enters its verbs itself, when it is asked for one of them.
        group.typer_instance = copy(group.typer_instance)
        setattr(group.typer_instance, "registered_commands", [])  # noqa: B010 - never without an instance here
    return entered if entered.registered_commands or entered.registered_groups else None


def import_verbs(places: Iterable[str]) -> None:
    """Import the modules of verbs."""
    for module in _modules(places):
        importlib.import_module(module)


def _modules(places: Iterable[str]) -> Iterator[str]:
    """The modules of verbs."""
    for place in places:
        for name in unit_files(place):
            yield place.format(name) if "{}" in place else f"{place}.{name}"


@cache
def lines_of(module: str) -> dict[str, str]:
    """What the first lines of a module's file say of the verbs that it enters, by their names.

    The file is read as text: a help page needs nothing that the verb works with.
    """
    specification = importlib.util.find_spec(module)
    begun = "".join(getlines(specification.origin or "")[:BEGINNING]) if specification else ""
    lines = re.findall(r'^(?:""")?`hockney (?:\w+ )?([\w|-]+)`: (.+?)(?:"""|$)', begun, re.MULTILINE)
    return {name: line[0].upper() + line[1:] for names, line in lines for name in names.split("|")}
