"""Empty fields of records: what the text around their tables says, and what the user gave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.importers.base import IDLE, AroundTable, Fact, Given
from hockney.records.columns import RecordColumns, codes, filled
from hockney.records.library_algorithms import component_of, library_algorithm, library_names
from hockney.records.record import MOST_EXACT
from hockney.registry import did_you_mean
from hockney.schedule.catalogue import algorithms

SAID = ("mpi", "ranks", "nodes", "ppn", "mapping", "algorithm")
"""What texts say, by the names of the options that say it, too."""


def fill(records: RecordColumns, table: NDArray[np.intp], around: Sequence[AroundTable], given: Given) -> None:
    """Fill empty fields with what the texts say and the user gave; where ranks idle, nodes are unknown."""
    frame = records.frame
    of_table = [of.filled(given) for of in around]
    for name in ("system", "mpi", "mapping"):
        frame[name] = filled(frame[name], table, [getattr(of, name) for of in of_table])
    kinds, places = _kinds(frame, table, "mpi")
    names = [_algorithm(row, around[number], given) for number, row in places]
    frame["algorithm"] = filled(frame["algorithm"], kinds, names)
    idle = np.array([IDLE.search(variant) is not None for variant in frame["variant"].cat.categories], dtype=bool)
    is_overridden = "ranks" in getattr(given, "overriding", ())
    launched = np.array([0 if is_overridden else of.launched() for of in around])[table]
    frame["ranks"] = frame["ranks"].fillna(_numbers(of_table, "ranks", table))
    some_idle = idle[frame["variant"].cat.codes] | (frame["ranks"].fillna(MOST_EXACT) < launched).to_numpy(bool)
    for name in ("nodes", "ppn"):
        numbers = _numbers(of_table, name, table)
        frame[name] = frame[name].fillna(numbers.mask(some_idle & numbers.ne(1).fillna(value=True)))
    pairs = ((frame["locality"] == "") & (frame["ranks"] == 2)).fillna(value=False).astype(bool)
    # On several nodes ranks may be many on the first and few on the last.
    are_plain = frame["ppn"].isna() & (frame["nodes"].eq(1) | frame["nodes"].eq(frame["ranks"]))
    frame["ppn"] = frame["ppn"].mask(are_plain.fillna(value=False), frame["ranks"] // frame["nodes"])
    frame["locality"] = frame["locality"].astype(object).mask(pairs, given.locality or "").astype("category")


def _kinds(
    frame: pd.DataFrame, table: NDArray[np.intp], *names: str
) -> tuple[NDArray[np.intp], list[tuple[int, dict[str, str]]]]:
    """The kind of each record by table, operation and these names, and of each kind its table and those."""
    rows = frame[["algorithm", "operation", *names]].assign(table=table)
    _, first, kinds = np.unique(codes(rows, list(rows.columns)), return_index=True, return_inverse=True)
    of_kinds = rows.iloc[first].astype(str)
    each = [dict(zip(of_kinds.columns, row, strict=True)) for row in of_kinds.to_numpy().tolist()]
    return kinds, [(int(row["table"]), row) for row in each]


def _numbers(of_table: Sequence[Given], name: str, table: NDArray[np.intp]) -> pd.Series[int]:
    return pd.Series([getattr(of, name) for of in of_table], dtype="Int64").iloc[table].reset_index(drop=True)


def _algorithm(row: dict[str, str], around: AroundTable, given: Given) -> str:
    """The name of a table's algorithm; `default` without one, for then the library's own choice was measured.

    RequestError where `--algorithm` is no name of an algorithm of the operation.
    """
    operation, component = row["operation"], component_of(row["mpi"])
    said = "" if "algorithm" in getattr(given, "overriding", ()) else around.algorithm(operation)
    word = said or given.algorithm
    if not word or row["algorithm"]:
        return "default"
    names = library_names(operation, component)
    ours = [algorithm.name for algorithm in algorithms(operation)]
    if name := library_algorithm(operation, word, component) or (word if said or word in ours else ""):
        return name
    is_named = component or not word.isdecimal()
    known = f"known: {', '.join(names or ours)}" if is_named else "give the library with --mpi"
    of_library = f" in {row['mpi']}" if row["mpi"] else ""
    raise RequestError(
        f"--algorithm {word!r} names no algorithm of {operation}{of_library}",
        did_you_mean(word, (*names, *ours)) + known,
    )


def against(
    records: RecordColumns, table: NDArray[np.intp], around: Sequence[AroundTable], given: Given
) -> tuple[frozenset[str], list[str]]:
    """The options that override what all texts say alike, and sentences on options that differ from a text."""
    overriding: set[str] = set()
    notes = []
    _, kinds = _kinds(records.frame, table)
    words = [around[place].algorithm(row["operation"]) for place, row in kinds if not row["algorithm"]]
    for name in SAID:
        option = getattr(given, name)
        facts = [of.facts.get(name) for of in around]
        if name == "algorithm":
            facts = [Fact(word, "", word) for word in words]
        values = {fact.value if fact else None for fact in facts}
        others = [fact for fact in facts if fact and fact.value not in (None, "", option)]
        if not option or not others:
            continue
        if len(values) == 1:
            overriding.add(name)
        taken = "overrides" if len(values) == 1 else "is not taken for tables whose text says otherwise:"
        where = f" ({others[0].where})" if others[0].where else ""
        notes.append(f"--{name} {option} {taken} {others[0].words}{where}")
    for of in around:
        for name, fact in of.forced().items():
            if "coll_tuned" in name and not any("use_dynamic_rules" in other for other in of.settings):
                heeds = (
                    f"Open MPI heeds {name} only with coll_tuned_use_dynamic_rules 1, which the text does not say"
                )
                notes += [f"{heeds} ({fact.where})"] if not any(note.startswith(heeds) for note in notes) else []
    return frozenset(overriding), notes
