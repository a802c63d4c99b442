"""What verbs are made of: how they are entered, how options come from models, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, NoReturn

import typer

from hockney.errors import NegativeAnswer, RequestError
from hockney.terminal.loading import VERBS, Verb, Verbs, import_verbs, lines_of
from hockney.vocabulary import MEANINGS

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
