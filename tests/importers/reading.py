"""Benchmark text as an importer reads it, and what a test looks at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hockney.importers.base import Given, Imported, load_text

DATA = Path(__file__).parent / "data"
# Printed decimals times a power of ten: equal up to one rounding.
EXACT = 1e-14


def read_text(module: Any, text: str, given: Given | None = None, path: str | Path = "f") -> Imported:
    """What the importer reads of a text that it recognises."""
    assert module.recognises(Path(path), text)
    imported: Imported = module.read(Path(path), text, given or Given())
    return imported


def read_file(module: Any, path: Path, given: Given | None = None) -> Imported:
    """The same of a file."""
    return read_text(module, load_text(path), given, path)


def columns(imported: Imported, *names: str) -> list[Any]:
    """One tuple of those fields per record."""
    return [tuple(getattr(record, name) for name in names) for record in imported.records]
