"""What a shell offers for the beginning of a word: verbs, and the words that an option knows."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import pytest
from tests.processes import captured

from hockney.terminal.completion import names


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ("hockney sched", ["schedule"]),
        ("hockney measure --operation allr", ["allreduce"]),
        ("hockney measure --operation bcast,allr", ["bcast,allreduce"]),
        ("hockney measure --mpi mp", ["mpich"]),
        ("hockney measure --map-by so", ["socket"]),
        ("hockney schedule draw allg", ["allgather"]),
        ("hockney predict bcast --algorithm scatter_", ["scatter_allgather", "scatter_allgather_ring"]),
    ],
)
def test_a_shell_offers_what_is_known(written: str, offered: list[str], tmp_path: Path) -> None:
    assert offers(written, tmp_path) == offered


def offers(written: str, folder: Path) -> list[str]:
    """What bash offers at the end of the line, in that folder."""
    program = folder / "hockney"
    program.write_text("from hockney.cli import main\nmain()\n", encoding="utf-8")
    asked = {"COMP_WORDS": written, "COMP_CWORD": str(len(written.split()) - 1)}
    done = captured(
        [sys.executable, str(program)],
        env={**os.environ, "_HOCKNEY_COMPLETE": "complete_bash", **asked},
        check=True,
        cwd=folder,
    )
    return done.stdout.splitlines()


def record(**names: str) -> str:
    return json.dumps({"operation": "pingpong", **names}) + "\n"


def test_a_shell_offers_the_names_of_the_campaign_at_hand(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    lines = record(variant="tcp", algorithm="") + record(variant="two words", operation="bcast", algorithm="ring")
    (tmp_path / "c" / "records.jsonl").write_text(lines, encoding="utf-8")
    assert offers("hockney evaluate c --operation b", tmp_path)[0] == "bcast"
    assert names(tmp_path / "c", "--variant") == ["tcp", "two words"]
    assert names(tmp_path / "c", "--algorithm") == ["ring"]


def test_of_a_machine_file_too_and_only_what_is_in_it(tmp_path: Path) -> None:
    text = '{"point_to_point": [{"operation": "pingpong", "locality": "numa", "variant": "sm"}]}'
    (tmp_path / "m.json").write_text(text, encoding="utf-8")
    assert offers("hockney show m.json --where variant=s", tmp_path) == ["variant=sm"]
    assert offers("hockney predict pingpong --machine m.json --locality n", tmp_path) == ["numa"]


def test_of_a_packed_table_names_and_values(tmp_path: Path) -> None:
    table = tmp_path / "t.csv.gz"
    table.write_bytes(gzip.compress(b"operation,mapping,bytes\nbcast,core,8\nreduce,node,8\n"))
    assert names(table, "--operation") == ["bcast", "reduce"]
    assert names(table, "--where") == ["mapping=core", "mapping=node"]


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b'{"variant": "half', b"operation\n\n,,,"])
def test_a_damaged_file_has_no_names_and_no_errors(damage: bytes, tmp_path: Path) -> None:
    for name in ("m.json", "t.csv", "t.csv.gz"):
        (tmp_path / name).write_bytes(damage)
        assert names(tmp_path / name, "--variant") == []
