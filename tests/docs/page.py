"""A page as its reader meets it: blocks of commands, in their order.

A fenced block of `sh` is a shell script, one of `python` a script of Python; in one of `console`, what follows
`$ ` is a command, and what follows a command is its output, in which `…` stands for anything. Words of the fence
say what a test has to know:

    ```{.sh not="needs root"}       is never run by a test, for this reason
    ```{.sh slow="half a minute"}   runs in `make test-all` alone
    ```{.sh given="machine.json"}   takes these as there already: `given.py` makes them
    ```{.sh exits="0 1"}            these exit codes are answers
    ```{.sh needs="namespaces"}     is left out where the machine lacks it (`test_commands.NEEDS`)
    ```{.sh adds="--dry-run"}       the test gives this to each `hockney` as well, for want of such a machine
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LANGUAGES = ("sh", "python", "console")
WORDS = {"not", "slow", "given", "exits", "needs", "adds"}
"""What a fence may say."""

_FENCE = re.compile(r" {0,3}```(.*)")
_ATTRIBUTES = re.compile(r"\{\.(\w+)((?: \w+=\"[^\"]+\")*)\}")
_COMMAND = re.compile(
    r"(?: {4,}|\t)(?:\$ )?(?:\w+=\S+ )*(?:sudo )?"
    r"(?:(?:hockney|make|pip|git|source|export|mpirun|mpicc|srun|sbatch) |python3? [-\w/]+).*"
)
"""A line of an indented block that a reader would type."""


@dataclass(frozen=True)
class Piece:
    """What runs at once: a block of `sh`, or one command of a `console`."""

    line: int
    text: str
    output: tuple[str, ...]
    says: dict[str, str]


def pages() -> list[Path]:
    """Every page that has commands for a reader."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def pieces(page: Path) -> list[Piece]:
    """Its commands."""
    return [piece for line, info, block in _fences(page) for piece in _pieces(page, line, info, block)]


def outside(page: Path) -> list[str]:
    """Commands that stand in no block of commands, so that no test would run them."""
    lines = page.read_text(encoding="utf-8").splitlines()
    fenced = {number for line, _, block in _fences(page) for number in range(line, line + len(block) + 1)}
    found = [
        f"{page.relative_to(ROOT)}:{number}: {line.strip()}"
        for number, line in enumerate(lines, 1)
        if number not in fenced and _COMMAND.fullmatch(line)
    ]
    for start, info, block in _fences(page):
        if _language(info)[0] not in LANGUAGES:
            found += [
                f"{page.relative_to(ROOT)}:{number}: {line.strip()}"
                for number, line in enumerate(block, start + 1)
                if _COMMAND.fullmatch(f"    {line}")
            ]
    return found


def _fences(page: Path) -> Iterator[tuple[int, str, list[str]]]:
    """The line of each fence, what it says, and the lines of its block."""
    start, info, block = 0, "", list[str]()
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.fullmatch(line)
        if fence and start:
            yield start, info, block
            start = 0
        elif fence:
            start, info, block = number, fence[1].strip(), []
        elif start:
            block.append(line)
    assert not start, f"{page}:{start}: this block does not end"


def _language(info: str) -> tuple[str, dict[str, str]]:
    found = _ATTRIBUTES.fullmatch(info)
    return (found[1], dict(re.findall(r'(\w+)="([^"]+)"', found[2]))) if found else (info, {})


def _pieces(page: Path, start: int, info: str, block: list[str]) -> Iterator[Piece]:
    language, says = _language(info)
    assert says.keys() <= WORDS, f"{page}:{start}: a fence may say {', '.join(sorted(WORDS))}"
    if language == "sh":
        yield Piece(start, "\n".join(block), (), says)
    elif language == "python":
        yield Piece(start, "\n".join(["python - <<'END'", *block, "END"]), (), says)
    elif language == "console":
        command, output, at = list[str](), list[str](), start
        for number, line in enumerate(block, start + 1):
            if command and not output and command[-1].endswith("\\"):
                command.append(line)
            elif line.startswith("$ "):
                if command:
                    yield Piece(at, "\n".join(command), tuple(output), says)
                command, output, at = [line[2:]], [], number
            else:
                assert command, f"{page}:{number}: output of no command"
                output.append(line)
        if command:
            yield Piece(at, "\n".join(command), tuple(output), says)
