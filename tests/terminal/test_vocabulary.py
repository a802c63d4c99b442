"""One spelling for one thing: a name means the same in all verbs, and the help says it in the same words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer
from tests.command_line import outcome
from typer.main import get_command

from hockney.terminal import application
from hockney.terminal.options import FEW
from hockney.vocabulary import MEANINGS

OF_TYPER = {"--help", "--install-completion", "--show-completion", "--version"}
NUMBERS = {"--nodes", "--ranks"}
"""Numbers of what the singular is one of, or names."""
MANY = 24
"""Options under one heading that a person still looks through."""


@cache
def verbs() -> dict[str, Any]:
    """Every command, groups too, by its words."""
    return dict(_walked(get_command(application()), ()))


def _walked(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    yield " ".join(words), command
    context = typer.Context(command)
    for name in getattr(command, "list_commands", lambda _: [])(context):
        yield from _walked(command.get_command(context, name), (*words, name))


def options(command: Any) -> list[Any]:
    return [one for one in command.params if one.param_type_name == "option" and one.opts[0] not in OF_TYPER]


@cache
def by_name() -> dict[str, list[tuple[str, Any]]]:
    found: dict[str, list[tuple[str, Any]]] = defaultdict(list)
    for words, command in verbs().items():
        for option in options(command):
            found[option.opts[0]].append((words, option))
    return dict(found)


def test_no_meaning_stands_without_an_option() -> None:
    assert sorted(name for name in MEANINGS if name not in by_name()) == []


def test_a_name_has_one_other_spelling_everywhere() -> None:
    spelled = {name: {tuple(option.opts) for _, option in uses} for name, uses in by_name().items()}
    assert {name: ways for name, ways in spelled.items() if len(ways) > 1} == {}


def test_names_are_singular_however_many_they_take() -> None:
    names = set(by_name())
    assert {name for name in names if name.endswith("s") and name[:-1] in names} == NUMBERS


@pytest.mark.parametrize("words", sorted(verbs()))
def test_a_verb_has_help_of_one_letter_examples_and_headings(words: str) -> None:
    command = verbs()[words]
    assert command.context_settings["help_option_names"] == ["--help", "-h"]
    assert "$ hockney" in command.epilog
    under: dict[str, list[str]] = defaultdict(list)
    for option in options(command):
        under[option.rich_help_panel or ""].append(option.opts[0])
    if len(options(command)) > 2 * FEW:
        assert len(under) > 1, f"{len(options(command))} options without headings"
    assert max(map(len, under.values()), default=0) <= MANY, under


@pytest.mark.thorough
def test_no_word_of_a_help_page_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 80 columns, as in a pipe; what takes several words is written `FILE…`."""
    monkeypatch.setenv("COLUMNS", "80")
    cut = {
        words: found
        for words in verbs()
        if (found := re.findall(r"\S*[a-z:-]\S*…(?=\s)", outcome(*words.split(), "--help")[1]))
    }
    assert cut == {}


def test_what_takes_several_may_be_written_again() -> None:
    # Else all but the last word is lost, and nothing says so.
    says_several = re.compile(
        r"\bor several\b|\bseveral:|\bone, several|\ba list, or|with commas|\(repeatable\)", re.IGNORECASE
    )
    uses = [(words, option) for of_name in by_name().values() for words, option in of_name]
    several = [
        (f"{words} {option.opts[0]}", option) for words, option in uses if says_several.search(option.help)
    ]
    assert len(several) > 20
    assert [name for name, option in several if not option.multiple] == []
