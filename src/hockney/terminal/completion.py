"""What a shell offers for the beginning of a word: what an option knows, and names from the files at hand.

    hockney show machine.json --locality <TAB>

offers the localities of that machine file. Files are skimmed, not read: a shell waits.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

import typer

from hockney import reading
from hockney.errors import RequestError
from hockney.fields import Value, several

COLUMNS = {
    "--algorithm": ("algorithm",),
    "--locality": ("locality",),
    "--mapping": ("mapping",),
    "--operation": ("operation", "effect"),
    "--statistic": ("statistic",),
    "--variant": ("variant",),
    "--where": ("variant", "mpi", "mapping", "system", "source", "placement"),
}
"""The columns of a table, or the keys of a record, whose values an option takes; --where as NAME=VALUE."""
SOURCES = ("--machine", "--table", "--from", "--against")
"""Options that name a file or a folder with such names; arguments do, too."""
SKIMMED_B = 20_000_000
IN_FOLDER = ("records.jsonl", "effects.jsonl", "apps.jsonl", "tidy.csv")


def completions(
    context: typer.Context,
    incomplete: str,
    called: str,
    known: Callable[[], Iterable[str]] | None,
    own: Collection[str],
    paths: Mapping[str, str],
) -> list[str]:
    """What a shell offers for an option; of several words with commas between, for the last.

    `called` is the option, `known` are words that it always takes, and `own` those of its type, of which those in
    the file are offered alone where a file is named. `paths` are the parameters of the verb that are paths, with
    what they are called.
    """
    before, comma, begun = incomplete.rpartition(",")
    # Arguments are not assigned yet, as the word of the option is missing.
    at_hand = [*_named(context.params, paths), *map(Path, context.args)]
    found = [name for path in at_hand for name in names(path, called)]
    offered = [*found, *(known() if known is not None else () if found else own)]
    return [f"{before}{comma}{word}" for word in dict.fromkeys(offered) if word.startswith(begun)]


def _named(values: Mapping[str, Value], paths: Mapping[str, str]) -> list[Path]:
    """The files and folders that stand on the command line."""
    found: list[Path] = []
    for parameter, called in paths.items():
        value = values.get(parameter)
        if called in SOURCES or not called.startswith("-"):
            found += [Path(str(name)) for name in several(value) if name]
    return found


def names(path: Path, called: str) -> list[str]:
    """The names that the option may take from a machine file, a campaign or a table; none where it has none."""
    files = [path / name for name in IN_FOLDER] if path.is_dir() else [path]
    found: dict[str, None] = {}
    for file in files:
        # A shell shows no errors: a file that cannot be read has no names.
        with contextlib.suppress(RequestError, OSError, UnicodeDecodeError):
            if file.is_file():
                for column in COLUMNS.get(called, ()):
                    prefix = f"{column}=" if called == "--where" else ""
                    found |= dict.fromkeys(prefix + name for name in _values(file, column) if name)
    return sorted(found)


def _values(file: Path, column: str) -> Iterable[str]:
    is_table = file.name.endswith((".csv", ".csv.gz"))
    is_packed = file.suffix == ".gz"
    data = reading.unpacked(file)[:SKIMMED_B] if is_packed else reading.beginning(file, SKIMMED_B)
    text = data.decode("utf-8", "ignore")
    if not is_table:
        return set(re.findall(rf'"{column}":\s*"([^"\\]*)"', text))
    rows = csv.reader(text.splitlines())
    header = next(rows, [])
    if column not in header:
        return ()
    place = header.index(column)
    return {row[place] for row in rows if len(row) > place}
