"""`hockney …` as a program that notes what its launches answer: `python program.py real measure …`.

Another word than `real` is a kind of the fake runner: its launches are those of it.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults.tool import fake_launches, noted

from hockney.cli import main

kind = sys.argv.pop(1)
with noted(), nullcontext() if kind == "real" else fake_launches(kind):
    main()
