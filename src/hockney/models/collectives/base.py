"""Models of collectives as they stand in a machine file."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from hockney.models.base import Parameter
from hockney.models.collectives._torus import alltoall_factor
from hockney.models.collectives.around import Around, AroundTimes
from hockney.models.effects.base import Cell
from hockney.models.views import Statement, Views
from hockney.statistics import Array

if TYPE_CHECKING:
    from hockney.models.collectives.closed_form import ClosedForm
    from hockney.models.collectives.expression import FormulaCall

Growth = Literal["1", "log2(P)", "ceil(log2(P))", "P-1", "max((P-1)/6, C)"]
"""How a term grows with the ranks; C is the congestion of an alltoall on a cubic torus (`_torus.congestion`)."""

GROWTHS: dict[Growth, Callable[[Array], Array]] = {
    "1": np.ones_like,
    "log2(P)": np.log2,
    "ceil(log2(P))": lambda ranks: np.frexp(ranks - 1)[1] + 0.0,
    "P-1": lambda ranks: ranks - 1,
    "max((P-1)/6, C)": lambda ranks: np.array([alltoall_factor(int(count)) for count in ranks.tolist()]),
}
"""Each of an array of ranks, same shape."""
Count = Literal["alpha", "bytes", "reduced"]


class _ModelPart(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Term(_ModelPart):
    """factor × parameters[parameter] × growth(P), times the bytes S where `per_byte`."""

    parameter: str
    factor: float = 1.0
    growth: Growth = "1"
    per_byte: bool = False
    counts: Count | None = Field(
        default=None,
        description="instead of growth and bytes: how often the algorithm's closed form counts α, β (bytes) or γ",
    )


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


class CollectiveQuality(_ModelPart):
    """How well a fitted model describes its points; errors are |predicted − measured| / measured.

    Left out is one number of ranks after the other, and one size after the other, each predicted from the rest.
    """

    points: int
    median_relative_error: float
    p95_relative_error: float
    left_out_median: float | None = None
    left_out_p95: float | None = None
    model_factor: float | None = Field(
        default=None, ge=1, description="95 % of what was left out lies between the formula ÷ and × this"
    )
    prediction_factor: float | None = Field(
        default=None, ge=1, description="the same where the points around correct the formula"
    )


class CollectiveModel(_ModelPart):
    """A published or fitted model of a collective; closed forms are known besides."""

    operation: str
    algorithm: str = Field(default="", description="empty: the library's own choice")
    mapping: str = ""
    other: dict[str, str] = Field(
        default_factory=dict, description="what else tells it from its neighbours: source, system, mpi, ppn …"
    )
    segment_B: int = Field(default=0, ge=0, description="size of a segment; 0: none")
    radix: int = Field(default=0, ge=0, description="0: the algorithm's usual one, or it has none")
    statistic: str = Field(default="", description="which time was measured; empty: published")
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
    quality: CollectiveQuality | None = Field(default=None, description="absent: published")
    launches: int | None = Field(default=None, ge=1, description="that timed it, or repetitions of a table")
    oversubscribed: bool | None = None
    source: str = Field(default="", description="where it was published")
    notes: list[str] = Field(default_factory=list, description="limits of this model, in words")

    @model_validator(mode="after")
    def _terms_have_parameters(self) -> Self:
        for term in (term for regime in self.regimes for term in regime.terms):
            if term.parameter not in self.parameters:
                raise ValueError(f"a term has no parameter {term.parameter!r}")
            if term.counts is not None and self._form() is None:
                raise ValueError(
                    f"{self.operation} {self.algorithm} has no closed form that counts {term.counts}"
                )
        return self

    def regime(self, ranks: int, size_B: float) -> CollectiveRegime | None:
        """The first regime that holds for these ranks and bytes; None where none does."""
        return next((regime for regime in self.regimes if _holds(regime, ranks, size_B)), None)

    def time_s(self, ranks: int, size_B: float) -> float | None:
        """Seconds by the regime (a lower bound where it is one); None where no regime holds."""
        regime = self.regime(ranks, size_B)
        return None if regime is None else self.at(regime, ranks, size_B)

    def at(self, regime: CollectiveRegime, ranks: float, size_B: float) -> float:
        """Seconds by the terms of a regime, whether or not it holds there."""
        return float(self.formula_s(regime, np.array([float(ranks)]), np.array([float(size_B)]))[0])

    def formula_s(self, regime: CollectiveRegime, ranks: Array, size_B: Array) -> Array:
        """Seconds by the terms of a regime, whether or not it holds there; arrays of one shape (n,)."""
        time_s = np.zeros_like(ranks)
        for term in regime.terms:
            if term.counts is None:
                times = GROWTHS[term.growth](ranks) * (size_B if term.per_byte else 1.0)
            else:
                times = self._counted(term.counts, ranks, size_B)
            time_s += term.factor * self.parameters[term.parameter].value * times
        return time_s

    def _form(self) -> ClosedForm | None:
        # A machine file without such models is read without formulas.
        from hockney.models.collectives.closed_form import closed_form

        return closed_form(self.operation, self.algorithm)

    def _counted(self, count: Count, ranks: Array, size_B: Array) -> Array:
        from hockney.models.collectives.expression import FormulaCall

        form = self._form()
        assert form is not None, "checked as the model was made"
        return counted(form, count, FormulaCall(ranks, size_B, float(self.segment_B), float(self.radix)))

    def extended_s(self, ranks: Array, size_B: Array) -> Array:
        """Seconds of a fitted model at any ranks and sizes, shape (n,): beyond its range by the next regime."""
        time_s = np.zeros_like(ranks)
        upper = np.array([np.inf if regime.max_B is None else regime.max_B for regime in self.regimes])
        place = np.minimum(np.searchsorted(upper, size_B, side="left"), upper.size - 1)
        for index, regime in enumerate(self.regimes):
            there = place == index
            time_s[there] = self.formula_s(regime, ranks[there], size_B[there])
        return time_s

    @property
    def is_fitted(self) -> bool:
        """Whether it was made from points that it carries."""
        return self.quality is not None and bool(self.points)

    @property
    def name(self) -> str:
        """`binomial, segments of 1024 B, radix 4`; the library's own choice is `default` where it was fitted."""
        words = [self.algorithm or ("default" if self.is_fitted else "")]
        words += [f"segments of {self.segment_B} B"] if self.segment_B else []
        words += [f"radix {self.radix}"] if self.radix else []
        return ", ".join(filter(None, words))

    @cached_property
    def around(self) -> Around:
        """The measured points of a fitted model, beside its formula."""
        columns = {
            name: np.array([np.nan if row.get(name) is None else float(row[name] or 0) for row in self.points])
            for name in ("ranks", "bytes", "time_s", "low_s", "high_s")
        }
        at = columns["ranks"], columns["bytes"]
        return Around(*at, *(columns[name] / self.extended_s(*at) for name in ("time_s", "low_s", "high_s")))

    def predicted(self, ranks: Array, size_B: Array) -> AroundTimes:
        """Times with 95 % intervals, shapes (n,): the formula, corrected by the measured points around.

        At a measured point it is that point's time. Only of a fitted model.
        """
        factor = None if self.quality is None else self.quality.prediction_factor
        return self.around.corrected(ranks, size_B, self.extended_s(ranks, size_B), factor)


def _holds(regime: CollectiveRegime, ranks: int, size_B: float) -> bool:
    return (
        regime.min_ranks <= ranks
        and (regime.max_ranks is None or ranks <= regime.max_ranks)
        and regime.min_B <= size_B
        and (regime.max_B is None or size_B <= regime.max_B)
    )


def counted(form: ClosedForm, count: Count, case: FormulaCall) -> Array:
    """How often a closed form counts α, β or γ, shape of `case.ranks`; 0 on one rank."""
    times = getattr(form, count).value(case._replace(ranks=np.maximum(case.ranks, 2)))
    return np.where(np.asarray(case.ranks) > 1, times, 0.0)
