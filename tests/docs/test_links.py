"""Every link of a page leads to a file of a clone, and to a heading that GitHub and `make docs` both find."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from tests.docs.page import ROOT
from tests.processes import captured

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^ {0,3}```.*?^ {0,3}```|(?<!`)`[^`\n]*`", re.MULTILINE | re.DOTALL)


def _pages() -> list[Path]:
    listed = captured(["git", "ls-files", "*.md", ":!tests/*"], cwd=ROOT, check=True)
    return [ROOT / name for name in listed.stdout.split()]


def _of_mkdocs(title: str) -> str:
    """The anchor that MkDocs gives a heading: ASCII, runs of blanks and hyphens as one hyphen."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def anchors(text: str) -> set[str]:
    """What a link may name: headings that GitHub and MkDocs turn into the same word."""
    titles = re.findall(
        r"^#+ (.*)$", CODE.sub(lambda code: code[0] if code[0][0:3] != "```" else "", text), re.MULTILINE
    )
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).replace("`", "") for title in titles]
    on_github = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in plain}
    return on_github & {_of_mkdocs(title) for title in plain}


def broken(page: Path) -> list[str]:
    """Links of a page that lead nowhere."""
    found = []
    for link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        name, _, anchor = link.partition("#")
        there = (page.parent / name).resolve() if name else page
        if re.match(r"\w+:", link):
            continue
        if not there.exists() or (anchor and anchor not in anchors(there.read_text(encoding="utf-8"))):
            found.append(link)
    return found


@pytest.mark.parametrize("page", _pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_work_in_a_clone(page: Path) -> None:
    assert broken(page) == []


def test_a_link_to_no_file_or_heading_is_broken(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# A page\n\n```sh\n# No heading\n```\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text("[a](there.md#a-page) [b](there.md#no-heading) [c](gone.md) `[d](no.md)`\n", encoding="utf-8")
    assert broken(page) == ["there.md#no-heading", "gone.md"]
