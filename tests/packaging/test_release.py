"""A release whose tag, version, change log and citation differ is not made."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "packaging" / "release"
FILES = {
    "src/hockney/__init__.py": '__version__ = "1.2.0"\n',
    "CHANGELOG.md": "# Changelog\n\n## 1.2.0 (2026-11-25)\n\n## 1.1.0 (2026-10-01)\n",
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.0\n",
}


def git(tree: Path, *words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@y")
    subprocess.run(["git", "-C", str(tree), *who, *words], check=True, capture_output=True)


def tree(folder: Path, **changed: str) -> None:
    """A repository of the files, some of them changed: by the last word of their names without ending."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(changed.get(path.stem, text), encoding="utf-8")
    (folder / "packaging").mkdir()
    shutil.copy(SCRIPT, folder / "packaging")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")


def checked(folder: Path) -> subprocess.CompletedProcess[str]:
    """What the release says to it."""
    argv = [sys.executable, "packaging/release", "--check"]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)


def test_what_agrees_is_ready(tmp_path: Path) -> None:
    tree(tmp_path)
    git(tmp_path, "tag", "v1.2.0")
    done = checked(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "1.2.0: tag, version, change log and citation agree\n"
    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize(
    ("changed", "tag", "after", "said"),
    [
        ({"CHANGELOG": "## 1.2.0 (unreleased)\n"}, "v1.2.0", "", "'1.2.0 (unreleased)', not '1.2.0 (YEAR-"),
        ({"CHANGELOG": "## 1.1.0 (2026-10-01)\n"}, "v1.2.0", "", "CHANGELOG.md begins with '1.1.0"),
        ({"CITATION": "cff-version: 1.2.0\nversion: 1.1.0\n"}, "v1.2.0", "", "CITATION.cff has version 1.1.0"),
        ({}, "v1.1.0", "", "no tag v1.2.0 on this commit"),
        ({}, "v1.2.0", "notes.txt", "1 files are changed or unknown to git"),
        ({"__init__": ""}, "v1.2.0", "", "__init__.py has no line of the form"),
    ],
)
def test_what_differs_is_named(tmp_path: Path, changed: dict[str, str], tag: str, after: str, said: str) -> None:
    tree(tmp_path, **changed)
    git(tmp_path, "tag", tag)
    if after:
        (tmp_path / after).write_text("x", encoding="utf-8")
    done = checked(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("not ready: ")
    assert said in done.stderr
