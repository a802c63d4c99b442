"""The verbs as functions of paths, campaigns and machines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from hockney.api.campaign import Campaign
from hockney.api.machine import Machine
from hockney.errors import RequestError
from hockney.machine.file import is_machine_file

if TYPE_CHECKING:
    from hockney.api.comparison import Comparison
    from hockney.api.evaluation import Evaluation
    from hockney.api.pages import Page
    from hockney.api.tuning import Tuning

Measured: TypeAlias = str | Path | Campaign
Models: TypeAlias = str | Path | Machine


def load(path: str | Path) -> Campaign:
    """A campaign folder or a tidy table; it is read when something is asked of it."""
    return Campaign.open(path)


def load_machine(path: str | Path) -> Machine:
    """A machine file, or a machine that comes with hockney, by its name: `load_machine("bluegene_p")`."""
    return Machine.open(path)


def fit(measured: Measured, topology: str = "") -> Machine:
    """`Campaign.fit`."""
    return _campaign(measured).fit(topology)


def predict(machine: Models, operation: str, **asked: Any) -> pd.DataFrame:
    """`Machine.predict`."""
    return _machine(machine).predict(operation, **asked)


def evaluate(measured: Measured, operation: str = "pingpong", **asked: Any) -> Evaluation:
    """`Campaign.evaluate`."""
    return _campaign(measured).evaluate(operation, **asked)


def compare(a: Models, b: Models, *, points: bool = False) -> Comparison:
    """`Machine.compare`: what differs between A and B by more than chance."""
    return _machine(a).compare(_machine(b), points=points)


def tune(measured: Measured | Machine, target: str, **asked: Any) -> Tuning:
    """`Campaign.tune`, or `Machine.tune` of a machine or its file, by the model alone."""
    if isinstance(measured, Machine) or (isinstance(measured, str | Path) and is_machine_file(Path(measured))):
        return _machine(measured).tune(target, **asked)
    return _campaign(measured).tune(target, **asked)


def report(measured: Measured | Sequence[Measured], output: str | Path | None = None, **options: Any) -> Page:
    """`Campaign.report`; several are compared on one page, each with the first.

    RequestError where none is given.
    """
    from hockney.api.pages import page_by

    several = [measured] if isinstance(measured, str | Path | Campaign) else list(measured)
    if not several:
        raise RequestError("report needs a campaign", "name one; several are compared on one page")
    return page_by([_campaign(each).path for each in several], output, options)


def _campaign(measured: Measured) -> Campaign:
    return measured if isinstance(measured, Campaign) else load(measured)


def _machine(machine: Models) -> Machine:
    return machine if isinstance(machine, Machine) else load_machine(machine)
