"""The notebooks of the documentation run from beginning to end, in an empty folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat import NO_CONVERT, read
from tests.capabilities import shared

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "HOCKNEY_SHARED" in path.read_text(encoding="utf-8"):
        monkeypatch.setenv("HOCKNEY_SHARED", str(shared("stackhpc").parents[1]))
    book = read(path, NO_CONVERT)  # type: ignore[no-untyped-call]
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_was_executed_and_names_no_place(path: Path) -> None:
    book = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert not any(output["output_type"] == "error" for cell in code for output in cell["outputs"])
    assert not re.search(r"(?<![\w.])/(home|opt|root|tmp|usr|work)/", json.dumps(book))
