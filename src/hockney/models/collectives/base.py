"""Models of collectives: closed forms by operation and algorithm, and models as they stand in a machine file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hockney.models.base import Parameter
from hockney.models.collectives._torus import alltoall_factor
from hockney.models.collectives.closed_form import ClosedForm, Optimum
from hockney.models.effects.base import Cell
from hockney.models.views import Statement, Views
from hockney.registry import Registry


@dataclass(frozen=True)
class Collective:
    """An operation: the optimum and the closed form of each algorithm that has one, by name."""

    optimum: Optimum
    forms: Mapping[str, ClosedForm]


collective_models: Registry[Collective] = Registry(
    "model of a collective", "hockney.models.collectives.forms", "reference/collective-models.md"
)
"""Operations by name."""

_ALIASES = {
    "basic_linear": "linear",
    "binary_tree": "binary",
    "split_binary_tree": "split_binary",
    "in_order_binary": "binary",
    "modified_bruck": "bruck",
    "neighbor": "neighbor_exchange",
    "nonoverlapping": "reduce_bcast",
    "linear_nb": "linear_nonblocking",
}
"""Open MPI's names of algorithms, with those of their closed forms."""


def closed_form(operation: str, algorithm: str) -> ClosedForm | None:
    """The closed form of an algorithm; None where there is none, as for a library's own choice."""
    if operation not in collective_models.names():
        return None
    forms = collective_models.get(operation).forms
    return forms.get(algorithm) or forms.get(_ALIASES.get(algorithm, ""))


Growth = Literal["1", "log2(P)", "ceil(log2(P))", "P-1", "max((P-1)/6, C)"]
"""How a term grows with the ranks; C is the congestion of an alltoall on a cubic torus (`_torus.congestion`)."""

_GROWTHS: dict[Growth, Callable[[int], float]] = {
    "1": lambda _: 1.0,
    "log2(P)": math.log2,
    "ceil(log2(P))": lambda ranks: float((ranks - 1).bit_length()),
    "P-1": lambda ranks: float(ranks - 1),
    "max((P-1)/6, C)": alltoall_factor,
}


class _ModelPart(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Term(_ModelPart):
    """factor × parameters[parameter] × growth(P), times the bytes S where `per_byte`."""

    parameter: str
    factor: float = 1.0
    growth: Growth = "1"
    per_byte: bool = False


class CollectiveRegime(_ModelPart):
    """Ranks and bytes for which the terms add up to the time, both ends included; None: no end.

    Bytes count as in the tidy table.
    """

    terms: list[Term]
    min_ranks: int = Field(default=1, ge=1)
    max_ranks: int | None = None
    min_B: float = 0.0
    max_B: float | None = None
    lower_bound: bool = Field(default=False, description="the terms are what it takes at least, no time")


class CollectiveModel(_ModelPart):
    """A published or fitted model of a collective; closed forms are known besides."""

    operation: str
    algorithm: str = Field(default="", description="empty: the library's own choice")
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    regimes: list[CollectiveRegime] = Field(
        default_factory=list, description="the first that holds counts; empty: formulas in words only"
    )
    views: Views = Field(default_factory=Views)
    as_printed: list[Statement] = Field(
        default_factory=list, description="what the source prints, where `views` correct it"
    )
    points: list[dict[str, Cell]] = Field(
        default_factory=list, description="what was measured, a row each; units are in the names"
    )
    source: str = Field(default="", description="where it was published")
    notes: list[str] = Field(default_factory=list, description="limits of this model, in words")

    @model_validator(mode="after")
    def _terms_have_parameters(self) -> Self:
        for term in (term for regime in self.regimes for term in regime.terms):
            if term.parameter not in self.parameters:
                raise ValueError(f"a term has no parameter {term.parameter!r}")
        return self

    def regime(self, ranks: int, size_B: float) -> CollectiveRegime | None:
        """The first regime that holds for these ranks and bytes; None where none does."""
        return next((regime for regime in self.regimes if _holds(regime, ranks, size_B)), None)

    def time_s(self, ranks: int, size_B: float) -> float | None:
        """Seconds by the regime (a lower bound where it is one); None where no regime holds."""
        regime = self.regime(ranks, size_B)
        if regime is None:
            return None
        return sum(
            term.factor
            * self.parameters[term.parameter].value
            * _GROWTHS[term.growth](ranks)
            * (size_B if term.per_byte else 1.0)
            for term in regime.terms
        )


def _holds(regime: CollectiveRegime, ranks: int, size_B: float) -> bool:
    return (
        regime.min_ranks <= ranks
        and (regime.max_ranks is None or ranks <= regime.max_ranks)
        and regime.min_B <= size_B
        and (regime.max_B is None or size_B <= regime.max_B)
    )
