"""Many records, column by column: two million rows of a table, an object each, would take ten gigabytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from hockney import reading, writing
from hockney.errors import RequestError
from hockney.records.columns import ALL, Kind
from hockney.records.record import Record

_TYPES = {"text": "category", "count": "Int64", "whole": "int64", "real": "float64", "truth": "boolean"}
_MEASURED: dict[str, Kind] = {"value": "real", "low": "real", "high": "real", "launch": "text"}
TYPES = {
    column.name: _TYPES[column.kind]
    for column in ALL
    if column.name in Record.model_fields and column.name != "samples"
} | {name: _TYPES[kind] for name, kind in _MEASURED.items()}
"""The fields that are columns of every `RecordColumns`, beside `origin`, and their types."""
UNKNOWN = {"category": "", "Int64": None, "int64": 0, "float64": None, "boolean": None}
"""What stands for a column that a table lacks, by its type."""
_FIELDS = Record.model_fields
_BLOCK = 65_536
"""Records whose values are Python objects at the same time."""


class RecordColumns:
    """Records as a table: each is made an object when it is looked at.

    `frame`: one row a record, numbered from 0, and one column a field. Those of `TYPES` are always there, text as
    categories with "" where it is unknown, and so is `origin`, as plain text. Other fields are there where a
    record fills them, as Python values.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame.reset_index(drop=True)

    @classmethod
    def of(cls, records: Sequence[Record]) -> RecordColumns:
        """The same records as columns."""
        columns = {}
        for name, field in _FIELDS.items():
            values = [getattr(record, name) for record in records]
            if TYPES.get(name) == "category":
                values = ["" if value is None else value for value in values]
            default = field.get_default(call_default_factory=True)
            if name in TYPES or name == "origin" or any(value != default for value in values):
                columns[name] = pd.Series(values, dtype=TYPES.get(name, "str" if name == "origin" else "object"))
        return cls(pd.DataFrame(columns))

    @classmethod
    def joined(cls, parts: Sequence[RecordColumns]) -> RecordColumns:
        """All records of all parts, one part after the other."""
        texts = [name for name, kind in TYPES.items() if kind == "category"]
        return cls(joined([part.frame for part in parts], texts))

    @classmethod
    def read(cls, path: Path, *, within: Path) -> RecordColumns:
        """What `write` wrote; RequestError where it is damaged, or holds what no record may."""
        hint = "restore it from a copy, or import the results again"
        frame = reading.parquet(path, hint, within=within)
        try:
            lacking = {name: UNKNOWN[kind] for name, kind in TYPES.items() if name not in frame}
            columns = cls(frame.assign(**lacking)[[*TYPES, "origin"]].astype({**TYPES, "origin": "str"}))
            refused = columns.first_refused()
        except (KeyError, TypeError, ValueError) as error:
            raise RequestError(f"{path} is damaged: {error}", hint) from error
        if refused is not None:
            raise RequestError(f"{path} is damaged: record {refused + 1} is none", hint)
        return columns

    def write(self, path: Path) -> None:
        """Write the records as Parquet, without the columns in which nothing is known."""
        known = [name for name in self.frame if (self.frame[name].notna() & (self.frame[name] != "")).any()]
        with writing.replacing(path) as file:
            self.frame[[*dict.fromkeys([*known, "origin"])]].to_parquet(file, index=False, compression="zstd")

    @property
    def is_plain(self) -> bool:
        """Whether all are another program's, and nothing but columns of `TYPES` is known: no samples."""
        return not set(self.frame) - {*TYPES, "origin"} and not (self.frame["source"] == "hockney").any()

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, place: int) -> Record:
        return next(iter(self.where(np.array([place]))))

    def __iter__(self) -> Iterator[Record]:
        for block in self._blocks():
            values = {name: _values(block[name]) for name in block.columns}
            for row in zip(*values.values(), strict=True):
                known = {name: value for name, value in zip(values, row, strict=True) if _is_known(name, value)}
                yield Record(**known)

    def where(self, rows: NDArray[Any] | slice) -> RecordColumns:
        """The records at these places, or where a mask holds."""
        return RecordColumns(self.frame.iloc[rows])

    def lines(self) -> Iterator[str]:
        """Each record as `Record.model_dump_json(exclude_defaults=True)` writes it."""
        for block in self._blocks():
            parts = [_written(block[name]) for name in _FIELDS if name in block.columns]
            for row in zip(*parts, strict=True):
                yield f"{{{''.join(row)[1:]}}}"

    def first_refused(self) -> int | None:
        """The place of the first record that `Record` would refuse; None where all are right."""
        for number, block in enumerate(self._blocks()):
            refused = [place for name in block.columns if (place := _first_refused(block[name])) is not None]
            if refused:
                return number * _BLOCK + min(refused)
        return None

    def _blocks(self) -> Iterator[pd.DataFrame]:
        for first in range(0, len(self), _BLOCK):
            yield self.frame.iloc[first : first + _BLOCK]


def joined(frames: Sequence[pd.DataFrame], texts: Sequence[str]) -> pd.DataFrame:
    """All rows of all frames, one after the other; `texts` are columns of categories."""
    if len(frames) == 1:
        return frames[0]
    whole = pd.concat([frame.drop(columns=texts) for frame in frames])
    united = {name: pd.api.types.union_categoricals([frame[name] for frame in frames]) for name in texts}
    return whole.assign(**united)[[*dict.fromkeys(name for frame in frames for name in frame)]]


def rows_of_csv(data: bytes, few: Sequence[str]) -> pd.DataFrame:
    """All values of a CSV as text, those of the columns `few` as categories; errors of pandas."""
    # `dtype="category"` would read "007" as a number.
    blocks = pd.read_csv(
        io.BytesIO(data), dtype=str, keep_default_na=False, skip_blank_lines=False, chunksize=_BLOCK
    )
    frames = []
    for block in blocks:
        texts = [name for name in few if name in block and isinstance(block.index, pd.RangeIndex)]
        frames.append(block.astype(dict.fromkeys(texts, "category")))
    return joined(frames, texts)


def without_last_comma(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The same table where each row ends in a comma; RequestError for rows that are longer than the header.

    pandas takes what is before for an index.
    """
    if frame.index.nlevels > 1 or not len(frame.columns) or not (frame.iloc[:, -1] == "").all():
        raise RequestError(f"{path}, row 2: more values than the header has names", "correct the header")
    shifted = frame.reset_index().iloc[:, :-1]
    return shifted.set_axis(frame.columns, axis="columns")


def codes(frame: pd.DataFrame, names: Sequence[str]) -> NDArray[np.int64]:
    """A number for each row, shape (rows,), the same for those that agree in the named columns."""
    numbers = np.zeros(len(frame), dtype=np.int64)
    for name in names:
        own, values = frame[name].factorize(use_na_sentinel=False)
        if len(values) > 1:
            numbers = pd.factorize(numbers * len(values) + own)[0]
    return numbers


def words(place: ArrayLike, texts: Sequence[str]) -> pd.Categorical[str]:
    """The texts at these places, shape (rows,), as a column of `RecordColumns.frame`; several may be the same."""
    own, categories = pd.factorize(np.array(texts, dtype=object))
    return pd.Categorical.from_codes(own[np.asarray(place)], pd.Index(categories))


def prefixed(column: pd.Series[Any], place: ArrayLike, texts: Sequence[str]) -> pd.Categorical[str]:
    """A column of text with the text at its place before each, `text, word`; only one where one is empty."""
    return _combined(column, place, texts, lambda before, word: ", ".join(filter(None, [before, word])))


def filled(column: pd.Series[Any], place: ArrayLike, texts: Sequence[str]) -> pd.Categorical[str]:
    """A column of text with the text at its place where it is empty."""
    return _combined(column, place, texts, lambda text, word: word or text)


def _combined(
    column: pd.Series[Any], place: ArrayLike, texts: Sequence[str], combine: Callable[[str, str], str]
) -> pd.Categorical[str]:
    own = column.cat.categories.tolist()
    pair, pairs = pd.factorize(np.asarray(place) * len(own) + column.cat.codes.to_numpy())
    both = (divmod(each, len(own)) for each in pairs.tolist())
    return words(pair, [combine(texts[text], own[word]) for text, word in both])


def _is_known(name: str, value: object) -> bool:
    return value is not None and not (value == "" and _FIELDS[name].default is None)


def _values(column: pd.Series[Any]) -> list[Any]:
    """Python values, None for what is missing."""
    return column.astype(object).where(column.notna(), None).tolist()


def _written(column: pd.Series[Any]) -> list[str]:
    """`,"name":value` for each value of a field; "" for its default."""
    name, field = str(column.name), _FIELDS[str(column.name)]
    default = field.get_default(call_default_factory=True)

    def text(value: Any) -> str:
        left_out = not _is_known(name, value) or (value == default and not field.is_required())
        return "" if left_out else f',"{name}":{to_json(value).decode()}'

    if column.dtype == object:
        return [text(value) for value in _values(column)]
    places, values = column.factorize(use_na_sentinel=False)
    texts = [text(value) for value in _values(pd.Series(values, dtype=column.dtype))]
    return [texts[place] for place in places.tolist()]


def _first_refused(column: pd.Series[Any]) -> int | None:
    name = str(column.name)
    if column.dtype == object:
        places, values = np.arange(len(column)), column
    else:
        # Each value once: most are the same in thousands of rows.
        places, once = column.factorize(use_na_sentinel=False)
        values = pd.Series(once, dtype=column.dtype)
    try:
        _validator(name).validate_python([value if _is_known(name, value) else None for value in _values(values)])
    except ValidationError as error:
        refused = [each["loc"][0] for each in error.errors(include_url=False, include_input=False)]
        return int(np.flatnonzero(np.isin(places, refused))[0])
    return None


@cache
def _validator(name: str) -> TypeAdapter[list[Any]]:
    field = _FIELDS[name]
    item: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return TypeAdapter(list[item])
