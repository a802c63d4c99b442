"""How inputs are changed and made smaller: a format knows the structure of a text, so that changes get past it.

A gentle change keeps what a parser takes likely valid (another number, a row twice); a harsh one breaks types,
names, structure or bytes.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

import pandas as pd

LONG = 5000
NASTY: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 10**400),
    *(0.5, -0.0, 5e-324, 1e-30, 1e15, 1e300, -1e308, float("nan"), float("inf"), float("-inf")),
    *("", " ", "x", "é\u2028\x00\x1b[31m", "a" * LONG, "../../x", "<b>&", "=1+1", "\\", "0-1", "NaN", "1e400"),
    *([], {}, [[]], [None], {"": {}}),
)
"""Values of every type, and numbers at the ends of what types hold."""
WORDS = (
    *("nan", "inf", "-inf", "1e400", "-1", "0", "1e-320", "9" * 400, "9223372036854775808", "1_000", "٣", "0x10"),
    *("", '"', "'", ",", ":", "=", "x", "#", "true", "None", "1,5", "a" * LONG, "é", "\x00", "\x1b[2J", "\ufeff"),
)
BYTES = (b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"PAR1", b"\x1f\x8b", b"\r", b"\x80", b"[" * 300, b"9" * 400)
NUMBERS = ("0", "1", "7", "65536", "1000001", "4294967296", "999999999999", "1" * 19, "9" * 400)
_NUMBER = re.compile("[0-9]+")
_TOKEN = re.compile(r"[^\s,;:=<>\"'{}()\[\]]+|[,;:=<>\"'{}()\[\]]")


class Format(Protocol):
    """A structure of inputs."""

    def changed(self, data: bytes, chance: Random, gentle: bool) -> bytes:
        """The same input, changed a little."""
        ...

    def smaller(self, data: bytes) -> Iterator[bytes]:
        """Inputs with a part left out, large parts first."""
        ...


def damaged(data: bytes, chance: Random) -> bytes:
    """Bytes flipped, cut, repeated or put in."""
    at = chance.randrange(len(data) + 1)
    match chance.randrange(5):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[at + chance.randrange(1, 20) :]
        case 2 if at < len(data):
            return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        case 3:
            return data[:at] + data[at : at + 40] * chance.randrange(2, 5) + data[at:]
    return data[:at] + chance.choice(BYTES) + data[at:]


def near(number: float, chance: Random) -> float:
    """A number of the same type that is about as likely."""
    if isinstance(number, int):
        return chance.choice((number + 1, max(0, number - 1), number * 2, number // 2, chance.randrange(9)))
    return number * chance.choice((0.5, 0.999, 1.001, 2.0, 10.0, 0.1))


class Json:
    """A JSON value."""

    def changed(self, data: bytes, chance: Random, gentle: bool) -> bytes:
        try:
            holder = {"": json.loads(data)}
        except (ValueError, RecursionError):
            return damaged(data, chance)
        for _ in range(chance.choice((1, 1, 2, 3))):
            _change_value(holder, chance, gentle)
        text = json.dumps(holder[""], ensure_ascii=chance.random() < 0.5)
        if not gentle and chance.random() < 0.3:
            text = text.replace("Infinity", "1e999")
        if not gentle and chance.random() < 0.1:
            key = re.search(r'("[^"]{1,40}"): ', text[chance.randrange(len(text)) :])
            text = text.replace(key[0], f"{key[0]}1, {key[0]}", 1) if key else "[" * LONG + text
        return text.encode("utf-8", "replace")

    def smaller(self, data: bytes) -> Iterator[bytes]:
        try:
            holder = {"": json.loads(data)}
        except (ValueError, RecursionError):
            yield from Text().smaller(data)
            return
        for part, key in sorted(_places(holder)[1:], key=lambda place: -len(json.dumps(place[0][place[1]]))):
            kept = part[key]
            items = list(part.items()) if isinstance(part, dict) else list(part)
            del part[key]
            yield json.dumps(holder[""]).encode()
            # Back in its place, in its order.
            if isinstance(part, dict):
                part.clear()
                part.update(items)
            else:
                part[:] = items
            if isinstance(kept, str) and len(kept) > 8:
                part[key] = kept[:8]
                yield json.dumps(holder[""]).encode()
                part[key] = kept


def _places(holder: Any) -> list[tuple[Any, Any]]:
    """Each value of a tree, as the object or list that holds it and its key there."""
    places, todo = [], [holder]
    while todo:
        part = todo.pop()
        keys: Any = list(part) if isinstance(part, dict) else range(len(part))
        for key in keys:
            places.append((part, key))
            if isinstance(part[key], (dict, list)):
                todo.append(part[key])
    return places


def _change_value(holder: Any, chance: Random, gentle: bool) -> None:
    places = _places(holder)
    part, key = chance.choice(places)
    value = part[key]
    other, other_key = chance.choice(places)
    given = other[other_key]
    is_tree = isinstance(given, (dict, list))
    if gentle:
        match value:
            case bool():
                part[key] = not value
            case int() | float():
                part[key] = near(value, chance)
            case str():
                part[key] = given if isinstance(given, str) else f"{value}{chance.randrange(9)}"
            case [_, *_]:
                at = chance.randrange(len(value))
                chance.choice((lambda: value.append(value[at]), lambda: value.pop(at), value.reverse))()
            case dict() if value:
                copied = next(iter(value))
                value[f"{copied}{chance.randrange(9)}" if chance.random() < 0.2 else copied] = value[copied]
        return
    match chance.randrange(7):
        case 0 | 1 | 2:
            part[key] = json.loads(json.dumps(chance.choice(NASTY)))
        case 3 if key != "":
            del part[key]
        case 4 if not is_tree:
            part[key] = given
        case 5 if isinstance(part, dict) and key != "":
            name = chance.choice((f"{key}x", "", "schema_version", str(key).upper(), "a" * LONG))
            part[name] = part.pop(key) if chance.random() < 0.5 else chance.choice((1, "x", None))
        case _:
            for _ in range(chance.choice((1, 3, 90, 250))):
                part[key] = [part[key]] if chance.random() < 0.7 else {"a": part[key]}


class Text:
    """Lines of words and numbers."""

    def changed(self, data: bytes, chance: Random, gentle: bool) -> bytes:
        if not gentle and chance.random() < 0.2:
            return damaged(data, chance)
        text = data.decode("utf-8", "surrogateescape")
        for _ in range(chance.choice((1, 1, 2, 3))):
            text = self._lines(text, chance) if chance.random() < 0.3 else self._word(text, chance, gentle)
        return text.encode("utf-8", "surrogateescape")

    @staticmethod
    def _lines(text: str, chance: Random) -> str:
        lines = text.splitlines(keepends=True) or [text]
        at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
        match chance.randrange(4):
            case 0:
                del lines[at]
            case 1:
                lines.insert(to, lines[at])
            case 2:
                lines[at], lines[to] = lines[to], lines[at]
            case _:
                lines[at] = lines[at].rstrip("\n")[: chance.randrange(80)] + "\n"
        return "".join(lines)

    @staticmethod
    def _word(text: str, chance: Random, gentle: bool) -> str:
        numbers = list(_NUMBER.finditer(text))
        if numbers and (gentle or chance.random() < 0.3):
            number = chance.choice(numbers)
            is_short = len(number[0]) < 19
            new = str(near(int(number[0]), chance)) if gentle and is_short else chance.choice(NUMBERS)
            return text[: number.start()] + new + text[number.end() :]
        words = list(_TOKEN.finditer(text))
        if not words:
            return chance.choice(WORDS)
        word = chance.choice(words)
        new = chance.choice(words)[0] if gentle or chance.random() < 0.5 else chance.choice(WORDS)
        if not gentle and chance.random() < 0.2:
            new = word[0] * chance.choice((0, 2, 50))
        return text[: word.start()] + new + text[word.end() :]

    def smaller(self, data: bytes) -> Iterator[bytes]:
        lines = data.splitlines(keepends=True)
        for parts in (lines, [data[at : at + 1] for at in range(len(data))] if len(data) < LONG else []):
            size = len(parts) // 2
            while size:
                for at in range(0, len(parts), size):
                    yield b"".join(parts[:at] + parts[at + size :])
                size //= 2


class Lines(Text):
    """A JSON value on each line."""

    def changed(self, data: bytes, chance: Random, gentle: bool) -> bytes:
        if chance.random() < 0.15:
            return super().changed(data, chance, gentle)
        lines = data.splitlines() or [b"{}"]
        at = chance.randrange(len(lines))
        lines[at] = Json().changed(lines[at], chance, gentle)
        return b"\n".join(lines) + b"\n"

    def smaller(self, data: bytes) -> Iterator[bytes]:
        yield from super().smaller(data)
        lines = data.splitlines()
        for at, line in enumerate(lines):
            for less in Json().smaller(line):
                yield b"\n".join([*lines[:at], less, *lines[at + 1 :]]) + b"\n"


class Table(Text):
    """A tidy table: CSV, which is packed or turned to Parquet at times, as it is read again from both."""

    def changed(self, data: bytes, chance: Random, gentle: bool) -> bytes:
        if data.startswith((b"PAR1", b"\x1f\x8b")):
            return damaged(data, chance)
        if chance.random() < 0.2:
            csv = super().changed(data, chance, gentle)
        else:
            rows = [line.split(",") for line in data.decode("utf-8", "surrogateescape").splitlines()] or [[""]]
            for _ in range(chance.choice((1, 1, 2, 3))):
                _change_rows(rows, chance, gentle)
            csv = "".join(",".join(row) + "\n" for row in rows).encode("utf-8", "surrogateescape")
        match chance.randrange(12):
            case 0:
                csv = gzip.compress(csv, 1, mtime=0)
            case 1:
                csv = _as_parquet(csv, chance)
        return damaged(csv, chance) if not gentle and chance.random() < 0.2 else csv


def _change_rows(rows: list[list[str]], chance: Random, gentle: bool) -> None:
    at, row = chance.randrange(len(rows)), chance.choice(rows)
    column = chance.randrange(max(1, len(row)))
    match chance.randrange(9):
        case 0:
            rows.insert(at, list(row))
        case 1 if at:
            del rows[at]
        case 2:
            other = chance.randrange(max(1, len(rows[0])))
            for line in rows:
                if column < len(line) and other < len(line):
                    line[column], line[other] = line[other], line[column]
        case 3 if not gentle:
            for line in rows:
                del line[column : column + 1]
        case 4 if not gentle:
            rows[0][column:column] = [chance.choice((rows[0][-1] if rows[0] else "", *WORDS))]
        case _ if row is not rows[0] or not gentle:
            if gentle:
                with contextlib.suppress(ValueError, OverflowError):
                    text = row[column]
                    row[column] = str(near(int(text) if text.isdecimal() else float(text), chance))
            elif column < len(row):
                row[column] = chance.choice((*WORDS, *(str(value) for value in NASTY)))


def _as_parquet(csv: bytes, chance: Random) -> bytes:
    """The table in the types that pandas guesses, or all as text; the CSV itself where it is no table."""
    kind = str if chance.random() < 0.3 else None
    file = io.BytesIO()
    try:
        pd.read_csv(io.BytesIO(csv), dtype=kind, low_memory=False).to_parquet(file, index=chance.random() < 0.2)
    except (ValueError, OverflowError, TypeError, NotImplementedError):
        return csv
    return file.getvalue()


_HEADING = re.compile(rb"^==> (\w[\w.-]*) <==\n", re.MULTILINE)


def parts(data: bytes) -> dict[str, bytes]:
    """The files of a folder; an input holds them as `tail` prints them: `==> plan.json <==`, then its lines."""
    _, *split = _HEADING.split(data)
    return {name.decode(): text for name, text in zip(split[::2], split[1::2], strict=True)}


def joined(files: Mapping[str, bytes]) -> bytes:
    """The reverse of `parts`."""
    return b"".join(b"==> %s <==\n%s" % (name.encode(), text) for name, text in files.items())


@dataclass(frozen=True)
class Folder:
    """Files by name, of these formats."""

    formats: Mapping[str, Format]

    def changed(self, data: bytes, chance: Random, gentle: bool) -> bytes:
        files = parts(data)
        names = [name for name in files if name in self.formats]
        if not names or (not gentle and chance.random() < 0.05):
            return damaged(data, chance)
        name = chance.choice(names)
        if not gentle and chance.random() < 0.05:
            del files[name]
        else:
            files[name] = self.formats[name].changed(files[name], chance, gentle)
        return joined(files)

    def smaller(self, data: bytes) -> Iterator[bytes]:
        files = parts(data)
        for name in files:
            yield joined({other: text for other, text in files.items() if other != name})
        for name, text in files.items():
            for less in self.formats.get(name, Text()).smaller(text):
                yield joined(files | {name: less})
