"""`hockney …` as a program that notes what its launches answer: `python program.py real|fake measure …`.

`fake`: its launches are those of the fake runner.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults.tool import fake_launches, noted

from hockney.cli import main

with noted(), fake_launches() if sys.argv.pop(1) == "fake" else nullcontext():
    main()
