"""How a launch loads rules: by the variables that the target names, or by the layer of `hockney apply`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hockney.campaign.plan import Plan
from hockney.errors import EnvironmentLack
from hockney.records.preload_table import PreloadTable
from hockney.runner.applied import variables
from hockney.runner.find import find
from hockney.runner.launchers.base import launchers
from hockney.runner.preload_build import preload_library
from hockney.tune.rules import Rule
from hockney.tune.targets.base import Target


class Added(NamedTuple):
    """What a launch with rules has beyond one without: launcher arguments and environment."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


Loader = Callable[[Path, str, Sequence[Rule]], Added]
"""What loads a file (its path, its text, the rules in it)."""


def loader(target: Target, plan: Plan) -> Loader:
    """The loader of a target in the launches of a plan; EnvironmentLack where its MPI can preload nothing."""
    if not target.is_preloaded:
        return lambda path, _, rules: Added((), target.settings(path, rules))
    mpi = find(plan.mpi, plan.launcher or None)
    preload = launchers.get(mpi.launcher_kind).preload
    if preload is None:
        raise EnvironmentLack(f"{mpi.describe()} can preload nothing, so that no launch can try the table")
    arguments = tuple(preload({"LD_PRELOAD": str(preload_library(mpi))}, ()))
    return lambda _, text, __: Added(arguments, variables(PreloadTable.model_validate_json(text)))
