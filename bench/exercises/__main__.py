"""Five exercises' tables beside what Hockney gives from the same inputs: docs/reference/exercises.md.

    .venv/bin/python bench/exercises

`inputs.toml` has the numbers as they were printed, `programs.py` and `networks.py` what
Hockney makes of each, `page.md.j2` the words.
"""

from __future__ import annotations

from pathlib import Path
from sys import path as modules

modules.insert(0, str(Path(__file__).parents[2]))

from bench.exercises.page import PAGE, page

PAGE.write_text(page(), encoding="utf-8")
print(f"wrote {PAGE}")
