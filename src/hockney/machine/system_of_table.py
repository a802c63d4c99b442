"""The best description of a system that a tidy table itself supports, where no system file is given."""

from __future__ import annotations

from collections.abc import Mapping as Words
from typing import Literal, cast, get_args

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.machine.system import Mapping, Node, System, SystemLibrary, SystemNetwork, Turn

_FILL: list[Turn] = ["core", "cache", "numa", "package", "node"]
_DEAL: list[Turn] = ["node", "core", "cache", "numa", "package"]
ORDERS: Words[str, list[Turn]] = {
    **dict.fromkeys(("", "core", "cache", "l3cache", "numa", "socket", "package", "slot", "hwthread"), _FILL),
    "node": _DEAL,
}
"""Words of launchers. Inside a node nothing is known, so that all but `node` mean the same."""

Procedure = Literal["osu", "imb", "pico", "hockney"]


def system_of_table(frame: pd.DataFrame) -> System:
    """A system whose nodes have one level, from the columns system, mpi, mapping, nodes, ppn, ranks and source.

    A node has as many cores as a row puts ranks on one. Each mapping word that is a launcher's becomes a mapping
    (`socket` is not told from `core`); others, the channels of an experiment, are left out. Network bandwidth
    and latency stay unknown. RequestError where rows are of several systems, or none says on how many nodes its
    ranks were.
    """
    names = sorted(set(frame["system"]) - {""})
    if len(names) > 1:
        raise RequestError(
            f"the table is of {len(names)} systems: {', '.join(names)}", "choose the rows of one of them"
        )
    placed = _placed(frame)
    mappings = {
        str(word): _mapping(str(word), rows) for word, rows in placed.groupby("mapping") if str(word) in ORDERS
    }
    if not mappings:
        raise RequestError(
            "the table does not say where its ranks were (nodes and ppn, or a launcher's mapping, are empty)",
            "describe the system in a file and give it with --system",
        )
    sources = set(frame["source"]) - {""} if "source" in frame.columns else set()
    source = sources.pop() if len(sources) == 1 else ""
    return System(
        schema_version=1,
        name=names[0] if names else "table",
        description="From the table alone: which ranks of a node share a cache or a package is not known.",
        source="columns system, mpi, mapping, nodes, ppn and ranks of the table",
        node=Node(packages=1, cores_per_cache=int(placed["ppn"].max())),
        network=SystemNetwork(topology="switch"),
        mpi=[_library(str(name)) for name in sorted(set(frame["mpi"]) - {""})],
        procedure=cast(Procedure, source) if source in get_args(Procedure) else None,
        mappings=mappings,
    )


def _placed(frame: pd.DataFrame) -> pd.DataFrame:
    """mapping, nodes and ppn of the rows that have them; nodes or ppn may follow from ranks and the other."""
    known = frame[["mapping", "ranks", "nodes", "ppn"]].astype(
        {"ranks": "float64", "nodes": "float64", "ppn": "float64"}
    )
    for column, other in (("ppn", "nodes"), ("nodes", "ppn")):
        known[column] = known[column].where(known[column].notna(), np.ceil(known["ranks"] / known[other]))
    known = known.dropna()
    if not known.empty and known[["ranks", "nodes", "ppn"]].min().min() < 1:
        raise RequestError(
            "the table has rows with less than one rank, node or rank on a node", "correct or remove those rows"
        )
    return known


def _mapping(word: str, rows: pd.DataFrame) -> Mapping:
    """What holds in all rows: the ranks of a node, or else the number of nodes, or else that nodes are filled."""
    ppn, nodes = set(rows["ppn"]), set(rows["nodes"])
    if len(ppn) == 1:
        return Mapping(order=ORDERS[word], binding=None, ppn=int(ppn.pop()))
    if len(nodes) == 1:
        return Mapping(order=ORDERS[word], binding=None, ppn="even", nodes=int(nodes.pop()))
    return Mapping(order=ORDERS[word], binding=None)


def _library(name: str) -> SystemLibrary:
    """`Open MPI 4.1.5` → Open MPI, 4.1.5."""
    library, _, version = name.rpartition(" ")
    return (
        SystemLibrary(library=library, version=version) if version[:1].isdigit() else SystemLibrary(library=name)
    )
