"""The writer of files: whole or not at all, with the reason where it cannot."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.factories import written

from hockney import writing
from hockney.writing import NotWritten

FULL = Path("/dev/full")


@contextmanager
def at_most(size_B: int) -> Iterator[None]:
    """Files of this process may not grow larger: a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_B, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_device_is_named_with_the_reason() -> None:
    with pytest.raises(NotWritten, match=r"^cannot write /dev/full: No space left on device$"):
        writing.replace(FULL, "x")
    with pytest.raises(NotWritten, match="No space left"), writing.replacing_text(FULL) as file:
        file.write("x")
    with pytest.raises(NotWritten, match="No space left"):
        writing.append(FULL, ["x"])


@pytest.mark.parametrize("text", ["new", "ünï"])
def test_a_file_is_replaced_as_a_whole(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    writing.replace(path, "old")
    writing.replace(path, text)
    assert path.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "old")
    with at_most(100), pytest.raises(NotWritten, match=r"a\.txt: File too large"):
        writing.replace(path, "x" * 1000)
    with pytest.raises(ZeroDivisionError), writing.replacing_text(path) as file:
        file.write(str(1 / 0))
    with pytest.raises(NotWritten, match="no UTF-8"):
        writing.replace(path, "\udcff")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_may_be_as_long_as_names_can_be(tmp_path: Path) -> None:
    writing.replace(tmp_path / ("n" * 255), "x")
    with pytest.raises(NotWritten, match="File name too long"):
        writing.replace(tmp_path / ("n" * 256), "x")


def test_a_folder_that_is_a_file_or_missing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotWritten, match=r"cannot write .*/file/a: Not a directory"):
        writing.replace(tmp_path / "file" / "a", "x")
    with pytest.raises(NotWritten, match=r"cannot write .*/none/a: there is no folder"):
        writing.replace(tmp_path / "none" / "a", "x")
    with pytest.raises(NotWritten, match=r"cannot write .*/file/deeper: Not a directory"):
        writing.make_folder(tmp_path / "file" / "deeper")


def test_a_link_is_replaced_and_what_it_leads_to_is_not(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    writing.replace(tmp_path / "link", "new")
    assert ((tmp_path / "target").read_text(), (tmp_path / "link").read_text()) == ("old", "new")


def test_a_journal_grows_by_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(b"1\n2")
    writing.append(path, ["3", "4"])
    assert path.read_bytes() == b"1\n2\n3\n4\n"
    with at_most(20), pytest.raises(NotWritten, match="j: File too large"):
        writing.append(path, ["5" * 8, "6" * 8])
    # The part that fitted is taken back.
    assert path.read_bytes() == b"1\n2\n3\n4\n"


def test_a_private_file_is_for_this_user_and_the_first_one_stays(tmp_path: Path) -> None:
    writing.make_private(tmp_path / "key", b"first")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    writing.make_private(tmp_path / "key", b"second")
    assert (tmp_path / "key").read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [tmp_path / "key"]


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    with writing.locked(tmp_path / "lock") as first, writing.locked(tmp_path / "lock") as second:
        assert (first, second) == (True, False)
    with writing.locked(tmp_path / "lock") as again:
        assert again
    (tmp_path / "link").symlink_to("elsewhere")
    with pytest.raises(NotWritten, match="symbolic links"), writing.locked(tmp_path / "link"):
        pass


def _removing(path: Path, monkeypatch: pytest.MonkeyPatch, then: Callable[[], object]) -> None:
    """The process that holds the lock removes its file when the next one has opened it; what it does `then`."""
    original = fcntl.flock
    waits = [True]

    def flock(descriptor: int, operation: int) -> None:
        if waits:
            waits.clear()
            path.unlink()
            then()
        original(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)


def test_a_lock_whose_file_is_gone_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    _removing(path, monkeypatch, lambda: None)
    with writing.locked(path) as first, writing.locked(path) as second:
        assert (first, second) == (True, False)


def test_a_lock_of_a_removed_file_is_not_held_beside_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    with ExitStack() as third:
        _removing(path, monkeypatch, lambda: third.enter_context(writing.locked(path)))
        with writing.locked(path) as is_free:
            assert not is_free


def test_a_journal_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    other = written(tmp_path / "other", "mine\n")
    (tmp_path / "journal").symlink_to(other)
    with pytest.raises(writing.NotWritten, match="journal"):
        writing.append(tmp_path / "journal", ["line"])
    assert other.read_text() == "mine\n"


def test_a_private_file_is_made_where_there_are_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes = []

    def refuse(_: Path, target: Path) -> None:
        modes.append(target.stat().st_mode & 0o777)
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    writing.make_private(tmp_path / "key", b"k")
    assert (tmp_path / "key").read_bytes() == b"k"
    assert modes == [0o600], "private from the beginning"
    assert list(tmp_path.iterdir()) == [tmp_path / "key"]


def test_a_journal_is_on_disk_before_its_writer_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, synced = tmp_path / "j", list[bytes]()
    monkeypatch.setattr(os, "fsync", lambda _: synced.append(path.read_bytes()))
    writing.append(path, ["1", "2"])
    assert synced == [b"1\n2\n"]


def test_whether_a_file_could_be_written_is_asked_without_a_trace(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "old")
    writing.expect_writable(path)
    writing.expect_writable(tmp_path / "new")
    assert [(one, one.read_text()) for one in tmp_path.iterdir()] == [(path, "old")]
    with pytest.raises(NotWritten, match=r"^cannot write .*: Is a directory$"):
        writing.expect_writable(tmp_path)
    with pytest.raises(NotWritten, match="there is no folder"):
        writing.expect_writable(tmp_path / "none" / "a")


def test_a_folder_is_moved_as_a_whole_and_over_no_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    with pytest.raises(NotWritten, match="b: Directory not empty"):
        writing.move_folder(tmp_path / "a", tmp_path / "b")
    assert [(tmp_path / name / "file").read_text() for name in "ab"] == ["a", "b"]
    writing.move_folder(tmp_path / "a", tmp_path / "c")
    assert [(path.name, (path / "file").read_text()) for path in sorted(tmp_path.iterdir())] == [
        ("b", "b"),
        ("c", "a"),
    ]
