"""Models of collectives as they stand in a machine file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from hockney.models.base import Parameter
from hockney.models.collectives.around import Around, AroundTimes
from hockney.models.effects.base import Cell
from hockney.models.views import Statement, Views
from hockney.statistics import Array
from hockney.units import percent

if TYPE_CHECKING:
    from hockney.models.collectives.closed_form import ClosedForm
    from hockney.models.collectives.expression import Expression, FormulaCall

Growth = Literal[
    "1",
    "log2(P)",
    "ceil(log2(P))",
    "floor(log2(P))+2r",
    "P^(1/3)",
    "P-1",
    "P log2(P)",
    "P^(4/3)",
    "max((P-1)/6, C)",
]
"""How a term grows with the ranks; C is the congestion of an alltoall on a cubic torus (`_torus.congestion`).

⌊log₂P⌋ + 2r are the rounds of recursive doubling, with r = 0 for P a power of two, else 1.
"""
Count = Literal["alpha", "bytes", "reduced"]


class _ModelPart(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", allow_inf_nan=False)


class Term(_ModelPart):
    """factor × parameters[parameter] × growth(P), times the bytes n where `per_byte`."""

    parameter: str = Field(default="", description="empty: the factor alone, with its unit")
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
    rivals: list[list[Term]] = Field(
        default_factory=list, description="terms that grow otherwise and fit these points as well; the best first"
    )


class CollectiveQuality(_ModelPart):
    """How well a fitted model describes its points; errors are |predicted − measured| / measured.

    Left out is one number of ranks after the other, and one size after the other, each predicted from the rest.
    """

    points: int
    median_relative_error: float = Field(description="of the formula; 0 where there is none")
    p95_relative_error: float
    left_out_median: float | None = None
    left_out_p95: float | None = None
    model_factor: float | None = Field(
        default=None, ge=1, description="95 % of what was left out lies between the formula ÷ and × this"
    )
    prediction_factor: float | None = Field(
        default=None, ge=1, description="the same where the points around correct the formula"
    )
    ranks_factor: float = Field(
        default=1.0,
        ge=1,
        description="for each doubling beyond the ranks: 95 % of the last lie within it of fits without them",
    )
    sizes_factor: float = Field(default=1.0, ge=1, description="the same beyond the sizes")


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
        sums = (terms for regime in self.regimes for terms in (regime.terms, *regime.rivals))
        for term in chain.from_iterable(sums):
            if term.parameter and term.parameter not in self.parameters:
                raise ValueError(f"a term has no parameter {term.parameter!r}")
            if term.counts is not None and self.closed_form is None:
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
        return None if regime is None else self.at(regime.terms, ranks, size_B)

    def at(self, terms: Sequence[Term], ranks: float, size_B: float) -> float:
        """Seconds by these terms, whether or not their regime holds there."""
        return float(self.terms_s(terms, np.array([float(ranks)]), np.array([float(size_B)]))[0])

    def value(self, term: Term) -> float:
        """What a term is multiplied by, in seconds or seconds a byte."""
        return term.factor * (self.parameters[term.parameter].value if term.parameter else 1.0)

    def terms_s(self, terms: Sequence[Term], ranks: Array, size_B: Array) -> Array:
        """Seconds by these terms, whether or not their regime holds there; arrays of one shape (n,)."""
        from hockney.models.collectives.expression import FormulaCall

        case = FormulaCall(ranks, size_B, float(self.segment_B), float(self.radix))
        time_s = np.zeros_like(ranks)
        for term in terms:
            time_s += self.value(term) * counted(self.closed_form, term, case)
        return time_s

    @property
    def closed_form(self) -> ClosedForm | None:
        """That of its algorithm; None where there is none."""
        from hockney.models.collectives.closed_form import closed_form

        return closed_form(self.operation, self.algorithm)

    def nearest(self, ranks: Array, size_B: Array) -> NDArray[np.intp]:
        """Places of the regimes that hold or, beyond all and in between, are nearest, shape (n,)."""
        away = np.zeros((len(self.regimes), ranks.size))
        for place, regime in enumerate(self.regimes):
            for at, low, high in (
                (ranks, regime.min_ranks, regime.max_ranks),
                (size_B, regime.min_B, regime.max_B),
            ):
                held = np.clip(at, low, np.inf if high is None else high)
                away[place] += np.log2(np.maximum(at, 1) / np.maximum(held, 1)) ** 2
        return np.asarray(away.argmin(axis=0))

    def extended_s(self, ranks: Array, size_B: Array) -> Array:
        """Seconds of a fitted model at any ranks and sizes, shape (n,): beyond its range by the nearest regime.

        Without a formula 1 s, which the points around correct to what lies between them.
        """
        time_s = np.ones_like(ranks)
        if self.regimes:
            place = self.nearest(ranks, size_B)
            for index in np.unique(place):
                inside = place == index
                time_s[inside] = self.terms_s(self.regimes[index].terms, ranks[inside], size_B[inside])
        return time_s

    @property
    def is_fitted(self) -> bool:
        """Whether it was made from points that it carries."""
        return self.quality is not None and bool(self.points)

    @property
    def quality_in_short(self) -> str:
        """`12 points, hidden ones missed by 18 %`, or why there is no formula."""
        if self.quality is None:
            return "published"
        points = f"{self.quality.points} points"
        if not self.regimes:
            return self.notes[0] if self.notes else f"{points}, no formula"
        missed = self.quality.left_out_median
        return points if missed is None else f"{points}, hidden ones missed by {percent(missed)}"

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

        At a measured point it is that point's time and interval. Beyond the points the interval grows as fits
        without the last ones missed these, and holds what the rivals of the formula give from there on. Only of a
        fitted model.
        """
        factor, growth = None, (1.0, 1.0)
        if self.quality is not None:
            factor = self.quality.prediction_factor
            growth = self.quality.ranks_factor, self.quality.sizes_factor
        corrected = self.around.corrected(ranks, size_B, self.extended_s(ranks, size_B), factor, growth)
        if not self.regimes:
            # Nothing says what lies beyond points without a formula.
            told = np.where(corrected.beyond > 0, np.nan, 1.0)
            return replace(
                corrected,
                time_s=corrected.time_s * told,
                low_s=corrected.low_s * told,
                high_s=corrected.high_s * told,
            )
        if not (corrected.beyond > 0).any():
            return corrected
        low, high = np.ones_like(ranks), np.ones_like(ranks)
        inside = tuple(
            np.clip(asked, measured.min(), measured.max())
            for asked, measured in ((ranks, self.around.ranks), (size_B, self.around.size_B))
        )
        place = self.nearest(*inside)
        for index in np.unique(place[corrected.beyond > 0]):
            beyond = (place == index) & (corrected.beyond > 0)
            asked, edge = ((ranks[beyond], size_B[beyond]), tuple(at[beyond] for at in inside))
            regime = self.regimes[index]
            own_s = [self.terms_s(regime.terms, *at) for at in (asked, edge)]
            for rival in regime.rivals:
                asked_s, edge_s = (self.terms_s(rival, *at) for at in (asked, edge))
                known = (edge_s > 0) & (own_s[0] > 0)
                other = np.divide(asked_s * own_s[1], edge_s * own_s[0], out=np.ones_like(edge_s), where=known)
                low[beyond], high[beyond] = np.minimum(low[beyond], other), np.maximum(high[beyond], other)
        return replace(corrected, low_s=corrected.low_s * low, high_s=corrected.high_s * high)


def _holds(regime: CollectiveRegime, ranks: int, size_B: float) -> bool:
    return (
        regime.min_ranks <= ranks
        and (regime.max_ranks is None or ranks <= regime.max_ranks)
        and regime.min_B <= size_B
        and (regime.max_B is None or size_B <= regime.max_B)
    )


def expression(form: ClosedForm | None, term: Term) -> Expression:
    """What a term is multiplied by: its law of growth, or what the closed form counts."""
    # Formulas, which whoever reads a machine file does without.
    from hockney.models.collectives.closed_form import LAWS, n

    if term.counts is None:
        return LAWS[term.growth] * n if term.per_byte else LAWS[term.growth]
    assert form is not None, "checked as the model was made"
    found: Expression = getattr(form, term.counts)
    return found


def counted(form: ClosedForm | None, term: Term, case: FormulaCall) -> Array:
    """What a term is multiplied by, shape of `case.ranks`; what a closed form counts is 0 on one rank."""
    found = expression(form, term)
    if term.counts is None:
        return np.broadcast_to(found.value(case), np.shape(case.ranks))
    times = found.value(case._replace(ranks=np.maximum(case.ranks, 2)))
    return np.where(np.asarray(case.ranks) > 1, times, 0.0)
