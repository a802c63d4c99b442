"""Sentences of the page: escaped, with what stands between backticks as code."""

from __future__ import annotations

import pytest

from hockney.report.page import coded


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
