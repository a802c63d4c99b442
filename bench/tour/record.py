"""What a terminal shows while README's tour is typed into it, as text and as an SVG that fetches nothing."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from html import unescape
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "images" / "tour.svg"
COLUMNS = 100
FORMAT = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>Hockney on OSU files: import, fit, identify, predict</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
line-height: {line_height}px; white-space: pre; }}
.{unique_id}-title {{ font-family: sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own format names a font of another host."""


def commands() -> list[str]:
    """The tour's commands, as README has them: its one block of `console`."""
    block = re.search(r"```console\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    joined = block[1].replace("\\\n", "\\\v")
    return [line[2:].replace("\v", "\n") for line in joined.split("\n") if line.startswith("$ ")]


def recorded() -> list[tuple[str, str]]:
    """Each command, and what it prints on a terminal of that width."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    surroundings = os.environ | {"PATH": path, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        for command in commands():
            found.append((command, _on_terminal(command, folder, surroundings)))
    return found


def _on_terminal(command: str, folder: str, surroundings: dict[str, str]) -> str:
    """What it prints on a terminal, with its colours; what it says on standard error is left out."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 50, COLUMNS, 0, 0))
    with subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=surroundings, stdout=its, stderr=subprocess.DEVNULL
    ) as shell:
        os.close(its)
        printed = b""
        try:
            while part := os.read(ours, 1 << 16):
                printed += part
        except OSError:  # so a terminal says that nobody writes any more
            pass
        os.close(ours)
    if shell.returncode:
        raise RuntimeError(f"{command} ended with {shell.returncode}")
    return printed.decode().replace("\r\n", "\n")


def drawn(tour: list[tuple[str, str]]) -> str:
    """The picture."""
    console = Console(
        record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    for command, printed in tour:
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")), soft_wrap=True)
        console.print(Text.from_ansi(printed), soft_wrap=True)
    return console.export_svg(title="Hockney on OSU files", code_format=FORMAT, unique_id="tour")


def lines_of(picture: str) -> list[str]:
    """The lines that a picture shows, without spaces at their ends."""
    rows: dict[str, list[str]] = {}
    for y, text in re.findall(r'<text class="tour-r\d+"[^>]* y="([\d.]+)"[^>]*>(.*?)</text>', picture):
        rows.setdefault(y, []).append(unescape(text).replace("\xa0", " "))
    return ["".join(parts).rstrip() for parts in rows.values()]
