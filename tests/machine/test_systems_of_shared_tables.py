"""The shipped systems against every row of the published tables they describe."""

from __future__ import annotations

import pandas as pd
import pytest
from tests.capabilities import shared

from hockney.machine.placement import Placement, placement, placement_of_pair
from hockney.machine.system import System, find_system
from hockney.machine.system_of_table import system_of_table
from hockney.records import table


def rows_of(name: str, system: str) -> pd.DataFrame:
    """The rows of one system in the tidy table of one folder."""
    frame = table.load(shared(name) / "tidy.csv.gz")
    return frame[frame["system"] == system]


def extent(placed: Placement) -> tuple[int, int]:
    return placed.nodes, placed.ppn


def wrong(system: System, frame: pd.DataFrame) -> list[tuple[object, ...]]:
    """Jobs of the table whose nodes or ranks per node are not those of their placement."""
    jobs = frame[["mapping", "ranks", "nodes", "ppn"]].drop_duplicates()
    assert len(jobs) > 0
    return [
        (mapping, ranks, nodes, ppn)
        for mapping, ranks, nodes, ppn in jobs.itertuples(index=False)
        if extent(placement(system, mapping, ranks, nodes, ppn)) != (nodes, ppn)
        # A mapping of its own tells the same without being told; the default one is for what is not known.
        or (mapping and extent(placement(system, mapping, ranks)) != (nodes, ppn))
    ]


@pytest.mark.parametrize(
    ("folder", "name"), [("orfeo-epyc", "orfeo-epyc"), ("pico", "fugaku"), ("pico", "marenostrum5")]
)
def test_every_collective_has_the_nodes_of_its_row(folder: str, name: str) -> None:
    frame = rows_of(folder, name)
    collectives = frame[frame["operation"] != "pingpong"]
    assert wrong(find_system(name), collectives) == []
    of_itself = system_of_table(collectives)
    assert wrong(of_itself, collectives[collectives["mapping"].isin(of_itself.mappings)]) == []


def test_a_ping_pong_takes_longer_the_further_apart_its_cores_are() -> None:
    """Medians of 8 B over all partners. NUMA domains of 16 cores are not named in the table, but show in it."""
    frame = rows_of("orfeo-epyc", "orfeo-epyc")
    frame = frame[(frame["operation"] == "pingpong") & (frame["bytes"] == 8)]
    system = find_system("orfeo-epyc")
    locality = [
        placement_of_pair(system, channel, core).locality(0, 1)
        for channel, core in zip(frame["mapping"], frame["repetition"], strict=True)
    ]
    median_s = frame["time_s"].groupby(locality).median()
    assert list(median_s.sort_values().index) == ["cache", "numa", "package", "node", "network"]
    # The smallest step, of the domains the table does not name, exceeds the spread inside one of them.
    spread_s = frame["time_s"].groupby(locality).quantile(0.9) - frame["time_s"].groupby(locality).quantile(0.1)
    assert median_s["package"] - median_s["numa"] > spread_s["numa"]
