"""`hockney …` that a signal meets at a step of writing a folder: `python struck.py STEP SIGNAL FOLDER import …`.

A step is a file of the folder that is made or moved, or its mark that is removed. From 1; where there are fewer
steps nothing happens.
"""

from __future__ import annotations

import os
import sys
from itertools import count
from pathlib import Path
from typing import Any

from hockney.cli import main
from hockney.records.folder import UNFINISHED

STEP, SIGNAL = int(sys.argv.pop(1)), int(sys.argv.pop(1))
FOLDER = Path(sys.argv.pop(1)).resolve()
steps = count(1)


def _is_step(event: str, arguments: tuple[Any, ...]) -> bool:
    if event not in ("open", "os.rename", "os.remove") or not isinstance(arguments[0], (str, os.PathLike)):
        return False
    path = Path(arguments[0]).absolute()
    if path.parent != FOLDER:
        return False
    makes, removes = event == "open" and arguments[-1] & os.O_CREAT, event == "os.remove"
    return bool(makes) or event == "os.rename" or (removes and path.name == UNFINISHED)


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _is_step(event, arguments) and next(steps) == STEP:
        os.kill(os.getpid(), SIGNAL)


sys.addaudithook(_watch)
main()
