"""The importer of NetPIPE: sizes in bytes, half a round trip in seconds, the line each comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.importers.base import Given, importers

TEXT = """Now starting the main loop
  0:         1 bytes   4311 times -->      4.24 Mbps in       1.80 usec
  1:      1024 bytes   5566 times -->   2604.17 Mbps in       3.00 usec
"""


def test_a_row_is_half_a_round_trip() -> None:
    unit = importers.get("netpipe")
    assert unit.recognises(Path("x"), TEXT)
    records = unit.read(Path("x"), TEXT, Given()).records
    assert [(record.bytes, record.origin) for record in records] == [(1, "x:2"), (1024, "x:3")]
    assert [record.value for record in records] == pytest.approx([1.8e-6, 3e-6])


def test_other_text_is_not_taken() -> None:
    assert not importers.get("netpipe").recognises(Path("x"), "1 bytes in 1.80 usec\n")
