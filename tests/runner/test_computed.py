"""Computed numbers in the cache: found again, never trusted where damaged or others may write, bounded."""

from __future__ import annotations

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
