"""A copy of the tree in which an example stands for the length of a test, and what it touched there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hockney import _core

# Tests of the examples run in the copy.
collect_ignore = ["examples"]

ROOT = Path(__file__).parents[2]
EXAMPLES = Path(__file__).parent / "examples"
FOLDERS = ("bench", "cpp", "docs", "machines", "src", "tests")

# An editable install of the tree finds the package before PYTHONPATH does.
SITECUSTOMIZE = """import sys
sys.meta_path[:] = [each for each in sys.meta_path if type(each).__module__ != "_editable_skbc_hockney"]
"""


@dataclass(frozen=True)
class Touched:
    """Files that an example added, and files that it edited, by their paths in the tree."""

    added: list[str]
    edited: list[str]


@dataclass(frozen=True)
class Tree:
    """A copy of the tree at `root`; what its programs leave behind lies in `scratch`."""

    root: Path
    scratch: Path

    def python(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Python with the copy's package, in the copy's root."""
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (self.scratch / "site", self.root / "src"))),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.scratch / "hypothesis"),
            "COLUMNS": "200",
        }
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=1800,
        )

    def hockney(self, *words: str | Path, code: int = 0) -> str:
        """What the copy's command prints; it must end with this code."""
        done = self.python("-m", "hockney", *map(str, words))
        assert done.returncode == code, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def json(self, *words: str | Path, code: int = 0) -> Any:
        """The answer of the copy's command with `--json`."""
        return json.loads(self.hockney(*words, "--json", code=code))

    def pytest(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Tests of the copy."""
        return self.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *words)

    def files(self) -> dict[str, str]:
        """Digest of every file, by its path; of all but what compilers make."""
        paths = (path for path in self.root.rglob("*") if path.is_file() and path.suffix not in (".so", ".pyc"))
        return {
            path.relative_to(self.root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in paths
        }

    def folders(self) -> set[Path]:
        """Every folder."""
        return {path for path in self.root.rglob("*") if path.is_dir()}

    @contextmanager
    def with_example(self, name: str, *, heading: bool = True) -> Iterator[Touched]:
        """The tree with an example in it: a text for a page of docs/ is appended, other files are new.

        Without `heading` its texts for docs/ are left out. Afterwards every file is as it was.
        """
        folder, before, folders = EXAMPLES / name, self.files(), self.folders()
        touched = {
            path.relative_to(folder): path
            for path in sorted(folder.rglob("*"))
            if path.is_file() and (heading or path.relative_to(folder).parts[0] != "docs")
        }
        pages = {place: (self.root / place).read_bytes() for place in touched if (self.root / place).exists()}
        for place, path in touched.items():
            if place in pages:
                (self.root / place).write_bytes(pages[place] + path.read_bytes())
            else:
                (self.root / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, self.root / place)
        after = self.files()
        try:
            yield Touched(
                sorted(after.keys() - before.keys()),
                sorted(place for place in before if after[place] != before[place]),
            )
        finally:
            for place in touched:
                if place in pages:
                    (self.root / place).write_bytes(pages[place])
                else:
                    (self.root / place).unlink()
            # Compiled modules lie in them still.
            for left in self.folders() - folders:
                shutil.rmtree(left, ignore_errors=True)
            assert self.files() == before


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A copy of the tree, with the compiled core of the tests."""
    scratch = tmp_path_factory.mktemp("touches")
    root = scratch / "tree"
    root.mkdir()
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, root)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(str(_core.__file__), root / "src" / "hockney")
    (scratch / "site").mkdir()
    (scratch / "site" / "sitecustomize.py").write_text(SITECUSTOMIZE, encoding="utf-8")
    copy = Tree(root, scratch)
    place = copy.python("-c", "import hockney; print(hockney.__file__)").stdout.strip()
    assert Path(place).is_relative_to(root)
    return copy


def parameter_values(parameters: Mapping[str, Any]) -> dict[str, float]:
    """The value of each parameter of a model in a machine file."""
    return {name: parameter["value"] for name, parameter in parameters.items()}
