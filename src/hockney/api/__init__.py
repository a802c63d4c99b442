"""What notebooks and verbs call: load, fit, predict, evaluate, compare, tune, report.

Each name is imported from its module when it is first used (docs/reference/python.md).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hockney.api.campaign import Campaign as Campaign
    from hockney.api.comparison import Comparison as Comparison
    from hockney.api.evaluation import Evaluation as Evaluation
    from hockney.api.functions import compare as compare
    from hockney.api.functions import evaluate as evaluate
    from hockney.api.functions import fit as fit
    from hockney.api.functions import load as load
    from hockney.api.functions import load_machine as load_machine
    from hockney.api.functions import predict as predict
    from hockney.api.functions import report as report
    from hockney.api.functions import tune as tune
    from hockney.api.machine import Machine as Machine
    from hockney.api.pages import Page as Page
    from hockney.api.tuning import Tuning as Tuning

_MODULES = {
    "campaign": ("Campaign",),
    "comparison": ("Comparison",),
    "evaluation": ("Evaluation",),
    "functions": ("compare", "evaluate", "fit", "load", "load_machine", "predict", "report", "tune"),
    "machine": ("Machine",),
    "pages": ("Page",),
    "tuning": ("Tuning",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
