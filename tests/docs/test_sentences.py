"""Pages are read once: short sentences, one result in each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.page import ROOT, pages
from tests.terminal.test_style import faults, numbers, sentences

READ_FIRST = {"README.md", "docs/tutorial", "docs/how-to"}
"""Pages whose sentences have one result each; those of reference compare."""
_FENCE = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)
_NO_WORDS = re.compile(r"<!--.*?-->|`[^`]*`|\([^()]*\)(?!\])", re.DOTALL)
"""Comments, names of code, and what stands in brackets: sources, glosses, intervals."""
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\. |    ))|\|")


def paragraphs(text: str) -> Iterator[str]:
    """The prose of a page, one line each: cells of tables, items of lists, no programs and formulas."""
    for block in _BLOCK.split(_FENCE.sub("\n\n", text)):
        if not block.startswith("    "):
            yield " ".join(_NO_WORDS.sub("", _LINK.sub(r"\1", block)).split())


@pytest.mark.parametrize(
    "page",
    # The questions of exercises are their documents' own.
    [page for page in pages() if page.name != "exercises.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_no_sentence_of_a_page_has_a_fault(page: Path) -> None:
    said = [each for block in paragraphs(page.read_text(encoding="utf-8")) for each in sentences(block)]
    assert said
    assert {each: wrong for each in said if (wrong := set(faults(each)) - {"so that"})} == {}
    if str(page.relative_to(ROOT)).startswith(tuple(READ_FIRST)):
        assert [each for each in said if numbers(each) > 1] == []


def test_a_fault_of_a_page_is_seen() -> None:
    (block,) = filter(None, paragraphs(f"```sh\n{'x ' * 30}\n```\n\nThis [{'w ' * 26}](there.md)."))
    assert faults(block) == ["long"]
    assert numbers("It missed by 2 %, and the other by 3 %.") == 2
