"""The house test of a tree with the examples in it: red without their headings or pages, green with them."""

from __future__ import annotations

import re
from contextlib import ExitStack

import pytest
from tests.touches.conftest import EXAMPLES, Tree

EXAMPLES_OF_PYTHON = ("effect_model", "importer", "launcher", "model", "pong")
OWN_TESTS = [
    str(path.relative_to(EXAMPLES / name))
    for name in EXAMPLES_OF_PYTHON
    for path in sorted((EXAMPLES / name).rglob("test_*.py"))
]
ROOMS = (
    *(
        "tests/apps",
        "tests/terminal",
        "tests/importers",
        "tests/models",
        "tests/machine",
        "tests/report",
        "tests/runner/launchers",
    ),
    *(f"tests/cli/test_{verb}.py" for verb in ("doctor", "evaluate", "fit", "import", "report", "show")),
    *("tests/runner/launchers", "tests/runner/test_find.py"),
)


@pytest.mark.parametrize(
    ("heading", "red"),
    [
        (
            False,
            {
                *("importer-netpipe", "launcher-flux", "model of an effect-posting", "model-theil_sen"),
                *("app-pong", "section on an application-pong"),
            },
        ),
        (True, set()),
    ],
)
def test_a_unit_without_a_heading_is_what_the_house_test_finds(tree: Tree, heading: bool, red: set[str]) -> None:
    with ExitStack() as examples:
        for name in EXAMPLES_OF_PYTHON:
            examples.enter_context(tree.with_example(name, heading=heading))
        done = tree.pytest("tests/test_house.py", *OWN_TESTS, "-m", "not mpi")
    assert done.returncode == (1 if red else 0), done.stdout
    failed = re.findall(r"^FAILED tests/test_house.py::(\w+)\[(.+?)\]", done.stdout, re.MULTILINE)
    assert set(failed) == {("test_a_unit_is_documented", unit) for unit in red}
    assert f"{len(red)} failed" in done.stdout or not red


@pytest.mark.thorough
def test_no_other_test_knows_how_many_units_there_are(tree: Tree) -> None:
    with ExitStack() as examples:
        for name in EXAMPLES_OF_PYTHON:
            examples.enter_context(tree.with_example(name))
        done = tree.pytest(*ROOMS, "-m", "not mpi and not thorough", "--durations=5")
        assert done.returncode == 0, done.stdout
