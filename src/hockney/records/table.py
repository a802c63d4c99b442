"""The tidy table: one row per measured value, from records, CSV or Parquet.

Times are seconds in memory, and microseconds in a file.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd

from hockney import reading, writing
from hockney.errors import RequestError
from hockney.records.columns import ALL, OPTIONAL, REQUIRED
from hockney.records.folder import Campaign
from hockney.records.levels import common
from hockney.records.record import MOST, MOST_WHOLE, SMALLEST, Record, Statistic
from hockney.records.visits import Choice, choice_of, levels_of, settle

HEADER = tuple(column.header for column in ALL if column.presence == "required")
"""Columns that every file has, in this order."""
STATISTICS: tuple[str, ...] = get_args(Statistic)
RATES = ("bandwidth_B_per_s", "message_rate_per_s")
"""Statistics that are not times: their rows leave the time empty and fill the column of that name."""

DIRECTIONS: Mapping[str, int] = {"bandwidth": 1, "bidirectional": 2}
"""Windowed operations, with the messages that pass in one slot of the window."""

_IN_FILE = {column.name: column.in_file for column in ALL if column.in_file}
"""Columns of seconds, which a file holds as microseconds under another name."""
_KINDS = {column.header: column.kind for column in ALL}
_COPIED = tuple(name for name in (*REQUIRED, *OPTIONAL) if name in Record.model_fields and name != "samples")
"""Columns that a record holds under the same name."""
_TRUTH = {"true": True, "false": False, "1": True, "0": False, "": None}


def from_records(
    records: Iterable[Record], launches: Iterable[Mapping[str, Any]] = (), choice: Choice = common
) -> pd.DataFrame:
    """Tidy rows of `records`, times in seconds.

    A row is what the visits of one point in one launch come to (`hockney.records.visits`). A record whose payload
    came out wrong gets no row.
    """
    right = [record for record in records if record.verified is not False]
    return rows_of(settle(right, levels_of(right), choice).records, launches)


def rows_of(records: Iterable[Record], launches: Iterable[Mapping[str, Any]] = ()) -> pd.DataFrame:
    """Tidy rows of each of `records`, times in seconds.

    A windowed operation of ours (`bandwidth`, `bidirectional`) gets rows for its two rates beside the time
    per message. `launches` (the lines of launches.jsonl) gives `eager_limit_B`, as far as the library tells it.
    """
    limits = {str(launch.get("id", "")): launch.get("eager_limit_B") or {} for launch in launches}
    rows: list[dict[str, Any]] = []
    for record in records:
        channel = "network" if record.locality == "network" else "shared_memory"
        limit = limits.get(record.launch, {}).get(channel) if record.locality else None
        rows.extend(_rows(record, limit))
    return _typed(pd.DataFrame(rows, columns=[*REQUIRED, *OPTIONAL]))


def _rows(record: Record, eager_limit_B: float | None) -> list[dict[str, Any]]:
    row = {name: getattr(record, name) for name in _COPIED}
    row |= {"samples": len(record.samples) or None, "eager_limit_B": eager_limit_B}
    if record.statistic in RATES:
        return [row | {record.statistic: record.value}]
    row |= {"time_s": record.value, "low_s": record.low, "high_s": record.high}
    if record.operation not in DIRECTIONS or record.statistic != "one_way":
        return [row]
    messages_per_s = DIRECTIONS[record.operation] / record.value
    bare = row | {"time_s": None, "low_s": None, "high_s": None}
    rates = {"bandwidth_B_per_s": record.bytes * messages_per_s, "message_rate_per_s": messages_per_s}
    # An empty message has a rate but no bandwidth.
    return [row, *(bare | {"statistic": name, name: rate} for name, rate in rates.items() if rate > 0)]


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Every column in its type: text with "" for unknown, nullable integers and truth values, float64."""
    typed = frame.copy()
    for column in ALL:
        if column.name not in typed.columns:
            continue
        values = typed[column.name]
        match column.kind:
            case "text":
                typed[column.name] = values.astype(object).fillna("").astype(str)
            case "count":
                typed[column.name] = values.astype("Float64").astype("Int64")
            case "real":
                typed[column.name] = values.astype("float64")
            case "whole":
                typed[column.name] = values.astype("int64")
            case "truth":
                typed[column.name] = values.astype("boolean")
    return typed


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write `.csv`, `.csv.gz` or `.parquet`, all or nothing; optional columns without any value are left out.

    RequestError for another ending or a folder that cannot be written.
    """
    filled = [name for name in OPTIONAL if name in frame.columns and _filled(frame[name])]
    extra = [name for name in frame.columns if name not in REQUIRED and name not in OPTIONAL]
    tidy = frame[[*REQUIRED, *filled, *extra]]
    times = [name for name in _IN_FILE if name in tidy.columns]
    tidy = tidy.assign(**{name: tidy[name] * 1e6 for name in times}).rename(columns=_IN_FILE)
    if path.name.endswith(".parquet"):
        with writing.replacing(path) as file:
            tidy.to_parquet(file, index=False)
    elif path.name.endswith(".csv.gz"):
        text = tidy.to_csv(index=False, float_format="%.12g")
        # Neither name nor time inside: the same table gives the same bytes.
        writing.replace(path, gzip.compress(text.encode(), mtime=0))
    elif path.name.endswith(".csv"):
        with writing.replacing_text(path) as lines:
            tidy.to_csv(lines, index=False, float_format="%.12g")
    else:
        raise RequestError(f"cannot write a table as {path.name!r}", "end the name in .csv, .csv.gz or .parquet")


def _filled(column: pd.Series[Any]) -> bool:
    return bool((column.notna() & (column.astype(str) != "")).any())


def load(path: Path) -> pd.DataFrame:
    """A tidy table (`.csv`, `.csv.gz`, `.parquet`) or a campaign folder, checked; duplicate rows are kept.

    Columns come back in their types (unknown text is ""); what a campaign had to skip is in
    `frame.attrs["warnings"]`. RequestError names the file and the row: a missing column, a time that is not
    a positive number, an unknown statistic, a line that is cut short.
    """
    if path.is_dir():
        campaign = Campaign.open(path)
        plan: dict[str, Any] = {}
        with suppress(RequestError):  # only fits need the plan
            plan = campaign.plan()
        frame = from_records(campaign.records(), campaign.launches(), choice_of(plan))
        frame.attrs["warnings"] = list(campaign.warnings)
        return frame
    raw, first_line = text_rows(path, "give a tidy CSV or Parquet table, or a campaign folder")
    missing = [name for name in HEADER if name not in raw.columns]
    if missing:
        raise RequestError(
            f"{path} is not a tidy table: column {', '.join(missing)} is missing",
            f"its header needs {','.join(HEADER)}; OSU and IMB text is read by `hockney import`",
        )
    return _checked(raw, path, first_line)


def text_rows(path: Path, hint: str) -> tuple[pd.DataFrame, int]:
    """All values as text, and the line number of the first row as a person counts.

    RequestError, with that hint, where there is no such file, or where it is damaged.
    """
    if path.name.endswith((".parquet", ".pq")):
        frame = reading.parquet(path, hint)
        for number, name in enumerate(frame.columns):
            if name in frame.columns[:number]:
                raise RequestError(f"{path} has two columns {name}", "remove one of them")
            frame[name] = frame[name].astype(object).where(frame[name].notna(), "").astype(str)
        return frame.reset_index(drop=True), 1
    data = reading.unpacked(path, hint)
    try:
        text = data.decode("utf-8-sig")
        if not text.strip():
            raise pd.errors.EmptyDataError
        frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, skip_blank_lines=False)
    except pd.errors.EmptyDataError as error:
        raise RequestError(f"{path} is empty", "give a tidy table with a header line") from error
    except ValueError as error:
        what = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise RequestError(f"{path} cannot be read: {what}", "restore the file, or import it again") from error
    if not isinstance(frame.index, pd.RangeIndex):
        frame = _without_last_comma(frame, path)
    last = text.rstrip().splitlines()[-1]
    if '"' not in last and last.count(",") < len(frame.columns) - 1:
        raise RequestError(
            f"{path}: its last line is cut short: {last!r}", "restore the file, or remove that line"
        )
    return frame[(frame != "").any(axis="columns")], 2


def _without_last_comma(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The same table where each row ends in a comma; RequestError for rows that are longer than the header.

    pandas takes what is before for an index.
    """
    if frame.index.nlevels > 1 or not len(frame.columns) or not (frame.iloc[:, -1] == "").all():
        raise RequestError(f"{path}, row 2: more values than the header has names", "correct the header")
    shifted = frame.reset_index().iloc[:, :-1]
    return shifted.set_axis(frame.columns, axis="columns")


def _checked(raw: pd.DataFrame, path: Path, first_row: int) -> pd.DataFrame:
    def refuse(bad: pd.Series[bool], name: str, what: str, hint: str) -> None:
        if bad.any():
            index = bad.index[int(np.argmax(bad.to_numpy()))]
            value = raw.loc[index, name]
            count = f" (and {int(bad.sum()) - 1} more rows)" if bad.sum() > 1 else ""
            shown = f"{name} {value!r} {what}" if str(value) else f"{name} is missing"
            raise RequestError(f"{path}, row {int(index) + first_row}: {shown}{count}", hint)

    # A foreign column is kept, unless it has a name that means something else here.
    frame = raw.drop(columns=list(_IN_FILE), errors="ignore")
    statistic = raw["statistic"]
    refuse(~statistic.isin(STATISTICS), "statistic", "is unknown", f"known: {', '.join(STATISTICS)}")
    for name, kind in _KINDS.items():
        if name not in raw.columns or kind not in ("count", "whole", "real"):
            continue
        text = raw[name].str.strip()
        number = pd.to_numeric(text.where(text != "", None), errors="coerce").astype("float64")
        refuse((text != "") & ~np.isfinite(number), name, "is not a number", "correct or remove that row")
        frame[name] = number
        if kind != "real":
            refuse(number.notna() & (number != number.round()), name, "is not a whole number", "correct that row")
            refuse(number.abs() > MOST_WHOLE, name, "is too large a number", "correct or remove that row")
    refuse(~(frame["bytes"] >= 0), "bytes", "is not a size", "correct or remove that row")
    frame["repetition"] = frame["repetition"].fillna(0)
    positive = "correct or remove that row: a measured value is a positive number"
    refuse(~statistic.isin(RATES) & ~(frame["time_us"] > 0), "time_us", "is not a positive time", positive)
    for name in (*_IN_FILE.values(), *RATES):
        if name in frame.columns:
            unlikely = (frame[name] > MOST) | ((frame[name] > 0) & (frame[name] < SMALLEST))
            refuse(unlikely, name, "is no value that can be measured", "correct or remove that row")
    for name in RATES:
        if name in frame.columns:
            refuse((statistic == name) & ~(frame[name] > 0), name, "is not a positive rate", positive)
        elif (statistic == name).any():
            raise RequestError(
                f"{path} has rows with statistic {name} but no column of that name", "add the column"
            )
    if "oversubscribed" in frame.columns:
        truth = raw["oversubscribed"].str.strip().str.lower()
        refuse(~truth.isin(list(_TRUTH)), "oversubscribed", "is neither true nor false", "correct that row")
        frame["oversubscribed"] = truth.map(_TRUTH)
    for name, in_file in _IN_FILE.items():
        if in_file in frame.columns:
            frame[in_file] /= 1e6
            frame = frame.rename(columns={in_file: name})
    return _typed(frame.reset_index(drop=True))


def operations(frame: pd.DataFrame) -> list[str]:
    """The operations of a table, sorted."""
    return sorted(str(name) for name in frame["operation"].unique())
