"""What a successor has to carry, counted: lines of code, files on the way of a question, options, words of docs.

A line of code has a token that is neither docstring, comment nor import. `tests/budget.toml` says how much there
may be of each, and `tests/test_house.py` holds it.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import typer
import typer.main

from hockney.terminal import application

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hockney"
_NO_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
_LOOSE = re.compile(r"(?:dict|Dict|Mapping|MutableMapping)\[str, *(?:typing\.)?(?:Any|object|JSON|Json)\w*\]")
_WALKER = """
import atexit, json, os, sys
files, met = set(), {}
def watch(frame, event, argument):
    code = frame.f_code
    if id(code) in met:
        return
    met[id(code)] = code
    # Bodies of functions alone: neither modules and classes as they are imported, nor comprehensions.
    is_named = not code.co_name.startswith("<") or code.co_name == "<lambda>"
    if "src/hockney/" in code.co_filename and is_named and code.co_flags & 2:
        files.add(code.co_filename.split("src/hockney/")[1])
def write():
    sys.settrace(None)
    json.dump(sorted(files), open(os.environ["HOCKNEY_WALK"], "w"))
atexit.register(write)
sys.settrace(watch)
sys.argv = ["hockney", *sys.argv[1:]]
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
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - skipped)


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
    places: defaultdict[str, set[Path]] = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].add(path)
    return sorted(name for name, files in places.items() if len(files) > 1)
