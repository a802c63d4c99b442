"""What a target is: a form of rules that some library reads, with a writer, a reader, and what it can say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hockney.errors import RequestError
from hockney.predict.decisions.base import Version
from hockney.registry import Registry
from hockney.tune.rules import Rule
from hockney.units import listed

ANEW = "write the file anew"
"""What to do about a file that is damaged."""
PROOF = "`hockney tune --verify`"
"""Of targets whose rules were seen in effect, on several versions of their library, by tests."""


class Reader(NamedTuple):
    """The library that will read the file.

    `name` as the tidy table has it ("Open MPI 5.0.11"); `wrapper`: its compiler wrapper, if it is here.
    """

    name: str
    version: Version
    wrapper: Path | None = None


def ignored(path: Path, rules: Sequence[Rule]) -> dict[str, str]:  # noqa: ARG001 - nothing loads the file
    """No variable loads a file of these rules."""
    return {}


def exports(values: Mapping[str, str], comment: str) -> str:
    """Variables as a shell sets them, below a comment."""
    lines = [f"# {line}" for line in comment.splitlines()]
    return "\n".join([*lines, *(f"export {name}={shlex.quote(value)}" for name, value in values.items())]) + "\n"


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """The lines of such a text with their numbers, without comments."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line


class Malformed(RequestError):
    """A text that is not of a form's grammar, or that its library would drop."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ANEW)


class Unread(Malformed):
    """A text that the library takes, and that says more than rules here can."""


def branches(tree: Any, pattern: str) -> list[tuple[re.Match[str], Any]]:
    """The branches of a tree in JSON, each with the match of its key; Malformed where there are others."""
    if not isinstance(tree, dict) or not tree:
        raise Malformed(f"the tree has nothing where {pattern} belongs")
    matches = [(re.fullmatch(pattern, key), key, below) for key, below in tree.items()]
    if (wrong := next((key for match, key, _ in matches if match is None), None)) is not None:
        raise Malformed(f"{wrong!r} stands where {pattern} belongs")
    return [(match, below) for match, _, below in matches if match is not None]


@dataclass(frozen=True)
class RuleForm:
    """A form of rules.

    `banner` is how the names of its libraries begin (empty: any), `versions` the first that reads it and the
    first that does not any more (empty: no end). `knows` says whether it can name an operation's algorithm,
    `refuses` why a rule cannot be expressed, "" where it can. `complete` fills in what a file must say and a
    table may leave out, as the usual radix. `write` makes the text of rules that can, with a comment where the
    form has comments; `read` gives them back, and raises RequestError where a text is not of the grammar.
    `settings` are the variables by which the library loads a file of these rules. `whole`: no bounds, one
    algorithm for all calls of an operation. `is_preloaded`: the layer of `hockney apply` reads it. `caution`:
    what its user must know. `proof`: how to see that a library takes rules of this form; empty where none that
    does was at hand. `names`: what an operation's algorithms are called in tables, where the form has a list of
    its own. `rivals`: the variables by which a user chooses an operation's algorithms beside the file. `trap`:
    what the library would drop, stumble over or take for something else in a text of anybody's; "" for nothing.
    """

    title: str
    banner: str
    versions: tuple[Version, Version]
    knows: Callable[[str, str, Reader], bool]
    refuses: Callable[[Rule, Reader], str]
    write: Callable[[Sequence[Rule], Reader, str], str]
    read: Callable[[str, Reader], list[Rule]]
    settings: Callable[[Path, Sequence[Rule]], Mapping[str, str]] = ignored
    whole: bool = False
    is_preloaded: bool = False
    caution: str = ""
    complete: Callable[[Rule], Rule] = lambda rule: rule
    proof: str = ""
    names: Callable[[str], Sequence[str]] = lambda operation: ()  # noqa: ARG005 - of no operation
    rivals: Callable[[str], Sequence[str]] = lambda operation: ()  # noqa: ARG005 - of no operation
    trap: Callable[[str, Reader], str] | None = None

    def reads(self, library: Reader) -> bool:
        """Whether this library reads this form."""
        first, end = self.versions
        is_of_it = library.name.lower().startswith(self.banner.lower())
        return is_of_it and library.version >= first and not (end and library.version >= end)

    def expect(self, library: Reader) -> None:
        """RequestError, which names the forms that it reads, where this library does not read this one."""
        if self.reads(library):
            return
        others = listed(name.replace("_", "-") for name, target in targets if target.reads(library))
        if not library.name.lower().startswith(self.banner.lower()):
            raise RequestError(
                f"{self.title}: read by {self.banner} alone, the times are of {library.name or 'no library'}",
                f"for {library.name or 'any library'}: --for {others}",
            )
        first, end = self.versions
        until = f" to before {'.'.join(map(str, end))}" if end else ""
        raise RequestError(
            f"{self.title}: read by {self.banner} from {'.'.join(map(str, first))} on{until}, not by "
            f"{library.name}",
            f"for {library.name}: --for {others}",
        )


targets: Registry[RuleForm] = Registry("tuning target", "hockney.tune.targets", "reference/tuning-targets.md")
