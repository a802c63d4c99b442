"""The file of a solution and its description."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hockney.apps.cg.solution import describe, description, read
from hockney.errors import RequestError

SHAPE = (2, 3, 4)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "u.dat"
    np.arange(24, dtype=np.float64).tofile(path)
    describe(path, SHAPE, 0.2, {"iterations": 5})
    return path


def test_x_is_the_last_index(written: Path) -> None:
    values = read(written)
    assert values.shape == SHAPE
    assert values[1, 2, 3] == 23
    assert values[0, 1, 0] == 4
    assert json.loads(description(written).read_text(encoding="utf-8"))["iterations"] == 5


def test_the_other_byte_order(written: Path) -> None:
    told = json.loads(description(written).read_text(encoding="utf-8"))
    told["byte_order"] = "big"
    description(written).write_text(json.dumps(told), encoding="utf-8")
    np.arange(24, dtype=">f8").tofile(written)
    assert read(written)[1, 2, 3] == 23


def test_damage_is_told(written: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="does not exist"):
        read(tmp_path / "other")
    whole = written.read_bytes()
    written.write_bytes(whole[:-8])
    with pytest.raises(RequestError, match="184 B, its description says 192 B"):
        read(written)
    written.unlink()
    with pytest.raises(RequestError, match="does not exist"):
        read(written)
    for text in ("", "[]", "{}", '{"schema": 1, "byte_order": "little", "shape": "x"}'):
        description(written).write_text(text, encoding="utf-8")
        with pytest.raises(RequestError, match=r"does not describe|damaged JSON"):
            read(written)
    description(written).write_text('{"schema": 2, "byte_order": "little", "shape": [1, 1, 1]}', encoding="utf-8")
    with pytest.raises(RequestError, match="does not describe a solution: schema"):
        read(written)


def test_an_unwritable_place(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot write"):
        describe(tmp_path / "nowhere" / "u", SHAPE, 0.2, {})
