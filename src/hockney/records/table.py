"""The tidy table: one row per measured value, from records, CSV or Parquet.

Times are seconds in memory, and microseconds in a file.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney import reading, writing
from hockney.errors import RequestError
from hockney.records.columns import (
    ALL,
    OPTIONAL,
    REQUIRED,
    SCALE,
    STATED,
    VISITED,
    RecordColumns,
    mistyped,
    rows_of_csv,
    without_last_comma,
)
from hockney.records.keys import COLLECTIVES, DIRECTIONS
from hockney.records.levels import common
from hockney.records.record import MOST, MOST_EXACT, SMALLEST, Record
from hockney.records.statistic import RATES, STATISTICS
from hockney.records.visits import Choice, choice_of, levels_of, settle
from hockney.registry import did_you_mean
from hockney.units import listed

if TYPE_CHECKING:
    from hockney.records.journal import LaunchLine

HEADER = tuple(column.header for column in ALL if column.presence == "required")
"""Columns that every file has, in this order."""
_IN_FILE = {column.name: column.in_file for column in ALL if column.in_file}
"""Columns of seconds, which a file holds as microseconds under another name."""
_KINDS = {column.header: column.kind for column in ALL}
_COPIED = tuple(name for name in (*REQUIRED, *OPTIONAL) if name in Record.model_fields and name != "samples")
"""Columns that a record holds under the same name."""
_TRUTH = {"true": True, "false": False, "1": True, "0": False, "": None}


def from_records(
    records: Iterable[Record], launches: Iterable[LaunchLine] = (), choice: Choice = common
) -> pd.DataFrame:
    """Tidy rows of `records`, times in seconds.

    A row is what the visits of one point in one launch come to (`hockney.records.visits`). A record whose payload
    came out wrong gets no row.
    """
    right = [record for record in records if record.verified is not False]
    return rows_of(settle(right, levels_of(right), choice).records, launches)


def from_imported(
    records: RecordColumns, launches: Iterable[LaunchLine] = (), *, as_text: bool = True
) -> pd.DataFrame:
    """`from_records` of records without samples between references, as all that are imported.

    Without `as_text`, columns of text stay categories, which take a tenth of the memory.
    """
    ours = records.frame["source"] == "hockney"
    if ours.any() and records.frame.loc[ours, list(VISITED)].duplicated().any():
        # What several visits of a point come to depends on all that are alike.
        return from_records(records, launches)
    frame = records.frame
    if "verified" in frame.columns:
        frame = frame[[value is not False for value in frame["verified"]]]
    low, high = frame["low"].fillna(frame["value"]), frame["high"].fillna(frame["value"])
    bounded = ours & ((low != frame["value"]) | (high != frame["value"]))
    # As in `settle`, the interval of a visit of ours holds its time.
    frame = frame.assign(
        low=frame["low"].mask(bounded, np.minimum(low, frame["value"])),
        high=frame["high"].mask(bounded, np.maximum(high, frame["value"])),
    )
    return _rows(frame, launches, as_text=as_text)


def rows_of(records: Iterable[Record], launches: Iterable[LaunchLine] = ()) -> pd.DataFrame:
    """Tidy rows of each of `records`, times in seconds.

    A windowed operation of ours (`bandwidth`, `bidirectional`) gets rows for its two rates beside the time
    per message. `launches` (the lines of launches.jsonl) gives `eager_limit_B` and
    `breaks_B`, as far as the library tells them.
    """
    return _rows(RecordColumns.of(list(records)).frame, launches)


def _rows(records: pd.DataFrame, launches: Iterable[LaunchLine], *, as_text: bool = True) -> pd.DataFrame:
    """`rows_of` the records of a `RecordColumns.frame`."""
    statistic, value = records["statistic"], records["value"]
    is_time = ~statistic.isin(RATES)
    samples = records["samples"].map(len) if "samples" in records.columns else pd.Series(0, index=records.index)
    rows = records[list(_COPIED)].assign(
        samples=samples.where(samples > 0),
        eager_limit_B=_by_channel(records, launches, "eager_limit_B", np.nan).astype(np.float64),
        breaks_B=_by_channel(records, launches, "breaks_B", ""),
        time_s=value.where(is_time),
        low_s=records["low"].where(is_time),
        high_s=records["high"].where(is_time),
        **{name: value.where(statistic == name) for name in RATES},
    )
    timed = rows[rows["operation"].isin(list(DIRECTIONS)) & (statistic == "one_way")]
    if len(timed):
        messages_per_s = timed["operation"].astype(object).map(dict(DIRECTIONS)) / timed["time_s"]
        rates = {"bandwidth_B_per_s": timed["bytes"] * messages_per_s, "message_rate_per_s": messages_per_s}
        bare = timed.assign(time_s=np.nan, low_s=np.nan, high_s=np.nan)
        # An empty message has a rate but no bandwidth.
        further = [bare.assign(statistic=name, **{name: rate})[rate > 0] for name, rate in rates.items()]
        rows = pd.concat([_typed(part) for part in (rows, *further)]).sort_index(kind="stable")
    return _typed(rows[[*REQUIRED, *OPTIONAL]].reset_index(drop=True), as_text=as_text)


def _by_channel(
    records: pd.DataFrame, launches: Iterable[LaunchLine], name: str, unknown: float | str
) -> NDArray[np.object_]:
    """What each record's launch says by `name` of its channel, or `unknown`; of several numbers their text."""
    said = {launch.id: getattr(launch, name) for launch in launches}
    of_launch = [said.get(launch, {}) for launch in records["launch"].cat.categories]
    by_channel = [
        np.array([_cell(of.get(channel), unknown) for of in of_launch], dtype=object)
        for channel in ("shared_memory", "network")
    ]
    near, far = (values[records["launch"].cat.codes] for values in by_channel)
    of_records = np.where(records["locality"] == "network", far, near)
    return np.where(records["locality"] == "", unknown, of_records)


def _cell(said: float | list[float] | None, unknown: float | str) -> float | str:
    if isinstance(said, list):
        return " ".join(f"{size_B:.15g}" for size_B in said)
    return unknown if said is None else said


def _typed(frame: pd.DataFrame, *, as_text: bool = True) -> pd.DataFrame:
    """Every column in its type: text with "" for unknown, nullable integers and truth values, float64."""
    typed = frame.astype({str(name): str for name in frame.select_dtypes("category").columns if as_text})
    for column in ALL:
        if column.name not in typed.columns:
            continue
        values = typed[column.name]
        match column.kind:
            case "text" if values.dtype != "category":
                known = values.astype(object).fillna("") if values.hasnans else values
                typed[column.name] = known.astype(str)
            case "count" if values.dtype != "Int64":
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

    RequestError for a column that lacks, another ending, or a folder that cannot be written.
    """
    if missing := [name for name in REQUIRED if name not in frame.columns]:
        raise RequestError(
            f"a tidy table has column {', '.join(missing)}, which this one lacks",
            "add it; pandas.NA in all rows says that it is unknown",
        )
    filled = [name for name in OPTIONAL if name in frame.columns and frame[name].dropna().ne("").any()]
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


def load(path: Path, statistic: str = "", *, as_text: bool = True) -> pd.DataFrame:
    """A tidy table (`.csv`, `.csv.gz`, `.parquet`) or a campaign folder, checked; duplicate rows are kept.

    Columns come back in their types (unknown text is ""). What a campaign had to skip is in
    `frame.attrs["warnings"]`, what it knows of the library's own choices beside times in
    `frame.attrs["defaults"]`. All rows of a table without that column are of `statistic`. `as_text` as of
    `from_imported`.
    RequestError names the file and the row: a missing column, a time that is not a positive number, an unknown
    statistic, a line that is cut short.
    """
    if path.is_dir():
        from hockney.records.defaults import defaults_of
        from hockney.records.folder import Campaign
        from hockney.records.journal import StoredPlan

        campaign = Campaign.open(path)
        plan = StoredPlan()
        with suppress(RequestError):  # only fits need the plan
            plan = campaign.plan()
        launches = campaign.launches()
        columns = campaign.columns()
        frame = (
            from_records(campaign.records(), launches, choice_of(plan))
            if columns is None
            else from_imported(columns, launches)
        )
        frame.attrs["defaults"] = defaults_of(path, launches)
        frame.attrs["warnings"] = list(campaign.warnings)
        return frame
    few = [name for name, kind in _KINDS.items() if kind != "real"]
    raw, first_line = text_rows(path, "give a tidy CSV or Parquet table, or a campaign folder", few)
    if statistic and "statistic" not in raw.columns:
        raw = raw.assign(statistic=statistic)
    missing = [name for name in HEADER if name not in raw.columns]
    if missing == ["statistic"]:
        raise RequestError(
            f"{path} does not say which times it holds: it has no column statistic",
            f"`hockney import --statistic`, evaluate and predict take one of {listed(STATISTICS)}",
        )
    if missing:
        raise _no_table(path, missing)
    for name in raw.columns:
        if name not in _KINDS and (near := mistyped(name, raw.columns)):
            raise RequestError(
                f"{path} has a column {name!r} and none of the name {near!r}, which it may mean",
                f"call it {near} if it is that, in its unit; else give it a name less alike, such as own_{name}",
            )
    return _typed(_checked(raw, path, first_line), as_text=as_text)


def _no_table(path: Path, missing: Sequence[str]) -> RequestError:
    """What to say of a file without these columns."""
    what = (
        "its first line names no column"
        if len(missing) == len(HEADER)
        else f"column {', '.join(missing)} is missing"
    )
    return RequestError(
        f"{path} is not a tidy table: {what}",
        f"`hockney import` reads what OSU, IMB and others print; a table begins with {','.join(HEADER)}",
    )


def _expect_columns(path: Path, data: bytes) -> None:
    """RequestError where the first line has none of the names: a text of another kind, no damaged table."""
    if not set(HEADER) & set(data.decode("utf-8-sig").lstrip().splitlines()[0].split(",")):
        raise _no_table(path, HEADER)


def text_rows(path: Path, hint: str, few: Sequence[str] = ()) -> tuple[pd.DataFrame, int]:
    """All values as text, and the line number of the first row as a person counts.

    `few` are columns of few different texts: those of a CSV come as categories.
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
        # Checked here: pandas would name the place of a wrong byte in a part of the file.
        data.decode("utf-8-sig")
        whole = data.rstrip()
        last = whole[whole.rfind(b"\n") + 1 :].decode("utf-8-sig").splitlines()[-1:]
        del whole
        if not last:
            raise pd.errors.EmptyDataError
        frame = rows_of_csv(data, few)
    except pd.errors.EmptyDataError as error:
        raise RequestError(f"{path} is empty", "give a tidy table with a header line") from error
    except pd.errors.ParserError as error:
        _expect_columns(path, data)
        where = re.search(r"Expected (\d+) fields in (line \d+), saw (\d+)", str(error))
        what = f"{where[2]} has {where[3]} values, its first line {where[1]}" if where else "it is no CSV"
        raise RequestError(f"{path} is damaged: {what}", "restore the file, or import it again") from error
    except ValueError as error:
        what = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise RequestError(f"{path} cannot be read: {what}", "restore the file, or import it again") from error
    if not isinstance(frame.index, pd.RangeIndex):
        _expect_columns(path, data)
        frame = without_last_comma(frame, path)
    if '"' not in last[0] and last[0].count(",") < len(frame.columns) - 1:
        raise RequestError(
            f"{path}: its last line is cut short: {last[0]!r}", "restore the file, or remove that line"
        )
    filled = (frame != "").any(axis="columns")
    return frame if filled.all() else frame[filled], 2


def _checked(raw: pd.DataFrame, path: Path, first_row: int) -> pd.DataFrame:
    def refuse(bad: pd.Series[bool], name: str, what: str, hint: str = "correct or remove that row") -> None:
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
    for name in [name for name, kind in _KINDS.items() if name in raw.columns and kind not in ("text", "truth")]:
        # Each text once: most are the same in thousands of rows.
        place, texts = raw[name].factorize()
        text = pd.Series(texts, dtype=str).str.strip()
        once = pd.to_numeric(text.where(text != "", None), errors="coerce").astype("float64")
        is_none = (text != "") & ~np.isfinite(once)
        refuse(pd.Series(is_none.to_numpy()[place], index=raw.index), name, "is not a number")
        frame[name] = number = pd.Series(once.to_numpy()[place], index=raw.index)
        if _KINDS[name] != "real":
            refuse(number.notna() & (number != number.round()), name, "is not a whole number")
            refuse(number.abs() > MOST_EXACT, name, "is too large a number")
    refuse(~(frame["bytes"] >= 0), "bytes", "is not a size")
    for name in SCALE:
        refuse(frame[name] < 1, name, "is less than 1")
    frame["repetition"] = frame["repetition"].fillna(0)
    positive = "correct or remove that row: a measured value is a positive number"
    refuse(~statistic.isin(RATES) & ~(frame["time_us"] > 0), "time_us", "is not a positive time", positive)
    for name in [name for name in (*_IN_FILE.values(), *RATES) if name in frame.columns]:
        unlikely = (frame[name] > MOST) | ((frame[name] > 0) & (frame[name] < SMALLEST))
        refuse(unlikely, name, "is no value that can be measured")
    for name in RATES:
        if name in frame.columns:
            refuse((statistic == name) & ~(frame[name] > 0), name, "is not a positive rate", positive)
        elif (statistic == name).any():
            raise RequestError(f"{path} has rows with statistic {name} but no such column", "add the column")
    if "oversubscribed" in frame.columns:
        truth = raw["oversubscribed"].str.strip().str.lower()
        refuse(~truth.isin(list(_TRUTH)), "oversubscribed", "is neither true nor false")
        frame["oversubscribed"] = truth.map(_TRUTH)
    for name in [name for name in STATED if name in frame.columns]:
        said = raw[name].str.strip()
        refuse(
            said.map({cell: not all(map(_is_size, cell.split())) for cell in said.unique()}),
            name,
            "is not a size",
        )
    times = {in_file: name for name, in_file in _IN_FILE.items() if in_file in frame.columns}
    frame[list(times)] /= 1e6
    return frame.rename(columns=times).reset_index(drop=True)


def _is_size(word: str) -> bool:
    try:
        return 0 <= float(word) <= MOST
    except ValueError:
        return False


def does_nothing(frame: pd.DataFrame) -> pd.Series[bool]:
    """Whether rows are of a collective without data, which returns at once: so IMB begins its tables."""
    return (frame["bytes"] == 0) & frame["operation"].isin(COLLECTIVES) & (frame["operation"] != "barrier")


def collectives_in(frame: pd.DataFrame) -> list[str]:
    """The collectives of a table, in the usual order."""
    present = set(frame["operation"].unique())
    return [name for name in COLLECTIVES if name in present]


def with_words(frame: pd.DataFrame, where: Mapping[str, str]) -> pd.DataFrame:
    """The rows with these words. RequestError where the table has no such column, or no such row."""
    for name, word in where.items():
        if name not in frame.columns:
            raise RequestError(f"the table has no column {name!r}", f"known: {', '.join(frame.columns)}")
        words = frame[name].astype(object).fillna("").astype(str)
        if not (words == word).any():
            known = sorted(set(words))
            raise RequestError(
                f"the table has no row with {name} {word!r}",
                f"{did_you_mean(word, known)}known: {', '.join(known)}",
            )
        frame = frame[words == word].reset_index(drop=True)
    return frame
