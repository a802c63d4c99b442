"""The tidy table (CSV, gzipped CSV, Parquet) back into records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import ValidationError

from hockney.errors import RequestError
from hockney.importers.base import Given, Imported, Importer, importers
from hockney.records import columns, table
from hockney.records.app_rows import apart, applications
from hockney.records.columns import STATED, TYPES, UNKNOWN, RecordColumns, codes, filled
from hockney.records.keys import DIRECTIONS
from hockney.records.statistic import RATES

_NOT_KEPT = ("samples",)
"""Columns that a record has no field for: it holds the samples themselves."""
_POINT = (*(name for name in columns.POINT if name != "statistic"), "repetition")
"""What the rates of a point share with its time."""


def recognises(path: Path, text: str) -> bool:
    """Whether the name ends in `.parquet`, or in `.csv` or `.csv.gz` and the first line is a header."""
    if path.name.endswith((".parquet", ".pq")):
        return True
    first = text.lstrip().partition("\n")[0]
    return path.name.endswith((".csv", ".csv.gz")) and not first.startswith("#")


def read(path: Path, _text: str, given: Given) -> Imported:
    """Records of all rows. RequestError names the row that is wrong: a table is taken whole or not at all."""
    frame = table.load(path, given.statistic, as_text=False)
    if frame.empty:
        raise RequestError(f"{path} has a header but no rows", "write the table again, or leave it out")
    imported = Imported(tool="tidy table")
    lost = [name for name in _NOT_KEPT if name in frame.columns and bool(frame[name].notna().any())]
    if lost:
        imported.warn(str(path), f"records have no field for {', '.join(lost)}; not kept")
    for name in STATED:
        if stated := _by_channel(frame, name):
            imported.metadata[name] = stated
    first = 1 if path.name.endswith((".parquet", ".pq")) else 2
    says_ranks = frame.assign(ranks=frame["ranks"].fillna(given.ranks)) if given.ranks else frame
    _, imported.apps = apart(says_ranks)
    is_run = frame["operation"].isin(applications())
    frame = frame[~is_run] if is_run.any() else frame
    if frame.empty:
        return imported
    is_derived = _derived(frame)
    frame = frame[~is_derived] if is_derived.any() else frame
    imported.columns = _columns(frame, path, first)
    del frame, says_ranks
    refused = imported.columns.first_refused()
    if refused is not None:
        try:
            imported.columns[refused]
        except ValidationError as error:
            field = error.errors()[0]
            name = ".".join(map(str, field["loc"]))
            raise RequestError(
                f"{imported.columns.frame['origin'][refused]}: {name} {field['input']!r}: {field['msg']}",
                "correct or remove that row",
            ) from error
    return imported


def _columns(rows: pd.DataFrame, path: Path, first: int) -> RecordColumns:
    """The records of rows of a table, whose first row is on the line `first` of the file."""
    is_rate = rows["statistic"].isin(RATES)
    value = rows["time_s"].copy()
    for name in RATES:
        if name in rows.columns:
            value = value.mask(rows["statistic"] == name, rows[name])
    fields = {name: rows[name] if name in rows.columns else UNKNOWN[kind] for name, kind in TYPES.items()}
    # A rate's interval stands in the columns of a time's, and is none.
    bounds = {name: rows[f"{name}_s"] for name in ("low", "high") if f"{name}_s" in rows.columns}
    fields |= {"value": value, **{name: bound.mask(is_rate, bound * 1e6) for name, bound in bounds.items()}}
    algorithm = filled(rows["algorithm"].astype("category"), np.zeros(len(rows), int), ["default"])
    fields["algorithm"] = pd.Series(algorithm, rows.index)
    line = pd.Series(rows.index + first, index=rows.index)
    typed = pd.DataFrame(fields, index=rows.index).astype(TYPES)
    return RecordColumns(typed.assign(origin=f"{path}:" + line.astype(str)))


def _derived(frame: pd.DataFrame) -> pd.Series[bool]:
    """Rates that follow from the time per message of the same point: the table makes them anew."""
    rates = frame["statistic"].isin(RATES)
    if not rates.any():
        return rates
    point = codes(frame, [name for name in _POINT if name in frame.columns])
    timed = (frame["statistic"] == "one_way") & frame["operation"].isin(list(DIRECTIONS))
    return rates & np.isin(point, point[timed])


def _by_channel(frame: pd.DataFrame, name: str) -> dict[str, float | list[float]]:
    """What the library says of itself, by channel, where the table has a single value for the channel."""
    if name not in frame.columns or "locality" not in frame.columns:
        return {}
    known = frame[frame[name].notna() & (frame[name] != "") & (frame["locality"] != "")]
    stated: dict[str, float | list[float]] = {}
    for channel, rows in known.groupby(
        (known["locality"] == "network").map({True: "network", False: "shared_memory"})
    ):
        values = rows[name].unique()
        if len(values) == 1:
            said = values[0]
            stated[str(channel)] = [*map(float, said.split())] if isinstance(said, str) else float(said)
    return stated


importers.register("tidy")(Importer("tidy table (.csv, .csv.gz, .parquet)", recognises, read))
