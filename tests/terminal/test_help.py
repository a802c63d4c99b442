"""Help is short: verbs in the order of work, twelve options at first, words of other benchmarks understood."""

from __future__ import annotations

import re

import pytest
from tests.command_line import outcome, succeeded
from tests.terminal import test_style
from tests.terminal.test_style import sentences
from tests.terminal.test_vocabulary import OF_TYPER, verbs

from hockney.terminal import FIRST, HEADINGS, MOST_OPTIONS
from hockney.vocabulary import operation


def shown(*words: str) -> set[str]:
    """The options that a help page describes."""
    described = re.findall(r"^│ [* ]*(--[a-z-]+)", outcome(*words)[1], re.MULTILINE)
    return {*described} - {"--help"}


def faults(text: str) -> list[str]:
    """What is wrong with the help of an option: it is one sentence that a person reads once."""
    said = re.sub(r"\s*\[default: .*?\]$", "", text.replace("\\[", "["), flags=re.DOTALL)
    rules = {
        "no sentence": not said.endswith("."),
        "two sentences": bool(re.search(r"[.;!?]\s+\S", said)),
        "a fragment": len(said.split()) < 3,
    }
    return [name for name, is_broken in rules.items() if is_broken] + test_style.faults(said)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Number of nodes. Of the job.", "two sentences"),
        ("Print the plan; launch nothing.", "two sentences"),
        ("Number of nodes", "no sentence"),
        ("Machine file.", "a fragment"),
        ("Those that can be told to differ.", "can be told"),
        (" ".join(["word"] * 26) + ".", "long"),
    ],
)
def test_a_bad_help_is_seen(text: str, fault: str) -> None:
    assert faults(text) == [fault]
    assert faults("Number of ranks, such as 4. [default: the cores. Of this host]") == []


def test_the_help_of_every_option_is_one_sentence() -> None:
    said = {
        f"{words} {each.opts[0]}": faults(each.help or "")
        for words, verb in verbs().items()
        for each in verb.params
        if each.opts[0] not in OF_TYPER
    }
    assert len(said) > len(verbs())
    assert {name: wrong for name, wrong in said.items() if wrong} == {}


def test_no_sentence_of_a_verb_has_a_fault() -> None:
    said = {each for verb in verbs().values() for part in (verb.help, verb.epilog) for each in sentences(part)}
    # Of the epilog, examples are no sentences.
    wrong = {each: bad for each in said if not each.startswith("$") and (bad := test_style.faults(each))}
    assert wrong == {}


def test_no_verb_shows_more_than_twelve_options() -> None:
    many = {words: verb for words, verb in verbs().items() if len(verb.params) > MOST_OPTIONS}
    assert many
    for words in many:
        assert len(shown(*words.split(), "--help")) <= MOST_OPTIONS, words


def test_the_first_verbs_are_those_of_the_first_hour() -> None:
    said = outcome("--help")[1]
    places = [said.index(f"│ {verb} ") for verb in ("doctor", "measure", "fit", "predict", "report", "tune")]
    assert places == sorted(places)


def test_every_verb_stands_under_a_heading() -> None:
    root = verbs()[""]
    assert {name for names in HEADINGS.values() for name in names.split()} == {*root.list_commands(None)}


def test_without_a_verb_one_screen_says_where_to_start() -> None:
    said = succeeded()
    assert len(said.splitlines()) <= 24
    assert "hockney measure" in said


def test_help_shows_few_options_and_help_all_every_one() -> None:
    few, all_of_them = shown("measure", "--help"), shown("measure", "--help-all")
    assert len(few) <= MOST_OPTIONS < len(all_of_them)
    assert few < all_of_them
    assert "hockney measure --help-all" in outcome("measure", "--help")[1]


def test_a_launched_program_keeps_its_own_help_all() -> None:
    code, said, complaint = outcome("profile", "--", "no-such-program", "--help-all")
    assert code != 0
    assert "Usage" not in said + complaint


@pytest.mark.parametrize("words", FIRST)
def test_most_used_options_are_options(words: str) -> None:
    first = FIRST[words].split()
    assert len(first) <= MOST_OPTIONS
    assert {f"--{name}" for name in first} <= {each.opts[0] for each in verbs()[words].params}


@pytest.mark.parametrize(
    ("word", "ours"),
    [("latency", "pingpong"), ("osu_latency", "pingpong"), ("osu_bw", "bandwidth"), ("bibw", "bidirectional"),
     ("PingPong", "pingpong"), ("osu_bcast", "bcast"), ("heat.json", "heat.json")],
)  # fmt: skip
def test_names_of_other_benchmarks_are_understood(word: str, ours: str) -> None:
    assert operation(word) == ours


def test_every_verb_reads_them() -> None:
    _, latency, _ = outcome("predict", "osu_latency", "--machine", "bluegene_p", "--bytes", "64K")
    assert latency
    assert latency == outcome("predict", "pingpong", "--machine", "bluegene_p", "--bytes", "64KiB")[1]
    assert "did you mean" in outcome("measure", "-o", "no", "--operation", "pingpang")[2]
