"""What a model is: fitted to a series, it gives regimes of T(n) = α + βn that a person can read."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field

from hockney.registry import Registry
from hockney.samples.series import Series


class Parameter(BaseModel):
    """A number with its unit and its 95 % interval; `low` and `high` are None where nothing supports one."""

    model_config = ConfigDict(extra="forbid")

    value: float
    low: float | None = None
    high: float | None = None
    unit: str


class Regime(BaseModel):
    """T(n) = alpha_s + beta_s_per_B · n for min_B ≤ n ≤ max_B (max_B None: no upper end)."""

    model_config = ConfigDict(extra="forbid")

    min_B: float
    max_B: float | None
    alpha_s: Parameter
    beta_s_per_B: Parameter
    label: str = Field(default="", description="eager, rendezvous, … where it is known")


class Quality(BaseModel):
    """How well a fit describes its points; errors are |predicted − measured| / measured."""

    model_config = ConfigDict(extra="forbid")

    points: int
    median_relative_error: float
    p95_relative_error: float
    max_relative_error: float
    adjusted_r2: float | None = Field(description="None with too few points for the number of parameters")
    leave_one_out_median: float | None = Field(description="median error on points left out one at a time")
    leave_one_out_p95: float | None


class Fit(BaseModel):
    """A fitted model. `parameters` are the named quantities of the model (latency_s, o_s, …)."""

    model_config = ConfigDict(extra="forbid")

    model: str
    regimes: list[Regime]
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    nonphysical: bool = Field(default=False, description="a parameter is negative")
    n_half_B: Parameter | None = Field(default=None, description="size that reaches half the bandwidth: α/β")
    quality: Quality | None = None
    notes: list[str] = Field(default_factory=list, description="limits of this fit, in words")


FitFunction = Callable[[Series], Fit]
"""A model is one function from a series to a fit; RequestError where the series cannot support it."""

models: Registry[FitFunction] = Registry("model", "hockney.models")
