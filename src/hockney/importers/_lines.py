"""Lines of a text as the benchmark wrote them, the prefixes that launchers put before them, and numbers."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hockney import reading
from hockney.errors import RequestError

_CLOCK = re.compile(
    r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? \d{4}"
    r"|(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
)
# As many digits as a 64-bit integer has; what is longer is no measurement, and no finite float either.
_WHOLE = re.compile(r"\d{1,19}", re.ASCII)
_NUMBER = re.compile(r"\d{1,19}(?:\.\d{1,19})?(?:[eE][+-]?\d{1,2})?", re.ASCII)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+", re.ASCII)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}", re.ASCII)
_DECIMAL_COMMA = re.compile(r"(\d+),(\d{1,2})((?:[eE][+-]?\d{1,2})?)", re.ASCII)

_QUOTED = re.compile(
    r"""(?P<of_key>[:=]\s*)?(?P<quote>"|(?<!\w)'|(?<=\bb)')(?P<body>(?:\\.|(?!(?P=quote))[^\\])*)"""
    r"""(?P<end>(?P=quote)|\\?$)(?P<is_key>\s*(?=:))?"""
)
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
_BETWEEN_STRINGS = re.compile(r"(?:[\s\[\]{},:\d.eE+-]|true|false|null)*")
_COLOUR = re.compile(
    r"(?:\x1b|\^\[|\\(?:e|033|x1b|u001b)|\ufffd)\[[\d;?]*[ -/]*[@-~]|\x1b(?:\][^\x07]{0,200}\x07|[()].)"
    r"|\[\d{1,3}(?:;\d{1,3})*m"
)
_MARKDOWN = re.compile(r"\\([#_*<>\[\]()|~`.!+-])")
_ENTITY = re.compile(r"&(?:nbsp|lt|gt|amp|quot|#\d{1,5});")
_CELLS = re.compile(r'\s*"[^"]*"(?:[,;\t](?: *"[^"]*" *|[^",;\t]*))*')
_OPENS = re.compile(r"\t|[\"'`]$|<\w+[^>]*>$")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_ROW = re.compile(r"\s*\d+\s+[\d.,]+", re.ASCII)
_SUBJECT = re.compile(
    r"(?!.*(?:list|name|id))(?:.*(?:rank|proc|task|node|algorithm|mapping)|np$|ppn$|cmd|command)"
)
"""Fields of an object that say of what its text is."""
_TAG = re.compile(r"\[[^\[\]\s]{0,80}?\d{1,9},\d{1,9}\](?:\[[^\[\]\s]{0,80}\])?<std(?:out|err|diag)>:")


@dataclass(frozen=True)
class TextLine:
    """`number` counts from 1. `ended`: has a line end. `after_blank`: below a blank line."""

    number: int
    text: str
    ended: bool
    after_blank: bool = False


def _strings(text: str) -> str:
    """What the strings of JSON, of a notebook or of a printed object say, a line each; another line as it is.

    Names of fields are left out, and so are their values without a line end.
    """
    begins = text.lstrip(" \t-")[:1]
    if r"\n" not in text and begins not in ("[", "{", '"'):
        return text
    found = list(_QUOTED.finditer(text))
    if not any(r"\n" in quoted["body"] for quoted in found):
        is_json = begins in ("[", "{") or len(found) == 1
        if not is_json or not _BETWEEN_STRINGS.fullmatch(_QUOTED.sub("", text)):
            return text
    said = [
        _ESCAPED.sub(_unescaped, quoted["body"]) + ("\n" if quoted["end"] == quoted["quote"] else "")
        for quoted in found
        if quoted["is_key"] is None and (r"\n" in quoted["body"] or not quoted["of_key"])
    ]
    return "".join(_strings(string) if '"' in string else string for string in said)


def _of_json(text: str) -> list[tuple[int, str]]:
    """The lines in a file of JSON, or of a JSON a line, and their numbers: what an object says before its rows.

    Notebooks have the command of a cell below its output. [] for what is no JSON.
    """
    if text.lstrip()[:1] not in ("[", "{"):
        return []
    for parts in ([text], text.split("\n")):
        try:
            whole = [reading.parsed(part, "", "") for part in parts if part.strip()]
        except RequestError:
            continue
        numbers, at = [1], 0
        for string in _STRING.finditer(text):
            numbers.append(numbers[-1] + text.count("\n", at, string.start()))
            at = string.start()
        return _said_by(whole, "", iter(numbers[1:]))
    return []


def _said_by(value: Any, field: str, numbers: Iterator[int]) -> list[tuple[int, str]]:
    """Lines of a value; `numbers` are those of the strings from here on. A number's own line is 0."""
    if isinstance(value, dict):
        parts = [(next(numbers), _said_by(inner, name, numbers)) for name, inner in value.items()]
        parts.sort(key=lambda part: any(_ROW.match(line) for _, line in part[1]))
        return [(place or number, line) for number, part in parts for place, line in part]
    if isinstance(value, list):
        return [line for inner in value for line in _said_by(inner, "", numbers)]
    number, said = 0, str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, str):
        number = next(numbers)
        if not field or "\n" in value or r"\n" in value:
            return [(number, line) for line in said.removesuffix("\n").split("\n")]
    is_said = value is not None and _SUBJECT.match(field.lower())
    return [(number, said if " " in said else f"{field}={said}")] if is_said else []


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape[1] or escape[2]:
        character = chr(int(code, 16))
        return character if character.isprintable() or character < " " else "\ufffd"
    return {"n": "\n", "t": "\t", "r": "\r"}.get(escape[3], escape[3])


def _with_one_tag(text: str) -> str:
    """Without repetitions of a launcher's tag, which stand where the program wrote a row in several pieces."""
    tag = _TAG.search(text)
    return text if tag is None else text[: tag.end()] + text[tag.end() :].replace(tag[0], " ")


FORMS: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("strings of JSON, of a notebook or of a printed object", '"', _strings),
    ("strings of a printed object", r"\n", _strings),
    ("carriage returns", "\r", lambda text: text.replace("\r", "\n")),
    ("colour codes", "[", lambda text: _COLOUR.sub("", text)),
    ("characters that Markdown escapes", "\\", lambda text: _MARKDOWN.sub(r"\1", text)),
    (
        "characters that HTML escapes",
        "&",
        lambda text: _ENTITY.sub(lambda entity: html.unescape(entity[0]), text),
    ),
    (
        "quoted cells of a spreadsheet",
        '"',
        lambda text: text.replace('"', "") if _CELLS.fullmatch(text) else text,
    ),
    ("tags inside a row", "<std", _with_one_tag),
)
"""In what form text is passed on: its name, what every such line holds, and the line (or lines) as written."""

_MARKED = re.compile("|".join(re.escape(mark) for _, mark, _ in FORMS))


@lru_cache(maxsize=2)
def split_lines(text: str) -> tuple[TextLine, ...]:
    """All lines that are not blank, as they were before they were passed on; `number` is that of the file.

    Line feeds separate the lines of a file, carriage returns only where it has none.
    """
    text = text.replace("\r\n", "\n")
    parts = (text if "\n" in text else text.replace("\r", "\n")).split("\n")
    of_json = _of_json(text)
    lines: list[TextLine] = []
    after_blank = False
    for number, part in of_json or enumerate(parts, 1):
        written = [part.rstrip()]
        for _, mark, plain in FORMS if _MARKED.search(part) else ():
            if any(mark in line for line in written):
                written = [line.rstrip() for all_of_it in map(plain, written) for line in all_of_it.split("\n")]
        for place, line in enumerate(written, 1):
            if line:
                ended = bool(of_json) or number < len(parts) or place < len(written)
                lines.append(TextLine(number, line, ended, after_blank))
            if line or place < len(written) or len(written) == 1:
                after_blank = not line
    return tuple(lines)


class Prefix:
    """What a launcher puts before each line of the rank that prints (`0: `, `[1,0]<stdout>:`, a time).

    The title line shows the prefix. Lines without it come from elsewhere and are no rows. Only cells of a
    spreadsheet to the left of the title, and a quote or tag that opens before it, need not be repeated.
    """

    def __init__(self, before_title: str) -> None:
        pieces = _CLOCK.split(before_title.strip())
        pattern = f"(?:{_CLOCK.pattern})".join(map(re.escape, pieces))
        may_lack = "?" if _OPENS.search(before_title.strip(" ")) else ""
        self._pattern = re.compile(rf"\s*(?:{pattern}){may_lack}" if before_title.strip() else "")

    def strip(self, text: str) -> str | None:
        """The text behind the prefix; None where the line lacks the prefix."""
        match = self._pattern.match(text)
        return text[match.end() :].rstrip() if match else None

    def behind(self, text: str) -> str:
        """The text behind a prefix that stands anywhere in the line; "" where there is none."""
        match = re.search(rf"(?<!\d){self._pattern.pattern}", text)
        return text[match.end() :] if match else ""


def plain_number(cell: str) -> str:
    """A cell with a decimal point for its comma, and without those of thousands: `1,01`, `1,380.25`.

    Not `1,024`, which may be either.
    """
    if _THOUSANDS.fullmatch(cell):
        return cell.replace(",", "")
    return _DECIMAL_COMMA.sub(r"\1.\2\3", cell) if _DECIMAL_COMMA.fullmatch(cell) else cell


def plain_size(cell: str) -> str:
    """A whole number without the commas of its thousands: `1,024`."""
    return cell.replace(",", "") if _GROUPED.fullmatch(cell) else cell


def is_size(token: str) -> bool:
    """A whole number of bytes (or of repetitions)."""
    return _WHOLE.fullmatch(token) is not None


def is_number(token: str) -> bool:
    """A plain non-negative number: neither a word nor nan, inf or a sign."""
    return _NUMBER.fullmatch(token) is not None
