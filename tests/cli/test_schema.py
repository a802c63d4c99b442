"""`hockney schema`: every verb has one, and what is no answer is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.command_line import outcome, run_hockney, succeeded
from tests.schemas import Strict, _verbs, complaint, validator, verb_of

from hockney.api.answers.base import VERSION, answers, schema

ALONE, GROUPS = _verbs()
# `predict each` answers as the verbs that it is asked for.
VERBS = sorted(
    {*ALONE, *(f"{group} {verb}" for group, verbs in GROUPS.items() for verb in verbs)} - {"predict each"}
)


def test_every_verb_has_a_schema_and_no_other() -> None:
    assert list(answers()) == VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_a_schema_is_one_and_has_the_version(verb: str) -> None:
    made = schema(verb)
    Draft202012Validator.check_schema(made)
    assert made["$id"] == f"urn:hockney:schema:{VERSION}:{verb.replace(' ', '-')}"
    refused = {"error": {"kind": "request", "message": "m", "hint": "h"}}
    assert Draft202012Validator(made).is_valid(refused)
    assert not complaint(verb, refused)


def test_a_schema_is_printed() -> None:
    out = succeeded("schema", "predict", "bcast")
    assert json.loads(out) == schema("predict bcast")


def answer() -> Any:
    return json.loads(
        run_hockney(
            "predict", "bcast", "--ranks", "8", "--bytes", "8", "--machine", "bluegene_p", "--json"
        ).stdout
    )


def test_an_answer_that_is_not_as_its_schema_says_is_seen() -> None:
    good = answer()
    assert not complaint("predict bcast", good)
    spoiling: list[dict[str, Any]] = [{"ranks": "8"}, {"predictions": [{}]}, {"a key": 1}]
    for spoilt in spoiling:
        assert complaint("predict bcast", {**good, **spoilt})
    lacking = copy.deepcopy(good)
    del lacking["predictions"][0]["algorithms"][0]["time_s"]
    assert complaint("predict bcast", lacking)


OPEN = {
    "MapAnswer",
    "ModelledEntry",
    "NetworkAnswer",
    "PredictedMessages",
    "Sum3dRuns",
}
"""Types with further keys, which what was asked for names; the types inside them are closed."""


@pytest.mark.parametrize("verb", VERBS)
def test_every_part_of_an_answer_is_closed_but_those_that_are_open(verb: str) -> None:
    made = schema(verb, Strict)
    parts = {"the answer": made, **made.get("$defs", {})}
    unclosed = {name for name, part in parts.items() if "properties" in part and part["additionalProperties"]}
    assert unclosed <= OPEN


@pytest.mark.parametrize(
    ("words", "within"),
    [
        (("network", "show", "--topology", "torus:4x4"), ["hops"]),
        (("network", "show", "--topology", "torus:4x4"), ["allocation"]),
        (("predict", "pingpong", "--bytes", "8", "--machine", "bluegene_p"), ["predictions", 0]),
        (("predict", "bcast", "--bytes", "8", "--ranks", "8", "--machine", "bluegene_p"), ["predictions", 0]),
    ],
)
def test_a_key_inside_that_nobody_declared_is_refused(words: tuple[str, ...], within: list[str | int]) -> None:
    made = json.loads(run_hockney(*words, "--json").stdout)
    verb = " ".join(words[:2])
    assert not complaint(verb, made)
    part = made
    for step in within:
        part = part[step]
    part["a key"] = 1
    assert complaint(verb, made)


def test_a_reader_passes_over_keys_that_come_later() -> None:
    assert Draft202012Validator(schema("predict bcast")).is_valid({**answer(), "a key": 1})


@pytest.mark.parametrize("verb", ["fit", "tune", "predict bcast", "evaluate", "report"])
def test_nothing_is_no_answer(verb: str) -> None:
    assert not validator(verb).is_valid({})


def test_verbs_are_listed() -> None:
    assert outcome("schema")[1].split("\n")[:-1] == VERBS
    assert json.loads(outcome("schema", "--json")[1]) == {"version": VERSION, "verbs": VERBS}


def test_a_verb_is_found_in_what_was_typed() -> None:
    assert verb_of(["predict", "bcast", "--ranks", "8"]) == "predict bcast"
    assert verb_of(["predict", "profile.json", "--ranks", "8"]) == "predict profile"
    assert verb_of(["fit", "demo"]) == "fit"
    assert verb_of(["nosuchverb"]) is None
