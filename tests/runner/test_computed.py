"""Computed numbers in the cache: found again, never trusted where damaged or others may write, bounded."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from math import inf
from pathlib import Path

import pytest

from hockney import _core, reading
from hockney.errors import RequestError
from hockney.predict.every_algorithm import predict_collective
from hockney.predict.options import CollectiveCase
from hockney.runner import cache
from hockney.runner.remembered import remembered


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "computed"


def refuse() -> bytes:
    raise AssertionError("computed again")


def test_it_is_computed_once(folder: Path) -> None:
    assert cache.computed("a", lambda: b"numbers") == b"numbers"
    assert cache.computed("a", refuse) == b"numbers"
    assert cache.computed("b", lambda: b"others") == b"others"
    assert {file.name for file in folder.iterdir()} == {"a", "b"}


@pytest.mark.parametrize("damage", [b"", b"x", b"\0" * 100])
def test_what_is_damaged_is_computed_again(folder: Path, damage: bytes) -> None:
    cache.computed("a", lambda: b"numbers")
    (folder / "a").write_bytes(damage)
    assert cache.computed("a", lambda: b"numbers") == b"numbers"
    assert cache.computed("a", refuse) == b"numbers"


def test_a_folder_that_others_may_write_to_is_not_read(folder: Path) -> None:
    cache.computed("a", lambda: b"numbers")
    folder.chmod(0o777)
    assert cache.computed("a", lambda: b"anew") == b"anew"


@pytest.mark.parametrize("which", ["root", "file"])
def test_what_others_may_write_is_not_read(folder: Path, which: str) -> None:
    """Nor where the folder itself is private."""
    cache.computed("a", lambda: b"numbers")
    (folder.parent if which == "root" else folder / "a").chmod(0o777)
    assert cache.computed("a", lambda: b"anew") == b"anew"


def test_a_link_is_not_read(folder: Path, tmp_path: Path) -> None:
    cache.computed("a", lambda: b"numbers")
    (folder / "a").rename(tmp_path / "elsewhere")
    (folder / "a").symlink_to(tmp_path / "elsewhere")
    assert cache.computed("a", lambda: b"anew") == b"anew"


def test_a_loose_umask_keeps_it_for_this_user(folder: Path) -> None:
    before = os.umask(0)
    try:
        cache.computed("a", lambda: b"numbers")
    finally:
        os.umask(before)
    assert not (folder / "a").stat().st_mode & 0o022
    assert cache.computed("a", refuse) == b"numbers"


class Call:
    """Unpickled, it calls a function."""

    def __init__(self, *call: object) -> None:
        self.call = call

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call[0], self.call[1:]


@pytest.mark.parametrize(
    "damage", [b"no pickle", pickle.dumps(Call(os.mkdir, "run"))], ids=["damaged", "strange"]
)
def test_what_cannot_be_unpacked_is_made_anew(
    folder: Path, damage: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.keep("a", damage)
    monkeypatch.chdir(folder)
    assert remembered("a", lambda: [1]) == [1]
    assert remembered("a", lambda: [2]) == [1]
    assert not (folder / "run").exists()


KEEPS = """
import sys
from hockney.runner.remembered import growing, remembered
words = {str(each) for each in range(100)}
remembered("b", lambda: words)
with growing("a", lambda: [words, 0]) as table:
    table[1] = int(sys.argv[1])
"""


def test_what_learned_nothing_is_not_written_again(folder: Path) -> None:
    """Though its words have another order in each process."""
    states = []
    for seed, learned in ("1", "1"), ("2", "1"), ("3", "1"), ("3", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", KEEPS, learned], check=True, env=environment)
        states.append([(folder / name).stat().st_mtime_ns for name in "ab"])
    assert states[0] == states[1] == states[2]
    assert states[3] == [states[3][0], states[2][1]] != states[2]


def test_where_nothing_can_be_kept_it_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "file" / "cache"))
    assert cache.computed("a", lambda: b"numbers") == b"numbers"


def test_the_oldest_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_COMPUTED_B", 250)
    for name in "abc":
        cache.computed(name, lambda: bytes(70))
    assert {file.name for file in folder.iterdir()} == {"b", "c"}


@pytest.mark.usefixtures("folder")
def test_an_answer_is_kept_for_what_was_asked_of_the_same_content(tmp_path: Path) -> None:
    asked, table = [], tmp_path / "folder"
    table.mkdir()

    def answer() -> list[float]:
        asked.append(1)
        return [len(asked)]

    (table / "a").write_text("1")

    def of(asked: str, make: Callable[[], list[float]] = answer) -> list[float]:
        return cache.answered(cache.digest_of(cache.contents(table), asked), list[float], make)

    assert [of("x") for _ in range(2)] == [[1], [1]]
    assert of("y") == [2]
    (table / "a").write_text("2")
    assert of("x") == [3]
    (table / "a").rename(table / "b")
    assert of("x") == [4]
    endless = [inf, 0.1 + 0.2]
    assert [of("z", lambda: endless) for _ in range(2)] == [endless, endless]
    # What is no file is read each time.
    assert not cache.contents(tmp_path / "none")
    assert [cache.answered("", list[float], answer) for _ in range(2)] == [[5], [6]]


def test_another_build_of_the_extension_is_another_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It need not lie beside the package: an editable installation has it elsewhere."""
    extension = tmp_path / "_core.so"
    monkeypatch.setattr(_core, "__file__", str(extension))
    extension.write_bytes(b"a")
    before = cache.code_version.__wrapped__()
    assert cache.code_version.__wrapped__() == before
    extension.write_bytes(b"ab")
    assert cache.code_version.__wrapped__() != before


def test_another_version_of_a_library_is_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before, known = cache.code_version.__wrapped__(), metadata.version
    for library in ("numpy", "scipy"):
        monkeypatch.setattr(
            metadata, "version", lambda name, library=library: "0" if name == library else known(name)
        )
        assert cache.code_version.__wrapped__() != before


def test_a_folder_that_is_no_campaign_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "large").write_bytes(b"of another program")
    monkeypatch.setattr(reading, "content", lambda path, *_, **__: pytest.fail(f"{path} was read"))
    with pytest.raises(RequestError, match="is not a campaign folder"):
        predict_collective(CollectiveCase(operation="bcast", ranks=8, table=tmp_path))
