"""What a successor has to carry, counted: lines of code, files on the way of a question, options, words of docs.

A line of code has a token that is neither docstring, comment nor import. `tests/budget.toml` says how much there
may be of each, and `tests/test_house.py` holds it.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import typer
import typer.main

from hockney.terminal import application

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hockney"
_COMMENT_OR_TEXT = re.compile(r"""#[^\n]*|(\"{3}|'{3}|["'])(?:\\.|(?!\1).)*\1""", re.DOTALL)
_LOOSE = re.compile(r"(?:dict|Dict|Mapping|MutableMapping)\[str, *(?:typing\.)?(?:Any|object|JSON|Json)\w*\]")
_CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)
_WALKER = """
import atexit, cProfile, json, os, sys
profile = cProfile.Profile(builtins=False)
def write():
    profile.disable()
    files = set()
    for code in (entry.code for entry in profile.getstats()):
        # Bodies of functions alone: neither modules and classes as they are imported, nor comprehensions.
        is_named = not code.co_name.startswith("<") or code.co_name == "<lambda>"
        if "src/hockney/" in code.co_filename and is_named and code.co_flags & 2:
            files.add(code.co_filename.split("src/hockney/")[1])
    json.dump(sorted(files), open(os.environ["HOCKNEY_WALK"], "w"))
atexit.register(write)
sys.argv = ["hockney", *sys.argv[1:]]
profile.enable()
import hockney.__main__
"""


@cache
def code_lines(path: Path) -> int:
    """Lines of a Python file that are code."""
    text = path.read_text(encoding="utf-8")
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        for child in body if isinstance(body := getattr(node, "body", None), list) else []:
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                skipped |= _lines(child) if isinstance(child.value.value, str) else set()
        if isinstance(node, ast.Import | ast.ImportFrom):
            skipped |= _lines(node)
    # Without comments, and with something in each line of a text.
    bare = _COMMENT_OR_TEXT.sub(lambda each: "T" + "\nT" * each[0].count("\n") if each[1] else "", text)
    return len({number for number, line in enumerate(bare.split("\n"), 1) if line.strip()} - skipped)


def _lines(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def code_of_rooms(folder: Path) -> Counter[str]:
    """Lines of code by room of a folder; files that stand in no room are those of `.`."""
    counted: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.py")):
        room, *inner = path.relative_to(folder).parts
        counted[room if inner else "."] += code_lines(path)
    return counted


def other_code(folder: str) -> int:
    """Lines of C++ that are neither blank nor a comment alone."""
    texts = (path.read_text(encoding="utf-8") for path in _tracked(folder))
    return sum(
        bool(line.strip()) and not line.strip().startswith("//") for text in texts for line in text.split("\n")
    )


def _tracked(*patterns: str) -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return (path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file())


def walk(folder: Path, *words: str) -> list[str]:
    """The files of which `hockney WORDS` executes functions."""
    program, written = folder / "walker.py", folder / "walk.json"
    program.write_text(_WALKER, encoding="utf-8")
    environment = {**os.environ, "HOCKNEY_WALK": str(written), "PYTHONPATH": str(SOURCE.parent)}
    done = subprocess.run(
        [sys.executable, str(program), *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files: list[str] = json.loads(written.read_text(encoding="utf-8"))
    return files


class Options(NamedTuple):
    """How many options all verbs have together, and how many names there are for them."""

    slots: int
    names: int


def options() -> Options:
    """Of all verbs, hidden ones included."""
    own = {"--help", "--version", "--install-completion", "--show-completion"}
    names: Counter[str] = Counter()
    commands = [typer.main.get_command(application())]
    while commands:
        command = commands.pop()
        if isinstance(command, typer.core.TyperGroup):
            context = typer.Context(command)
            inner = (command.get_command(context, name) for name in command.list_commands(context))
            commands += [found for found in inner if found is not None]
        names.update({max(p.opts, key=len) for p in command.params if p.param_type_name == "option"} - own)
    return Options(names.total(), len(names))


def words_of_docs() -> int:
    """Words of all pages but the one that a bench writes."""
    pages = _tracked("*.md", "*.md.j2", ":!docs/reference/exercises.md")
    return sum(len(path.read_text(encoding="utf-8").split()) for path in pages)


def loose_mappings() -> int:
    """Mappings from `str` to anything."""
    return sum(len(_LOOSE.findall(path.read_text(encoding="utf-8"))) for path in SOURCE.rglob("*.py"))


def class_names_of_several_files() -> list[str]:
    """Names that stand for more than one class."""
    texts = (path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    places = Counter(name for text in texts for name in set(_CLASS.findall(text)))
    return sorted(name for name, files in places.items() if files > 1)
