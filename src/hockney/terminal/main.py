"""The program: a call of a verb, and what becomes of its errors; libraries are loaded when something is used."""

from __future__ import annotations

import codecs
import contextlib
import errno
import gc
import importlib.util
import io
import os
import re
import sys
import traceback
import unicodedata
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from itertools import accumulate
from threading import RLock
from types import ModuleType
from typing import Annotated, Any

import typer

from hockney import __version__, reading
from hockney.errors import EnvironmentLack, HockneyError, Incomplete, RequestError
from hockney.registry import did_you_mean
from hockney.terminal import HEADINGS, START, app, application, say
from hockney.terminal.signals import send_nowhere

_OF_SCIPY = ("interpolate", "linalg", "optimize", "sparse", "sparse.csgraph", "spatial", "special", "stats")
LATE = {"matplotlib", "pandas", "pyarrow", "scipy", *(f"scipy.{part}" for part in _OF_SCIPY)}
"""Libraries that take longer to load than most answers. importlib's LazyLoader loads them at a second import."""
_LOCK = RLock()


class _LateModule(ModuleType):
    """A module that has a name and a place only, until an attribute is asked for."""

    def __getattr__(self, name: str) -> Any:
        if (part := f"{self.__name__}.{name}") in LATE:
            return importlib.import_module(part)
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


_NEAREST = {
    "µ": "u",
    "μ": "u",
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "→": "->",
    "≤": "<=",
    "≥": ">=",
    "±": "+-",
    "·": ".",
    "×": "x",
    "∞": "inf",
    "‖": "||",
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "κ": "kappa",
    "σ": "sigma",
    "Θ": "Theta",
    "½": "1/2",
    "’": "'",
    "╭": "+",
    "╮": "+",
    "╰": "+",
    "╯": "+",
    "│": "|",
    "─": "-",
    "━": "-",
    "┤": "|",
    "└": "+",
    "═": "=",
}
"""What a terminal or pipe of another encoding than UTF-8 gets for a sign. Others are taken apart: ² is 2."""

LIMITS = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
SIGNS_OF_LIMITS = ("failed to map segment", "can't start new thread")
"""What errors of no errno say: of a library that finds no memory, and of a thread."""

BY_INTERRUPT = 130
"""What Typer makes of an interrupt: the shell's code for it."""


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        say.line(f"hockney {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        _begin(context)
        raise typer.Exit


def _begin(context: typer.Context) -> None:
    """A screen that says where to start."""
    root: Any = context.command
    root.list_commands(context)
    for heading, names in HEADINGS.items():
        if heading == START:
            say.line("Hockney measures, models and tunes the MPI on your machine. Start here:\n")
            for name in names.split():
                say.line(f"  hockney {name:8} {root.commands[name].help.splitlines()[0]}")
            say.line("\nAll verbs:")
        say.line(f"  {heading + ':':19}{', '.join(names.split())}")
    say.line("\n`hockney --help` describes every verb, `hockney VERB --help` explains one.")


MOST_SAID = 1000
"""Characters of an error: what was given may be longer than anybody reads."""


def report(error: HockneyError, as_json: bool) -> int:
    """Say what went wrong; the exit code."""
    message, hint = _shortened(error.message), _shortened(error.hint)
    if as_json:
        say.json({"error": {"kind": error.kind, "message": message, "hint": hint}})
    else:
        say.error(message, hint)
    return error.exit_code


def _shortened(text: str) -> str:
    """A text without its middle where it is too long, and without what no terminal can show."""
    shown = text.encode("utf-8", "backslashreplace").decode()
    half = MOST_SAID // 2
    return shown if len(shown) <= MOST_SAID else f"{shown[:half]} … {shown[-half:]}"


def _limit(error: Exception) -> EnvironmentLack | None:
    """The system's limit (files, processes, memory) that an error comes of; None where it comes of none."""
    text = str(error)
    is_limit = isinstance(error, OSError) and error.errno in LIMITS
    if not is_limit and not any(sign in text for sign in SIGNS_OF_LIMITS):
        return None
    return EnvironmentLack(
        f"the system gives no more: {text.strip().splitlines()[-1]}",
        "raise the limit (`ulimit -a` shows them all), or end what uses the memory",
    )


def _missing(error: Exception) -> EnvironmentLack | None:
    """The package that Hockney is installed with and that an error finds missing; None where it finds none."""
    from importlib import metadata  # takes as long as all else here

    if not isinstance(error, ModuleNotFoundError):
        return None
    name, declared = (error.name or "").partition(".")[0], list[str]()
    with contextlib.suppress(metadata.PackageNotFoundError):
        declared = [each for each in metadata.requires("hockney") or [] if "extra ==" not in each]
    if name not in {re.split(r"[^\w-]", each)[0].replace("-", "_") for each in declared}:
        return None
    return EnvironmentLack(f"the Python package {name} is missing", "install Hockney anew")


def _help_for(arguments: Sequence[str]) -> str:
    """Where the help of the requested verb is; the verbs of a group where the request names none of them."""
    words, at = ["hockney"], app
    for word in arguments:
        groups = {group.name: group.typer_instance for group in at.registered_groups}
        if inner := groups.get(word):
            words.append(word)
            at = inner
            continue
        # What the request names is imported; to name the others of a group they are imported, too.
        if word in _names(at):
            words.append(word)
        elif at is not app and not word.startswith("-"):
            application()
            names = sorted(_names(at))
            return f"{did_you_mean(word, names)}known: {', '.join(names)}; see `{' '.join(words)} --help`"
        break
    return f"see `{' '.join(words)} --help`"


def _names(group: typer.Typer) -> list[str]:
    """Of its verbs, by the words that stand for them where a verb has such."""
    words: Mapping[str, str] = getattr(group.info.cls, "words", {})
    names = (str(command.name) for command in group.registered_commands)
    return [*(word for name in names for word in words.get(name, name).split()), *words]


def _refuse_names_that_are_no_text() -> None:
    """RequestError for a word that is no UTF-8: records, JSON and pages could not hold it."""
    for word in sys.argv[1:]:
        try:
            word.encode()
        except UnicodeEncodeError as error:
            name = reading.printable(word)
            raise RequestError(f"{name!r} is not UTF-8", "rename the file, or link to it") from error


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """What stands for signs that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_NEAREST.get(sign) or _apart(sign) for sign in signs), error.end


def _is_utf(encoding: str) -> bool:
    return codecs.lookup(encoding).name.startswith("utf")


def _apart(sign: str) -> str:
    return unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode() or "?"


def _accept_any_terminal() -> None:
    """From now on what is said reaches a standard output or error of any encoding."""
    codecs.register_error("nearest", _nearest)
    for stream in (sys.stdout, sys.stderr):
        # Standard error has another way out than "strict", and in the C locale standard output has, too.
        if isinstance(stream, io.TextIOWrapper) and (stream.errors == "strict" or not _is_utf(stream.encoding)):
            stream.reconfigure(errors="nearest")


def main() -> None:
    """Entry point: run a verb; a user's mistake ends as one line and an exit code, never a traceback."""
    _accept_any_terminal()
    # Threads that wait for a core by spinning cost more than they bring on matrices as small as ours, and sums
    # would depend on how many there are. It must be said before numpy is imported, and is said to this process
    # alone: what it launches gets `os.environ`.
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        os.putenv("OPENBLAS_NUM_THREADS", "1")
    # Frames and figures are many small objects that live to the end: to look for circles among them after every
    # 700 takes a tenth of a report's time.
    gc.set_threshold(20_000)
    if not any(isinstance(finder, LateFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, LateFinder())
    sys.exit(call(sys.argv[1:]))


def call(words: Sequence[str]) -> int:
    """The exit code of `hockney` with these words."""
    as_json = "--json" in words
    try:
        _refuse_names_that_are_no_text()
        code = app(words, standalone_mode=False)
    except HockneyError as error:
        code = report(error, as_json)
    except MemoryError as error:
        code = report(
            RequestError(
                str(error) or "this takes more memory than there is",
                "ask for less; `hockney schedule show … --rank R` and `hockney simulate` hold one rank at a time",
            ),
            as_json,
        )
    except typer.Abort:
        code = Incomplete.exit_code
    except BrokenPipeError:
        # The reader went away (`| head`); keep the interpreter from complaining at exit.
        with contextlib.suppress(OSError):
            send_nowhere(sys.stdout)
        code = 0
    except typer.TyperException as error:
        code = report(RequestError(error.format_message(), _help_for(words)), as_json)
    except OSError as error:
        # A name that is too long, a folder that may not be entered: what the system refuses, it says why.
        name = "" if error.filename is None else f"{reading.printable(error.filename)}: "
        refused = RequestError(f"{name}{reading.reason(error)}", "check the name and its rights")
        code = report(_limit(error) or refused, as_json)
    except Exception as error:  # noqa: BLE001 - the last resort: whatever is left is a defect of ours
        if lack := _limit(error) or _missing(error):
            return report(lack, as_json)
        traceback.print_exc()
        defect = HockneyError(f"{type(error).__name__}: {error}", "this is a defect of hockney: please report it")
        code = report(defect, as_json)
    if code == BY_INTERRUPT:
        code = report(Incomplete("interrupted", "give the same command to run it again"), as_json)
    return code if isinstance(code, int) else 0
