"""Sentences of the page: escaped, with what stands between backticks as code, and units beside their numbers."""

from __future__ import annotations

import pytest

from hockney.report.page import coded, unbroken


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain < text", "plain &lt; text"),
        ("`hockney tune` writes, `a <b>` too", "<code>hockney tune</code> writes, <code>a &lt;b&gt;</code> too"),
        ("it's `not closed <i>", "it&#39;s `not closed &lt;i&gt;"),
    ],
)
def test_commands_are_code_and_all_text_is_escaped(text: str, expected: str) -> None:
    assert coded(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("off by 3.4 % in the median", "off by 3.4_% in the median"),
        ("12 GB/s (95 %: 11.8 GB/s)", "12_GB/s (95_%: 11.8_GB/s)"),
        ("0.15 µs for 4 MiB, × 2.19", "0.15_µs for 4_MiB, ×_2.19"),
        ("at 3 sizes, of 4 B and 5 Bytes", "at 3 sizes, of 4_B and 5 Bytes"),
    ],
)
def test_no_line_ends_before_a_unit(text: str, expected: str) -> None:
    assert unbroken(text) == expected.replace("_", "\N{NO-BREAK SPACE}")
