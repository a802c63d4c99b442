"""System files: those that ship, one written by hand, and what is said of a wrong one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel
from tests.factories import refusing

from hockney.errors import RequestError
from hockney.machine.placement import placement
from hockney.machine.system import (
    LEVELS,
    Channel,
    Mapping,
    Node,
    System,
    SystemLibrary,
    SystemMemory,
    SystemNetwork,
    find_system,
    known_systems,
    load_system,
)

OWN: dict[str, Any] = {
    "schema_version": 1,
    "name": "own",
    "nodes": 3,
    "node": {"packages": 2, "cores_per_cache": 4},
    "network": {"topology": "torus", "bandwidth_B_per_s": 1e9, "latency_s": 1e-6, "shapes": {"3": [3]}},
    "memory": {"copy_bandwidth_B_per_s": 8e9},
    "mpi": [{"library": "MPICH", "version": "4.2"}],
    "procedure": "osu",
    "mappings": {"block": {"order": list(LEVELS)}},
}


def write(folder: Path, data: object, name: str = "own.json") -> Path:
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def changed(where: str, value: object) -> dict[str, Any]:
    """`OWN` with one field set, named as the messages name it."""
    data: dict[str, Any] = json.loads(json.dumps(OWN))
    *parents, last = where.split(".")
    at = data
    for parent in parents:
        at = at[parent]
    at[last] = value
    return data


def message(path: Path) -> str:
    with pytest.raises(RequestError) as caught:
        load_system(path)
    assert caught.value.hint
    assert caught.value.message.startswith((str(path), f"cannot read {path}"))
    return caught.value.message


def test_the_systems_of_the_published_tables_ship() -> None:
    assert {"orfeo-epyc", "fugaku", "marenostrum5", "alaska-ib", "alaska-roce"} <= set(known_systems())


@pytest.mark.parametrize("name", known_systems())
def test_a_shipped_system_is_found_from_anywhere_and_names_its_sources(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    system = find_system(name)
    assert system == find_system(f"{name}.json")
    assert system.name == name
    assert system.source
    assert all(rule.description for rule in system.mappings.values())


@pytest.mark.parametrize(
    ("name", "cores", "bandwidth_B_per_s"),
    [
        ("orfeo-epyc", 2 * 64, 100e9 / 8),
        ("fugaku", 48, 6.8e9),
        ("marenostrum5", 80, 200e9 / 8),
        ("alaska-ib", 2 * 16, 100e9 / 8),
        ("alaska-roce", 2 * 16, 25e9 / 8),
    ],
)
def test_published_figures(name: str, cores: int, bandwidth_B_per_s: float) -> None:
    system = find_system(name)
    assert system.node.cores == cores
    assert system.network.bandwidth_B_per_s == bandwidth_B_per_s


def test_a_file_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, OWN)
    system = find_system(str(path))
    assert system == System.model_validate(OWN | {"network": OWN["network"] | {"shapes": {3: [3]}}})
    assert list(placement(system, "block", 24).node) == [0] * 8 + [1] * 8 + [2] * 8
    with pytest.raises(RequestError, match="own has 3 of 8 cores"):
        placement(system, "block", 25)
    monkeypatch.chdir(tmp_path)
    assert find_system("own.json") == find_system("./own.json") == system


def test_a_file_here_comes_before_a_shipped_one_of_its_name_a_word_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, OWN, "fugaku.json")
    write(tmp_path, OWN, "fugaku")
    monkeypatch.chdir(tmp_path)
    assert find_system("fugaku.json").name == "own"
    assert find_system("./fugaku").name == "own"
    assert find_system("fugaku").name == "fugaku"


@pytest.mark.parametrize("asked", ["orfeo-epic", "orfeo-epic.json", "fugakku"])
def test_an_unknown_system_names_the_known_and_the_nearest(asked: str) -> None:
    with pytest.raises(RequestError) as caught:
        find_system(asked)
    assert asked in caught.value.message
    nearest = "fugaku" if asked.startswith("f") else "orfeo-epyc"
    assert f"did you mean {nearest!r}?" in caught.value.hint
    assert all(name in caught.value.hint for name in known_systems())


@pytest.mark.parametrize("asked", ["nowhere/orfeo-epyc.json", "", ".", "/"])
def test_a_path_to_nothing_is_no_shipped_system(asked: str) -> None:
    with pytest.raises(RequestError, match="there is no system"):
        find_system(asked)


def test_an_unknown_mapping_names_the_known_and_the_nearest() -> None:
    with refusing("", "did you mean 'socket'? known: core, socket, node"):
        find_system("orfeo-epyc").mapping("sokcet")


@pytest.mark.parametrize(
    ("where", "value", "says"),
    [
        ("node.sockets", 2, "unknown field node.sockets"),
        ("node.packages", 0, "node.packages: Input should be greater than or equal to 1"),
        ("node.packages", "2", "node.packages: Input should be a valid integer"),
        ("node.packages", True, "node.packages: Input should be a valid integer"),
        ("network.topology", "mesh", "network.topology: Input should be 'switch', 'fat_tree', 'torus' or"),
        ("network.bandwidth_B_per_s", -1, "network.bandwidth_B_per_s: Input should be greater than 0"),
        ("network.bandwidth_B_per_s", float("nan"), ":1: damaged JSON"),
        ("network.shapes", {"8": [2, 2]}, "network: shape 2x2 has 4 nodes, not 8"),
        ("network.topology", "switch", "network: shapes is for a torus, not for a switch"),
        ("mappings", {}, "mappings: Dictionary should have at least 1 item"),
        ("mappings.block.order", list(LEVELS[:4]), "mappings.block: order must name each of core, cache, numa,"),
        ("mappings.block.order", [*LEVELS[:4], "core"], "mappings.block: order must name each"),
        ("mappings.block.order", [*LEVELS[:4], "rack"], "mappings.block.order.4: Input should be 'core',"),
        ("mappings.block.ppn", "even", "mappings.block: ppn even needs nodes"),
        ("mappings.block.ppn", "odd", "mappings.block.ppn"),
        ("mappings.block.first_cores", [1, 1], "mappings.block: first_cores names a core twice"),
        ("mappings.block", {"order": LEVELS[::-1], "from_core": 2}, "mappings.block: a mapping that names cores"),
        ("mappings.block", {"order": LEVELS, "from_core": 2, "to_core": 1}, "to_core 1 is below from_core 2"),
        ("default_mapping", "fill", "default_mapping 'fill' is none of the mappings"),
        ("procedure", "skampi", "procedure: Input should be 'osu', 'imb', 'pico' or 'hockney'"),
        ("schema_version", 0, "schema_version: Input should be 1"),
        ("schema_version", "1", "schema_version: Input should be 1"),
        ("schema_version", 2, "has schema version 2; this hockney reads up to version 1"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, where: str, value: object, says: str) -> None:
    assert says in message(write(tmp_path, changed(where, value)))


def test_how_much_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    data = changed("node.packages", 0)
    del data["mappings"]
    said = message(write(tmp_path, data))
    assert "node.packages: " in said
    assert said.endswith("(and 1 more)")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ":1: damaged JSON"),
        ('{"schema_version": 1,\n"name": }', ":2: damaged JSON (expected value, column 9)"),
        ("[]", "is no system file"),
        ('{"name": "own"}', "is no system file (no schema_version and node)"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_damaged_file_says_where(tmp_path: Path, text: str, says: str) -> None:
    assert says in message(write(tmp_path, text))


def test_a_binary_file_and_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_bytes(b'{"name": "\xff"}')
    assert "is not text (byte 10)" in message(path)
    assert "is a folder, not a file" in message(tmp_path)


PAGE = Path(__file__).parents[2] / "docs" / "reference" / "system-file.md"


def test_the_page_names_every_field() -> None:
    text = PAGE.read_text(encoding="utf-8")
    parts: list[type[BaseModel]] = [System, Node, SystemNetwork, SystemMemory, SystemLibrary, Mapping, Channel]
    missing = [field for part in parts for field in part.model_fields if f"`{field}`" not in text]
    assert missing == []
    assert [name for name in known_systems() if f"`{name}`" not in text] == []


def test_the_pages_example_is_what_it_says(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8").split("## Example")[1]
    lines = [line for line in text.split("## Without")[0].splitlines() if line.startswith("    ")]
    system = find_system(str(write(tmp_path, "\n".join(lines))))
    filled = placement(system, "", 64)
    assert {filled.locality(0, rank) for rank in range(1, 8)} == {"cache"}
    assert (filled.locality(0, 8), filled.locality(0, 16)) == ("node", "network")
    assert list(np.flatnonzero(placement(system, "node", 12).node == 0)) == [0, 4, 8]
