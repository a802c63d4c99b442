"""The models as a set: one file each, tested and documented."""

from __future__ import annotations

from pathlib import Path

import pytest

import hockney.models
from hockney.models.base import models

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path.stem
    for path in Path(hockney.models.__file__).parent.glob("*.py")
    if not path.stem.startswith("_") and path.stem not in ("base", "statistics", "views")
)


def test_every_file_is_a_model_of_its_name() -> None:
    assert models.names() == FILES


@pytest.mark.parametrize("name", FILES)
def test_every_model_is_documented(name: str) -> None:
    assert f"## {name}\n" in (ROOT / "docs/reference/models.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_every_model_is_tested(name: str) -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert f'"{name}"' in tests
