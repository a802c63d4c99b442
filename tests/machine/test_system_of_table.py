"""What a table says of its own system, on tables made up for it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from tests.factories import refusing

from hockney.errors import RequestError
from hockney.machine.placement import placement
from hockney.machine.system import SystemLibrary
from hockney.machine.system_of_table import system_of_table


def table(*rows: tuple[str, int, int | None, int | None], **columns: Any) -> pd.DataFrame:
    """Rows of (mapping, ranks, nodes, ppn), typed as a tidy table is."""
    frame = pd.DataFrame(rows, columns=["mapping", "ranks", "nodes", "ppn"])
    frame = frame.astype({"ranks": "Int64", "nodes": "Int64", "ppn": "Int64"})
    return frame.assign(**({"system": "c", "mpi": "Open MPI 4.1.5"} | columns))


def test_nodes_that_are_filled_and_nodes_that_are_dealt() -> None:
    system = system_of_table(
        table(("core", 4, 1, 4), ("core", 12, 2, 8), ("node", 2, 2, 1), ("node", 12, 2, 6), source="osu")
    )
    assert (system.name, system.procedure, system.mpi) == (
        "c",
        "osu",
        [SystemLibrary(library="Open MPI", version="4.1.5")],
    )
    assert system.node.cores == 8
    assert list(placement(system, "core", 10).node) == [0] * 8 + [1] * 2
    assert list(placement(system, "node", 5).node) == [0, 1, 0, 1, 0]
    filled = placement(system, "core", 8)
    assert {filled.locality(0, other) for other in range(1, 8)} == {"cache"}


def test_one_rank_a_node_at_any_number_of_ranks() -> None:
    system = system_of_table(table(("node", 8, 8, 1), ("node", 64, 64, 1)))
    assert list(placement(system, "node", 100).node) == list(range(100))


def test_blocks_of_equal_size() -> None:
    system = system_of_table(table(("", 4, 2, 2), ("", 64, 2, 32)))
    assert list(placement(system, "", 6).node) == [0, 0, 0, 1, 1, 1]


def test_what_one_node_held_is_not_stretched_over_more() -> None:
    system = system_of_table(table(("core", 2, 1, 2), ("core", 4, 1, 4)))
    with pytest.raises(RequestError, match="which has 4 cores"):
        placement(system, "core", 5)


@pytest.mark.parametrize(("nodes", "ppn"), [(3, None), (None, 4)])
def test_nodes_and_ranks_per_node_follow_from_each_other(nodes: int | None, ppn: int | None) -> None:
    placed = placement(system_of_table(table(("core", 10, nodes, ppn))), "core", 10)
    assert (placed.nodes, placed.ppn) == (3, 4)


def test_words_that_are_no_launchers_are_left_out() -> None:
    system = system_of_table(table(("core", 2, 1, 2), ("flat_tree_node", 2, 2, 1)))
    assert list(system.mappings) == ["core"]


@pytest.mark.parametrize("frame", [table(("core", 4, None, None)), table(("odd", 4, 2, 2)), table()])
def test_a_table_without_placement_is_refused(frame: pd.DataFrame) -> None:
    with refusing("does not say where its ranks were", "--system"):
        system_of_table(frame)


def test_two_systems_are_refused() -> None:
    with pytest.raises(RequestError, match="2 systems: a, b"):
        system_of_table(table(("core", 2, 1, 2), ("core", 4, 1, 4), system=["a", "b"]))


def test_names_that_are_empty_or_without_a_version() -> None:
    system = system_of_table(table(("core", 2, 1, 2), ("core", 4, 1, 4), system="", mpi=["", "SMPI"]))
    assert (system.name, system.mpi, system.procedure) == ("table", [SystemLibrary(library="SMPI")], None)
