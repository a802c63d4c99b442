"""The columns of a tidy table, declared once: their kinds, and what each one identifies.

The keys of series and points, the header of a file and the types in memory all follow from `ALL`.

Many records stand as columns, too: two million rows of a table, an object each, would take ten gigabytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from hockney import reading, writing
from hockney.errors import RequestError
from hockney.records.record import Record

Kind = Literal["text", "count", "whole", "real", "truth"]
"""`count` may be unknown, `whole` may not."""
Role = Literal["", "setting", "scale", "pair", "choice", "call", "point", "repetition", "condition", "visit"]
"""What a column identifies.

    setting     by whom and with what was measured, and how ranks were mapped
    scale       how many ranks on how many nodes: what grows together when the same run is made larger
    pair        which two ranks: in operations between two ranks alone
    choice      what a library may choose: the algorithm and its parameters
    call        what else a program asks for: the operation, its root, how many messages at once
    point       what tells the points of one series apart
    repetition  which launch, or independent repeat
    condition   tells two records of a point apart, but both belong to one series
    visit       what may differ between visits of one point
    (empty)     nothing: a value
"""
Presence = Literal["required", "optional", "record"]
"""Files hold a column always, where a row knows it, or never (then it is a field of records alone)."""


@dataclass(frozen=True)
class Column:
    """One column; records that have it call it by the same `name`. Times are seconds in memory."""

    name: str
    kind: Kind
    identifies: Role = ""
    presence: Presence = "optional"
    in_file: str = ""
    """Its name in a file where that differs; a file then holds microseconds."""

    @property
    def header(self) -> str:
        """Its name in a file."""
        return self.in_file or self.name


ALL = (
    Column("source", "text", "setting"),
    Column("system", "text", "setting", "required"),
    Column("mpi", "text", "setting", "required"),
    Column("operation", "text", "call", "required"),
    Column("algorithm", "text", "choice", "required"),
    Column("mapping", "text", "setting", "required"),
    Column("nodes", "count", "scale", "required"),
    Column("ppn", "count", "scale", "required"),
    Column("ranks", "count", "scale", "required"),
    Column("bytes", "whole", "point", "required"),
    Column("statistic", "text", "point", "required"),
    Column("time_s", "real", presence="required", in_file="time_us"),
    Column("repetition", "whole", "repetition", "required"),
    Column("variant", "text", "setting"),
    Column("segment_bytes", "count", "choice"),
    Column("radix", "count", "choice"),
    Column("root", "count", "call"),
    Column("pairs", "count", "call"),
    Column("window", "count", "call"),
    Column("cache", "text", "setting"),
    Column("start", "text", "condition", "record"),
    Column("oversubscribed", "truth", "visit"),
    Column("samples", "count"),
    Column("low_s", "real", in_file="low_us"),
    Column("high_s", "real", in_file="high_us"),
    Column("locality", "text", "pair"),
    Column("pair", "text", "pair"),
    Column("eager_limit_B", "real"),
    Column("breaks_B", "text"),
    Column("bandwidth_B_per_s", "real"),
    Column("message_rate_per_s", "real"),
)
"""All columns in the order of a file, required ones first."""


def names(*roles: Role) -> tuple[str, ...]:
    """The columns of these roles, in the order of a file."""
    return tuple(column.name for column in ALL if column.identifies in roles)


LONG, LONGER = 5, 8
"""Letters from which on one mistyped letter, and two, leave a name recognisable: `cahce`, `locallity`."""


def mistyped(name: str, headers: Collection[str]) -> str:
    """The column of a file that `name` seems to mean, of those that `headers` lack; empty where it means none.

    Near are other cases and separators, and in long names mistyped letters: left out, doubled, changed or
    exchanged with their neighbour. A plural or a participle (`cached`) is a word of its own.
    """
    bare = _letters(name)
    for column in ALL:
        known = _letters(column.header)
        if column.presence == "record" or column.header in headers:
            continue
        stems = [re.sub(r"[sd]$", "", text.lower()) for text in (name, column.header)]
        is_own = bare != known and stems[0] == stems[1]
        most = (len(known) >= LONG) + (len(known) >= LONGER)
        if not is_own and _edits(bare, known) <= most:
            return column.header
    return ""


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _edits(first: str, second: str) -> int:
    """Letters to leave out, put in, change or exchange with their neighbour until both are the same."""
    before, row = [0] * (len(second) + 1), list(range(len(second) + 1))
    for i, letter in enumerate(first):
        last, before, row = before, row, [i + 1]
        for j, other in enumerate(second):
            row.append(min(row[j] + 1, before[j + 1] + 1, before[j] + (letter != other)))
            if i and j and (letter, first[i - 1]) == (second[j - 1], other):
                row[-1] = min(row[-1], last[j - 1] + 1)
    return row[-1]


REQUIRED = tuple(column.name for column in ALL if column.presence == "required")
OPTIONAL = tuple(column.name for column in ALL if column.presence == "optional")
STATED = ("eager_limit_B", "breaks_B")
"""What a library says of itself, by channel: a size, or several."""
SCALE = names("scale")
CHOICE = names("choice")
SAME_RANKS = names("setting", "scale", "pair")
"""Measurements of different operations that agree in these were made on the same ranks."""
SERIES = (*SAME_RANKS, *names("choice", "call"), *names("repetition"))
"""What one series holds fixed."""
POINT = (*SAME_RANKS, *names("choice", "call"), *names("point"))
"""Two records that agree in these measure the same thing."""
VISITED = (*POINT, *names("condition", "repetition"))
"""All visits of one point agree in these: a visit that shared a core is still a visit of that point."""
RECORD = (*POINT, *names("condition", "visit"))
"""Imported records that agree in these are repetitions of one point."""
CONTRADICTION = 3.0
"""Repetitions of one point that differ by more than this ratio are reported."""


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
