"""`hockney …` whose launches are those of the fake runner, as a program: `python fake_tool.py measure …`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults.tool import fake_launches

from hockney.cli import main

with fake_launches():
    main()
