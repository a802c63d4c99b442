"""Which entry answers a question: explicit words first, then the nearest locality and the usual defaults."""

from __future__ import annotations

import pytest
from tests.factories import refusing, version_1

from hockney.errors import RequestError
from hockney.machine.file import Machine
from hockney.machine.select import (
    expect_names,
    matching,
    parse_where,
    select_effect,
    select_entry,
    title,
    titles,
    words,
)
from hockney.models.effects.base import Effect


@pytest.fixture(scope="module")
def machine() -> Machine:
    return version_1()


def test_the_nearest_locality_measured_is_the_default(machine: Machine) -> None:
    entry = select_entry(machine, {"operation": "pingpong"})
    assert (entry.locality, entry.variant, entry.cache) == ("package", "default", "warm")


def test_a_word_asked_for_comes_before_any_default(machine: Machine) -> None:
    # tcp was measured over the network only: the default locality must not exclude it.
    entry = select_entry(machine, {"operation": "pingpong", "variant": "tcp"})
    assert (entry.locality, entry.variant) == ("network", "tcp")


def test_cache_off_is_found(machine: Machine) -> None:
    assert select_entry(machine, {"operation": "pingpong", "cache": "off"}).cache == "off"


@pytest.mark.parametrize(
    ("word", "message", "hint"),
    [
        ({"locality": "numa"}, "pingpong was not measured with locality 'numa'", "measured: package, network"),
        ({"operation": "pingpon"}, "no operation 'pingpon'", "did you mean 'pingpong'? known: bandwidth, "),
        ({"variant": "ucx"}, "variant 'ucx'", "default, tcp"),
        ({"colour": "red"}, "colour 'red'", ""),
    ],
)
def test_an_unknown_word_lists_the_known(machine: Machine, word: dict[str, str], message: str, hint: str) -> None:
    with refusing(message, hint):
        select_entry(machine, {"operation": "pingpong", **word})


def test_what_is_still_ambiguous_is_an_error_with_the_choices(machine: Machine) -> None:
    with pytest.raises(RequestError, match=r"2 measured configurations.*window: 1, 64") as caught:
        select_entry(machine, {"operation": "bandwidth"})
    assert caught.value.hint == "choose one with --where window=WORD"
    assert select_entry(machine, {"operation": "bandwidth", "window": "64"}).other["window"] == "64"


def test_matching_keeps_every_entry_with_the_words(machine: Machine) -> None:
    assert len(matching(machine, {"operation": "pingpong", "locality": None})) == 4
    assert len(matching(machine, {"operation": "pingpong", "locality": "network"})) == 2
    assert len(matching(machine, {})) == len(machine.point_to_point)


def test_entries_whose_locality_is_unknown_need_none(machine: Machine) -> None:
    entries = [
        entry.model_copy(update={"locality": None, "variant": "", "mapping": mapping})
        for entry, mapping in zip(machine.point_to_point[:2], ("map-by node", "map-by core"), strict=True)
    ]
    imported = machine.model_copy(update={"point_to_point": entries})
    assert (
        select_entry(imported, {"operation": "pingpong", "mapping": "map-by core", "cache": "off"}) is entries[1]
    )
    with pytest.raises(RequestError, match="measured with locality 'core'") as caught:
        select_entry(imported, {"operation": "pingpong", "locality": "core"})
    assert caught.value.hint.endswith("measured: unknown")


def test_title_and_words_of_an_entry(machine: Machine) -> None:
    entry = machine.point_to_point[0]
    assert words(entry)["mpi"] == "Open MPI 5.0.11"
    assert title(entry) == "pingpong, locality package, cache warm"
    bandwidth = machine.point_to_point[4]
    assert title(bandwidth) == "bandwidth, locality package, cache warm"
    everything = machine.point_to_point
    assert title(bandwidth, everything) == "bandwidth, locality package, variant default, cache warm, window 1"
    assert titles(everything) == [title(each, everything) for each in everything]


def test_parse_where() -> None:
    assert parse_where(["window=64", "mpi=Open MPI=5"]) == {"window": "64", "mpi": "Open MPI=5"}
    for wrong in ("window", "=64", ""):
        with pytest.raises(RequestError, match="is not a condition"):
            parse_where([wrong])


def effect(**words: object) -> Effect:
    return Effect.model_validate({"effect": "matching", "points": [{"time_s": 1e-6}], **words})


def test_an_effect_is_chosen_as_an_entry_is(machine: Machine) -> None:
    there = [
        effect(locality="network", variant="default", mpi="A"),
        effect(locality="cache", variant="tcp", mpi="A"),
        effect(locality="cache", variant="default", mpi="A"),
        # Nearer, but without an answer.
        effect(locality="core", variant="default", mpi="A", points=[], not_measurable="one core"),
    ]
    machine = machine.model_copy(update={"effects": there})
    assert select_effect(machine, "matching", {}) is there[2]
    assert select_effect(machine, "matching", {"locality": "network"}) is there[0]
    assert select_effect(machine, "matching", {"variant": "tcp", "locality": None}) is there[1]
    with pytest.raises(RequestError, match=r"^matching, locality core has no measurements: one core$"):
        select_effect(machine, "matching", {"locality": "core"})
    with pytest.raises(RequestError, match="matching was not measured with locality 'node'"):
        select_effect(machine, "matching", {"locality": "node"})
    with refusing("overlap was not measured", "hockney measure --operation overlap"):
        select_effect(machine, "overlap", {})


def test_effects_of_two_libraries_are_ambiguous(machine: Machine) -> None:
    machine = machine.model_copy(update={"effects": [effect(mpi="A"), effect(mpi="B")]})
    with pytest.raises(RequestError, match="2 measured configurations") as caught:
        select_effect(machine, "matching", {})
    assert caught.value.hint == "choose one with --where mpi=WORD"
    assert select_effect(machine, "matching", {"mpi": "B"}).mpi == "B"


def test_a_condition_on_what_nothing_has_is_refused_with_what_there_is() -> None:
    expect_names(["variant"], ["variant", "mpi"])
    expect_names(["anything"], [])
    with pytest.raises(RequestError) as error:
        expect_names(["varient"], ["variant", "mpi"])
    assert error.value.hint == "did you mean 'variant'? known: mpi, variant"
