"""Where the importers' fixtures and the shared measurements are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hockney.samples.importers.base import Given, Imported, importers, load_text

_REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def data() -> Path:
    return Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def stackhpc() -> Path:
    """180 output files of IMB and OSU from one cluster."""
    shared = Path(os.environ.get("HOCKNEY_SHARED", _REPOSITORY.parent / "shared"))
    folder = shared / "data" / "stackhpc"
    if not folder.is_dir():
        pytest.skip("the shared measurements (HOCKNEY_SHARED/data/stackhpc) are not here")
    return folder


class Reader:
    """Reads one text with one importer."""

    def __init__(self, name: str) -> None:
        self.importer = importers.get(name)

    def file(self, path: Path, given: Given | None = None) -> Imported:
        text = load_text(path)
        assert self.importer.recognises(path, text)
        return self.importer.read(path, text, given or Given())

    def text(self, text: str) -> Imported:
        return self.importer.read(Path("f"), text, Given())


@pytest.fixture
def osu() -> Reader:
    return Reader("osu")


@pytest.fixture
def imb() -> Reader:
    return Reader("imb")


@pytest.fixture
def tidy() -> Reader:
    return Reader("tidy")
