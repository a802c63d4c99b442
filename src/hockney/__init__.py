"""Hockney: measure, model, predict and tune MPI communication.

    import hockney as hk

    campaign = hk.load("campaign")
    machine = hk.fit(campaign)
    machine.predict("bcast", ranks=512, bytes="1MiB")

These names are `hockney.api`'s; they are imported when they are first used, so that a help page needs no pandas.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# Others have `hockney.api` alone: predict, tune and report are rooms of this package.
_OF_API = ("Campaign", "Machine", "compare", "evaluate", "fit", "load", "load_machine")


def __getattr__(name: str) -> Any:
    if name not in _OF_API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("hockney.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_OF_API})
