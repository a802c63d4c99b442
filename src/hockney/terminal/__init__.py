"""What verbs are made of: how they are entered, how options come from models, and what they say.

Verbs are loaded when they are called, so that a help page is there at once.

A list of verbs imports none that its own file tells: `show.py` begins with "`hockney show`: ", and what follows
on that line stands in the list. Several verbs may share a line: "`hockney predict bcast|reduce`: ".
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from functools import cache
from linecache import getlines
from types import MappingProxyType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from hockney.errors import NegativeAnswer, RequestError
from hockney.registry import unit_files
from hockney.vocabulary import MEANINGS, operation

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
    "run cg": "size grid ranks iterations tolerance formulation exchange repetitions mpi hosts output",
    "run jacobi": "size grid ranks iterations subdomain threads exchange repetitions mpi hosts output map-by",
    "run pinning": "ranks threads spread dry-run node figure mpi hosts map-by bind-to launcher output",
    "run ring": "ranks exchange communicator iterations repetitions csv figure map-by mpi hosts output",
    "run sum3d": "size grid ranks split repetitions iterations mpi hosts output dry-run",
    "import": "output system mpi nodes ppn ranks mapping algorithm operation variant locality format",
    "show": "format view model operation locality where warnings topology json",
}
"""The most used options of verbs that have more; of a verb that is not named here, those declared first."""


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
        verb_of = {word: name for name, words in self.words.items() for word in words.split()}
        own = {*verb_of, *self.words}
        word = args[0] if args[0] in own or not own else operation(args[0])
        if word in verb_of:
            _, command, rest = self.resolve_command(ctx, [verb_of[word], *args[1:]])
            return word, command, rest
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


_HELP = {"help_option_names": ["--help", "-h"]}
_places: list[str] = []
"""Where the verbs of all groups are."""


def _shell_lines(examples: str) -> str:
    return "Examples:\n\n" + "\n\n".join(f"$ {line}" for line in examples.strip().splitlines())


START = "Start here"
HEADINGS = {
    START: "doctor measure fit predict report",
    "Decide": "tune check identify evaluate diff",
    "Look closer": "show study profile run scaling",
    "Without measuring": "simulate schedule network",
    "Data and jobs": "import merge status apply lab schema",
}
"""The verbs in the order of work."""


def _typer(
    name: str, places: tuple[str, ...], more: Mapping[str, Any] = MappingProxyType({}), **settings: Any
) -> typer.Typer:
    _places.extend(places)
    verbs = typer.Typer(
        name=name, pretty_exceptions_enable=False, rich_markup_mode="rich", context_settings=_HELP, **settings
    )
    verbs.info.cls = type("Verbs", (Verbs,), {"places": places, "verbs": verbs, **more})
    return verbs


app = _typer(
    "hockney",
    (VERBS,),
    {"headings": HEADINGS},
    help="A performance model of your MPI on your machine: measure → fit → predict → report.",
    epilog=_shell_lines("hockney doctor\nhockney measure --quick -o demo\nhockney fit demo\nhockney report demo")
    + "\n\nExit codes: 0 done, 1 the answer is no, 2 wrong request, 3 something is missing here, "
    "4 interrupted (--resume continues), 70 a defect of Hockney.",
)

JsonOption = Annotated[bool, typer.Option("--json", help=MEANINGS["--json"].help)]


def group(name: str, *, examples: str, places: tuple[str, ...] = (), **more: Any) -> typer.Typer:
    """A verb with verbs of its own, which are entered with `verb(…, of=…)`; its file's first line is its help.

    `examples` as of a verb; `places` say which modules enter them, as for `unit_files`; `more` as of `Verbs`.
    """
    verbs = _typer(name, places, more, epilog=_shell_lines(examples))
    app.add_typer(verbs, name=name)
    return verbs


def chosen(context: typer.Context) -> str:
    """Which of its words a verb was called by; RequestError where it was called by its own name."""
    words = context.parent.command.words[str(context.command.name)].split()  # type: ignore[union-attr]
    if context.info_name not in words:
        raise RequestError(f"{context.command_path} names none", f"name one: {', '.join(words)}")
    return str(context.info_name)


def verb(
    name: str, *, examples: str, of: typer.Typer = app, launches: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: enter a function as a verb. `examples` are shell lines shown at the end of its help.

    Lists say of it what the first line of its file says (`loading.lines_of`), or where that names no verb, like
    the help, the function's first sentence.

    Each parameter whose type is a pydantic model stands for the options that its fields declare (`Option`). A
    verb that `launches` a program leaves the terminal to it.
    """
    epilog = _shell_lines(examples)

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        # It brings pydantic, which a list of verbs does without.
        from hockney.terminal.options import Flattened

        line = lines_of(function.__module__).get(name)
        command = of.command(name, cls=Verb, short_help=line, epilog=epilog, context_settings=_HELP)
        command(Flattened(function, launches=launches))
        return function

    return enter


def application() -> typer.Typer:
    """The whole command line, with every verb imported."""
    # Groups that are imported on the way add the places of their verbs.
    import_verbs(_places)
    return app


def answer_no(message: str = "", hint: str = "") -> NoReturn:
    """End with the exit code of "the answer is no"; why may have been said already, as in JSON."""
    if message:
        raise NegativeAnswer(message, hint)
    raise typer.Exit(NegativeAnswer.exit_code)
