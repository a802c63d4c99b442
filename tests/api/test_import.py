"""`import hockney` costs a program nothing that it does not use."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import hockney
from hockney import api

HEAVY = ("numpy", "pandas", "pydantic", "scipy", "matplotlib", "rich", "typer")


def loaded_by(modules: str, libraries: tuple[str, ...]) -> object:
    """Those of the libraries that an interpreter has which imports the modules, and nothing else."""
    script = f"import {modules}, json, sys; print(json.dumps(sorted({{*{libraries}}} & {{*sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_import_loads_no_library() -> None:
    assert loaded_by("hockney", HEAVY) == []


def test_fits_and_their_errors_load_nothing_that_draws_or_tests() -> None:
    assert loaded_by("hockney.api.campaign, hockney.api.evaluation", ("matplotlib", "scipy.stats")) == []


def test_the_names_that_types_know_are_there() -> None:
    stub = Path(hockney.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    typed = {
        alias.name
        for node in ast.walk(ast.parse(stub))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed
    assert all(getattr(hockney, name) is getattr(api, name) for name in typed)
    # All of them are offered, and none is that a room of the package would hide.
    assert typed <= set(dir(hockney))
    assert not typed & {path.stem for path in Path(hockney.__file__).parent.iterdir()}
