"""The archive of the sources: what git ignores is not in it, however used the tree is."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest
from scikit_build_core.build import build_sdist

ROOT = Path(__file__).parents[1]
SOURCES = ("pyproject.toml", ".gitignore", "README.md", "LICENSE", "src/hockney/__init__.py")
LEFT_BEHIND = (
    "build/cp311/CMakeFiles/_core.dir/cpp/python/core.cpp.o",
    "src/hockney/__pycache__/__init__.pyc",
    "src/hockney/_core.so",
    ".venv/lib/src/a.py",
    "demo/records.jsonl",
)


def test_a_used_tree_makes_the_archive_of_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tmp_path / "tree"
    for name in (*SOURCES, "cpp/runner/main.cpp", *LEFT_BEHIND):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    for name in SOURCES:
        shutil.copy(ROOT / name, tree / name)
    monkeypatch.chdir(tree)
    with tarfile.open(tmp_path / build_sdist(str(tmp_path))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names == {*SOURCES, "cpp/runner/main.cpp", "PKG-INFO"} - {".gitignore"}
