"""Peaks as people write them, and the marks of caches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.errors import RequestError
from hockney.report.marks import Peak, cache_marks, percent


@pytest.mark.parametrize(
    ("text", "name", "rate"),
    [
        ("InfiniBand=12.5GB/s", "InfiniBand", 12.5e9),
        ("HDR 100=100Gbit/s", "HDR 100", 12.5e9),
        ("a=b=1MB/s", "a=b", 1e6),
        (" RoCE = 25Gbit/s ", "RoCE", 3.125e9),
    ],
)
def test_parse(text: str, name: str, rate: float) -> None:
    assert Peak.parse(text) == Peak(name, rate)


@pytest.mark.parametrize(
    "text", ["", "InfiniBand", "=12GB/s", "InfiniBand=", "InfiniBand=fast", "x=12", "x=0GB/s"]
)
def test_a_bad_peak_says_the_form(text: str) -> None:
    with pytest.raises(RequestError) as error:
        Peak.parse(text)
    assert "--peak" in error.value.message
    assert "NAME=RATE" in error.value.hint


@given(st.text(max_size=30))
def test_any_text_is_a_peak_or_a_request_error(text: str) -> None:
    try:
        peak = Peak.parse(text)
    except RequestError:
        return
    assert peak.name
    assert peak.rate_B_per_s > 0


def test_both_directions_are_held_against_twice_the_peak() -> None:
    peak = Peak("Link", 10e9)
    assert peak.share(15e9, 1) == 1.5
    assert peak.share(15e9, 2) == 0.75
    assert peak.label(2) == "Link 2 × 10 GB/s"


@pytest.mark.parametrize(("share", "text"), [(0.873, "87 %"), (0.0042, "0.42 %"), (12.3, "1230 %"), (0.0, "0 %")])
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text


def test_one_mark_for_each_size_and_none_for_instructions() -> None:
    caches = {(2, "Unified"): [2**20, 2**20], (1, "Data"): [32768, 49152], (1, "Instruction"): [65536]}
    assert [(mark.label, mark.size_B) for mark in cache_marks(caches)] == [
        ("L1d", 32768),
        ("L1d", 49152),
        ("L2", 2**20),
    ]
