"""Record README's tour as a terminal: docs/images/tour.svg.

    .venv/bin/python bench/tour

runs the commands of README's `console` block on OSU files, as they stand there, and draws what they print.
"""

from __future__ import annotations

from pathlib import Path
from sys import path as modules

modules.insert(0, str(Path(__file__).parents[2]))

from bench.tour.record import PICTURE, drawn, recorded

PICTURE.write_text(drawn(recorded()), encoding="utf-8")
print(f"wrote {PICTURE}")
