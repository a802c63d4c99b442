"""The page of the architecture has every room, in import-linter's order, with the room's own sentence."""

from __future__ import annotations

import ast
import re
import tomllib

from tests.counts import ROOT, SOURCE
from tests.factories import not_none


def test_each_room_says_what_the_page_says_of_it() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    said = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", page, re.MULTILINE))
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    rooms = [name for layer in layers for name in layer.split(" | ") if (SOURCE / name).is_dir()]
    assert [room for room in said if room in rooms] == rooms
    for room in rooms:
        own = not_none(ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8"))))
        assert own.split("\n")[0] == said[room], room
