"""The page on batch systems: its command writes the script that it shows. `tests/docs` runs the others."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.batch.fake import Fake
from tests.command_line import run_hockney

PAGE = Path(__file__).parents[2] / "docs/how-to/batch.md"


def blocks() -> list[str]:
    """The fenced blocks of the page."""
    found = re.findall(r"^```[^\n]*\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [block.strip() for block in found]


def test_the_command_of_the_page_writes_its_script(command: Fake, tmp_path: Path) -> None:
    command("sbatch", "Submitted batch job 17")
    first, script = blocks()[:2]
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites/here.toml").write_text(next(block for block in blocks() if "partition = " in block))
    words = shlex.split(first.replace("\\\n", " "))
    assert words[0] == "hockney"
    done = run_hockney(*words[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "nodes/jobs/measure.sh").read_text()
    # Where it lies, and how the program is called, is another matter on each machine.
    written = re.sub(
        r"exec \S+/hockney", "exec /home/me/.venv/bin/hockney", written.replace(str(tmp_path), "/home/me")
    )
    assert written.strip() == script
