"""What two fitted models of a collective have in common: their terms, and times that both measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hockney.models.base import Parameter
from hockney.models.collectives.base import CollectiveModel
from hockney.units import format_bytes


def form_of(model: CollectiveModel) -> list[dict[str, Any]]:
    """The terms and ranges of a model, without numbers."""
    return [regime.model_dump(exclude={"min_ranks", "max_ranks"}) for regime in model.regimes]


def common_times(a: CollectiveModel, b: CollectiveModel) -> list[tuple[str, Parameter, Parameter]]:
    """Times that both measured, on the fewest and most ranks: of the smallest, a middle and the largest size.

    Nothing of published models.
    """
    if not (a.is_fitted and b.is_fitted):
        return []
    sides = [{(int(row["ranks"] or 0), int(row["bytes"] or 0)): row for row in model.points} for model in (a, b)]
    both = sorted(sides[0].keys() & sides[1].keys())
    chosen = []
    for ranks in dict.fromkeys((both[0][0], both[-1][0])) if both else ():
        sizes = [size_B for count, size_B in both if count == ranks]
        chosen += [(ranks, size_B) for size_B in dict.fromkeys((sizes[0], sizes[len(sizes) // 2], sizes[-1]))]
    return [(f"{at[0]} ranks, {format_bytes(at[1])}", _time(sides[0][at]), _time(sides[1][at])) for at in chosen]


def _time(row: Mapping[str, Any]) -> Parameter:
    return Parameter(value=row["time_s"], low=row.get("low_s"), high=row.get("high_s"), unit="s")
