"""The file that describes a solution."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hockney.apps.cg.solution import describe, description
from hockney.errors import RequestError

SHAPE = (2, 3, 4)


def test_a_description_has_shape_and_facts(tmp_path: Path) -> None:
    describe(tmp_path / "u.dat", SHAPE, 0.2, {"iterations": 5})
    told = json.loads(description(tmp_path / "u.dat").read_text(encoding="utf-8"))
    assert (told["shape"], told["spacing"], told["iterations"]) == ([2, 3, 4], 0.2, 5)


def test_an_unwritable_place(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot write"):
        describe(tmp_path / "nowhere" / "u", SHAPE, 0.2, {})
