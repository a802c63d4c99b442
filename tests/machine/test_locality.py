"""How far two ranks are apart: what nodes, mappings and systems make certain, and what they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.capabilities import shared
from tests.factories import campaign, frame, messages, row

from hockney.machine.locality import given_system, load, locality_of, read
from hockney.machine.system import find_system
from hockney.records.folder import TABLE
from hockney.records.record import Locality


@pytest.mark.parametrize(
    ("ranks", "nodes", "ppn", "expected"),
    [
        (2, 2, 1, "network"),
        (2, 2, None, "network"),
        (2, None, 1, "network"),
        # Two ranks of a job on eight nodes, one each.
        (2, 8, 1, "network"),
        (8, 8, 1, "network"),
        (8, 8, None, "network"),
        # Which two of the 64 ranks is not said.
        (2, 2, 32, None),
        (2, 8, None, None),
        (2, 1, 2, None),
        # Two ranks contradict it.
        (2, 1, 1, None),
        (2, None, None, None),
        (None, 2, None, None),
    ],
)
def test_one_rank_a_node_is_certain_and_nothing_else(
    ranks: int | None, nodes: int | None, ppn: int | None, expected: Locality | None
) -> None:
    said = locality_of(None, "", ranks, nodes, ppn)
    assert said.locality == expected
    assert bool(said.why) == (expected is None)


@pytest.mark.parametrize(
    ("system", "mapping", "expected"),
    [
        ("orfeo-thin", "core", "cache"),
        ("orfeo-thin", "socket", "node"),
        ("orfeo-thin", "node", "network"),
        ("orfeo-gpu", "socket", "node"),
        # Two threads of a core, or two cores of a socket.
        ("orfeo-gpu", "hwthread", None),
        ("orfeo-epyc", "core", "cache"),
        ("fugaku", "node", "network"),
        ("alaska-ib", "block", "network"),
        # Bindings are not stated.
        ("alaska-ib", "fill", None),
        ("marenostrum5", "block", None),
        # No mapping is stated, or none of that name described.
        ("orfeo-thin", "", None),
        ("orfeo-thin", "default", None),
    ],
)
def test_a_mapping_of_a_known_system_tells_it(system: str, mapping: str, expected: Locality | None) -> None:
    said = locality_of(find_system(system), mapping, 2)
    assert (said.locality, bool(said.why)) == (expected, expected is None)


@pytest.mark.parametrize(
    ("pair", "expected"), [((0, 11), "cache"), ((0, 12), "node"), ((23, 24), "network"), ((24, 25), "cache")]
)
def test_each_pair_has_its_own(pair: tuple[int, int], expected: Locality) -> None:
    assert locality_of(find_system("orfeo-thin"), "core", 48, pairs=[pair]).locality == expected


def test_a_free_rank_is_near_only_where_a_binding_has_one_cache() -> None:
    """A package of thin nodes has one cache, one of EPYC nodes sixteen; ranks 0 and 2 are on one package."""
    pair = [(0, 2)]
    assert locality_of(find_system("orfeo-thin"), "socket", 4, pairs=pair).locality == "cache"
    assert (
        locality_of(find_system("orfeo-epyc"), "socket", 4, pairs=pair).why == "they may be anywhere on a package"
    )


def test_what_contradicts_a_mapping_or_shares_cores_is_not_claimed() -> None:
    """Mapping `node` is of two nodes; which ranks share a core depends on how threads are filled."""
    for system in ("orfeo-thin", "orfeo-epyc"):
        assert locality_of(find_system(system), "node", 2, 1, 2).locality is None
    gpu = find_system("orfeo-gpu")
    assert locality_of(gpu, "core", 48, 1, 48, [(0, 24)]).why == "which of their ranks share a core is not stated"
    assert locality_of(gpu, "core", 24, 1, 24, [(0, 11)]).locality == "cache"
    assert locality_of(gpu, "core", 96, pairs=[(0, 48)]).locality == "network"


def test_a_launchers_word_tells_without_a_system_which_ranks_leave_a_node() -> None:
    assert locality_of(None, "node", 8, 2, 4).locality == "network"
    assert locality_of(None, "node", 8, 2, 4, [(0, 2)]).locality is None
    assert locality_of(None, "core", 8, 2, 4, [(0, 4)]).locality == "network"
    assert locality_of(None, "core", 8, 2, 4).locality is None


def test_tables_and_campaigns_say_the_same(tmp_path: Path) -> None:
    where: dict[str, Any] = {"system": "orfeo-thin", "source": "osu", "ranks": 2}
    records = [
        each for mapping in ("core", "socket", "node", "default") for each in messages(mapping=mapping, **where)
    ]
    folder = campaign(tmp_path / "c", records, with_table=True)
    for path in (folder, folder / TABLE):
        contents = read(path)
        told = dict(zip(contents.frame["mapping"], contents.frame["locality"], strict=True))
        assert told == {"core": "cache", "socket": "node", "node": "network", "default": ""}
        (note,) = [text for text in contents.warnings if "far apart" in text]
        assert "orfeo-thin has no mapping 'default'" in note
        assert "--locality" in note
    assert {record.locality for record in read(folder).settled.records} == {"cache", "node", "network", None}


def test_what_is_stated_stays(tmp_path: Path) -> None:
    where: dict[str, Any] = {
        "system": "orfeo-thin",
        "source": "osu",
        "mapping": "core",
        "ranks": 2,
        "locality": "node",
    }
    assert {*read(campaign(tmp_path / "c", messages(**where))).frame["locality"]} == {"node"}


@pytest.mark.parametrize(
    ("repetitions", "expected"), [([4, 70], "cache"), ([4, 20], "package"), ([0, 9], "cache")]
)
def test_repeats_are_no_cores_of_receivers(tmp_path: Path, repetitions: list[int], expected: str) -> None:
    """Channel `core` of ORFEO EPYC has receivers 4 to 63; other numbers count repeats of the mapping `core`."""
    pingpong: dict[str, Any] = {
        "operation": "pingpong",
        "statistic": "one_way",
        "system": "orfeo-epyc",
        "nodes": 1,
        "ppn": 2,
    }
    path = tmp_path / "t.csv"
    frame([row(repetition=number, **pingpong) for number in repetitions], path)
    assert load(path)["locality"].iloc[-1] == expected


def test_ping_pongs_of_the_shared_table() -> None:
    """Its README: receivers on cores 1-3 share the L3, 4-63 the socket, 64-95 are on the other one."""
    read_in = load(shared("orfeo-epyc") / "tidy.csv.gz")
    pingpong = read_in[read_in["operation"] == "pingpong"]
    far = pingpong["mapping"].map(
        {"cache": "cache", "socket": "node", "node": "network", "core": "numa or package"}
    )
    near = pingpong["repetition"].lt(16).map({True: "numa", False: "package"})
    assert (pingpong["locality"] == far.mask(far == "numa or package", near)).all()


def test_a_file_names_the_system_that_rows_are_given(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(find_system("orfeo-thin").model_copy(update={"name": "own"}).model_dump_json())
    assert given_system("somewhere") == ("somewhere", [])
    name, systems = given_system(str(path))
    assert (name, systems[0].name) == ("own", "own")
