"""The tidy table (CSV, gzipped CSV, Parquet) back into records."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from hockney.errors import RequestError
from hockney.importers.base import Given, Imported, Importer, importers
from hockney.records import columns, table
from hockney.records.record import Record

_COPIED = tuple(
    column.name
    for column in columns.ALL
    if column.name in Record.model_fields and column.name not in ("samples", "bytes", "repetition", "statistic")
)
"""Columns that are fields of a record under the same name."""
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


def read(path: Path, _text: str, _given: Given) -> Imported:
    """Records of all rows. RequestError names the row that is wrong: a table is taken whole or not at all."""
    frame = table.load(path)
    if frame.empty:
        raise RequestError(f"{path} has a header but no rows", "write the table again, or leave it out")
    imported = Imported(tool="tidy table")
    lost = [name for name in _NOT_KEPT if name in frame.columns and bool(frame[name].notna().any())]
    if lost:
        imported.warnings.append(f"{path}: records have no field for {', '.join(lost)}; not kept")
    limits = _eager_limits(frame)
    if limits:
        imported.metadata["eager_limit_B"] = limits
    kept = frame[~_derived(frame)]
    first = 1 if path.name.endswith((".parquet", ".pq")) else 2
    cells = {name: _values(kept[name]) for name in kept.columns}
    for index in range(len(kept)):
        row = {name: values[index] for name, values in cells.items()}
        where = f"{path}:{int(kept.index[index]) + first}"
        try:
            imported.records.append(_record(row, where))
        except ValidationError as error:
            field = error.errors()[0]
            name = ".".join(map(str, field["loc"]))
            raise RequestError(
                f"{where}: {name} {row.get(name)!r}: {field['msg']}", "correct or remove that row"
            ) from error
    return imported


def _values(column: pd.Series[Any]) -> list[Any]:
    """Python values, None for unknown."""
    return [None if value is pd.NA or _is_nan(value) else value for value in column.tolist()]


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _record(row: dict[str, Any], where: str) -> Record:
    fields = {name: row[name] for name in _COPIED if row.get(name) not in (None, "")}
    rate = row["statistic"] in table.RATES
    for name in ("low", "high"):
        # A rate's interval stands in the columns of a time's, and is none.
        if (bound_s := row.get(f"{name}_s")) is not None:
            fields[name] = bound_s * 1e6 if rate else bound_s
    return Record(
        **{"source": "", "algorithm": "default"} | fields,
        bytes=row["bytes"],
        statistic=row["statistic"],
        repetition=row["repetition"],
        value=row[row["statistic"] if rate else "time_s"],
        origin=where,
    )


def _derived(frame: pd.DataFrame) -> pd.Series[bool]:
    """Rates that follow from the time per message of the same point: the table makes them anew."""
    rates = frame["statistic"].isin(table.RATES)
    if not rates.any():
        return rates
    point = [_values(frame[name]) for name in _POINT if name in frame.columns]
    keys = pd.Series(list(zip(*point, strict=True)), index=frame.index)
    timed = keys[(frame["statistic"] == "one_way") & frame["operation"].isin(list(table.DIRECTIONS))]
    return rates & keys.isin(set(timed))


def _eager_limits(frame: pd.DataFrame) -> dict[str, float]:
    """Eager limits that the library reports, by channel, where the table has a single value for the channel."""
    if "eager_limit_B" not in frame.columns or "locality" not in frame.columns:
        return {}
    known = frame[frame["eager_limit_B"].notna() & (frame["locality"] != "")]
    limits = {}
    for channel, rows in known.groupby(
        (known["locality"] == "network").map({True: "network", False: "shared_memory"})
    ):
        values = rows["eager_limit_B"].unique()
        if len(values) == 1:
            limits[str(channel)] = float(values[0])
    return limits


importers.register("tidy")(Importer("tidy table (.csv, .csv.gz, .parquet)", recognises, read))
