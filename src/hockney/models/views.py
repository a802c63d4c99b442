"""Four views of a model (Hoefler et al. 2010, section 2): asymptotic, dominant term, bounded, exact by regime."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

View = Literal["asymptotic", "dominant", "bounded", "exact"]
VIEWS: tuple[View, ...] = get_args(View)


class Statement(BaseModel):
    """One statement about a model: a formula as text and as LaTeX, and where it holds."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(description="T(n) = 4.5 µs + 2.67 ns/B · n")
    latex: str
    where: str = Field(default="", description="the regime: n ≤ 256 B; empty: everywhere")
    source: str = Field(default="", description="the paper and its equation, or the measurement, behind it")


class Views(BaseModel):
    """A model four times, from the coarsest statement to the finest; a view without a statement is empty."""

    model_config = ConfigDict(extra="forbid")

    asymptotic: list[Statement] = Field(default_factory=list, description="Θ: no constants")
    dominant: list[Statement] = Field(default_factory=list, description="the leading term with its constant")
    bounded: list[Statement] = Field(
        default_factory=list, description="what it lies between, whatever is not known"
    )
    exact: list[Statement] = Field(default_factory=list, description="every parameter, one statement a regime")

    def of(self, view: View) -> list[Statement]:
        """The statements of one view."""
        return list(getattr(self, view))
