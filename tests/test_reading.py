"""The reader of files: whatever a file is or holds, reading it ends, and says what is wrong in one line."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.factories import written

from hockney import reading
from hockney.errors import RequestError


def fifo(path: Path) -> None:
    os.mkfifo(path)


def loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (fifo, "is a pipe or a device"),
        (loop, "Too many levels of symbolic links"),
        (Path.mkdir, "is a folder"),
        (lambda path: path.symlink_to("/dev/zero"), "is a pipe or a device"),
        (lambda path: path.symlink_to("nowhere"), "does not exist"),
        (str, "does not exist"),
        (lambda path: path.write_bytes(b"\xff{}"), r"is not text \(byte 0\)"),
    ],
)
def test_what_is_no_regular_file_is_refused_at_once(
    tmp_path: Path, make: Callable[[Path], Any], what: str
) -> None:
    path = tmp_path / "given"
    make(path)
    with pytest.raises(RequestError, match=what) as caught:
        reading.text(path)
    assert str(path) in caught.value.message


def test_a_name_that_is_too_long_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="File name too long"):
        reading.text(tmp_path / ("n" * 5000))
    with pytest.raises(RequestError, match=r"\\xff does not exist"):
        reading.text(tmp_path / os.fsdecode(b"\xff"))
    with pytest.raises(RequestError, match="null"):
        reading.text(tmp_path / "a\0b")


def test_a_file_larger_than_the_limit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fdopen", lambda *_: pytest.fail("it is read"))
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(2**33)
    with pytest.raises(RequestError, match="is larger than 4 GiB"):
        reading.content(path)
    with pytest.raises(RequestError, match="is larger than 256 MiB"):
        reading.json_file(path)


def test_files_that_say_they_are_empty_are_read() -> None:
    assert "MemTotal" in reading.text(Path("/proc/meminfo"))


@pytest.mark.parametrize("inside", [True, False])
def test_links_are_followed_inside_a_folder_only(tmp_path: Path, inside: bool) -> None:
    folder = tmp_path / "campaign"
    folder.mkdir()
    target = written((folder if inside else tmp_path) / "target", "1\n")
    (folder / "link").symlink_to(target)
    if inside:
        assert list(reading.lines(folder / "link", within=folder)) == [(1, b"1\n")]
        return
    with pytest.raises(RequestError, match="is a link out of its folder"):
        list(reading.lines(folder / "link", within=folder))


def test_packed_data_may_grow_a_hundredfold(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"1,2,3\n" * 1_000_000))
    assert len(reading.unpacked(path)) == 6_000_000
    bomb = gzip.compress(bytes(80 * 2**20), 1)
    path.write_bytes(bomb)
    with pytest.raises(RequestError, match="unpacks to more than 64 MiB"):
        reading.unpacked(path)
    path.write_bytes(gzip.compress(b"text")[:-3])
    with pytest.raises(RequestError, match="is damaged gzip"):
        reading.unpacked(path)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[" * 200_000, r"x:1: damaged JSON \(nested too deeply, column 202\)"),
        ('{"a": NaN}', "damaged JSON"),
        ('{"a": 1e999}', "a number that is too large"),
        ('{"a": [-1e400]}', "a number that is too large"),
        ('{"a": 9223372036854775808}', "a number that is too large"),
        ("9" * 400, "a number that is too large"),
        ("9" * 5000, "number out of range"),
        ('{\n"a": tru}', r"x:2: damaged JSON \(expected ident, column 9\)"),
        ('"\\ud800"', "damaged JSON"),
        ("", "damaged JSON"),
    ],
)
def test_json_is_bounded(text: str, what: str) -> None:
    with pytest.raises(RequestError, match=what):
        reading.parsed(text, "x", "")


def test_json_keeps_what_it_can_say() -> None:
    text = '{"a": [1, 2.5, true, null, "µ"], "b": 9223372036854775807, "c": -9223372036854775808}'
    expected = {"a": [1, 2.5, True, None, "µ"], "b": 2**63 - 1, "c": -(2**63)}
    assert reading.parsed(text, "x", "") == expected


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;">]><a>&c;</a>',
        "<a>",
        "",
        "\0<a/>",
        '<?xml version="1.0" encoding="no-such"?><a/>',
    ],
)
def test_xml_without_entities(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "p.xml", text)
    with pytest.raises(RequestError, match=r"p\.xml"):
        reading.xml(path, "")


def test_xml_may_name_a_document_type(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    path.write_text('<?xml version="1.0"?><!DOCTYPE a SYSTEM "https://example.org/a.dtd"><a><b/></a>')
    assert [element.tag for element in reading.xml(path, "").iter()] == ["a", "b"]


def test_damaged_parquet_is_an_error_of_one_line(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}).to_parquet(path)
    whole = path.read_bytes()
    assert reading.parquet(path, "")["b"].tolist() == ["x", "y"]
    messages = []
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            reading.parquet(path, "")
        except RequestError as error:
            messages.append(error.message)
    assert len(messages) > 20
    assert not any("\n" in message for message in messages)


def packed(path: Path, files: dict[str, bytes], links: dict[str, str] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return path


def test_an_archive_is_a_folder_of_its_regular_files(tmp_path: Path) -> None:
    files = {"job/1/a.csv": b"1", "job/2/b.csv": b"2", "../out": b"3", "/etc/x": b"4"}
    archive = packed(tmp_path / "r.tar.gz", files, {"job/link": "/etc/passwd"})
    assert reading.members(archive) == [archive / "job/1/a.csv", archive / "job/2/b.csv"]
    assert reading.content(archive / "job/1/a.csv") == b"1"
    assert reading.below(archive / "job", "*/*.csv") == reading.members(archive)
    assert reading.below(archive, "*.csv") == []
    assert reading.is_file(archive / "job/2/b.csv")
    assert not reading.is_file(archive / "job/2")
    with pytest.raises(reading.Absent, match="holds no file job/link"):
        reading.content(archive / "job/link")


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.tar.gz"
    path.write_bytes(gzip.compress(b"no archive" * 100))
    with pytest.raises(RequestError, match="is no whole tar archive"):
        reading.members(path)


def test_a_sparse_member_is_not_unfolded(tmp_path: Path) -> None:
    member = tarfile.TarInfo("big")
    member.type, member.size = tarfile.GNUTYPE_SPARSE, 0
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"777777777770"  # the real size, octal
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    path = tmp_path / "r.tar.gz"
    path.write_bytes(gzip.compress(bytes(header) + bytes(1024)))
    with pytest.raises(RequestError, match="holds too much at big"):
        reading.members(path)


def test_members_of_an_archive_are_no_larger_than_it_together(tmp_path: Path) -> None:
    """Sparse files are: here forty of a header each, of which none alone is larger than the archive."""
    path = tmp_path / "a.tar"
    header = archive_of_a_sparse_file(size_B=20_000)
    path.write_bytes(header * 40 + b"\0" * 1024)
    with pytest.raises(RequestError, match="holds too much"):
        reading.members(path)


def archive_of_a_sparse_file(size_B: int) -> bytes:
    """The header of a file of that size that is one hole (GNU's old format)."""
    member = tarfile.TarInfo("hole")
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[483:495] = f"{size_B:011o}\0".encode()
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header[:512]):06o}\0 ".encode()
    return bytes(header[:512])


def test_a_parquet_file_is_bounded_in_what_it_unpacks_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LEAST_UNPACKED_B", 2**20)
    pd.DataFrame({"a": ["x" * 10_000] * 5_000}).to_parquet(tmp_path / "bomb.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < 100_000
    with pytest.raises(RequestError, match="unpacks to more"):
        reading.parquet(tmp_path / "bomb.parquet", "")


def test_toml_is_read_or_refused_with_the_name_of_its_file() -> None:
    assert reading.toml("a = [1, 2]\n", "s.toml", "") == {"a": [1, 2]}
    for damaged in ("a = ", "a = 1\na = 2\n", "[[", "a = " + "[" * 10_000):
        with pytest.raises(RequestError, match=r"s\.toml is no TOML"):
            reading.toml(damaged, "s.toml", "")
