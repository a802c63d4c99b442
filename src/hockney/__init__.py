"""Hockney: measure, model, predict and tune MPI communication.

    import hockney as hk

    campaign = hk.load("campaign")
    machine = hk.fit(campaign)
    machine.predict("bcast", ranks=512, bytes="1MiB")

These names are `hockney.api`'s; they are imported when they are first used, so that a help page needs no pandas.
"""

from __future__ import annotations

import lazy_loader  # type: ignore[import-untyped]

__version__ = "0.1.0"

# Others have `hockney.api` alone: predict, tune and report are rooms of this package.
_OF_API = ["Campaign", "Machine", "compare", "evaluate", "fit", "load", "load_machine"]
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={"api": _OF_API})
