"""The answers of `hockney predict`."""

from __future__ import annotations

from typing import Any, NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.apps.ring.model import Link, RingPrediction
from hockney.apps.stencil.surroundings import Tuned
from hockney.models.base import Parameter
from hockney.predict.datatype import DatatypeAnswer
from hockney.predict.every_algorithm import PredictedCollective
from hockney.predict.fft import FftAnswer
from hockney.predict.messages import PredictedMessages
from hockney.predict.profile import PredictedProfile
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT

answer("predict datatype")(DatatypeAnswer)
answer("predict fft")(FftAnswer)
answer("predict profile")(PredictedProfile)
answer(*(f"predict {name}" for name in COLLECTIVES))(PredictedCollective)
answer(*(f"predict {name}" for name in POINT_TO_POINT))(PredictedMessages)


class PredictedGrid(TypedDict):
    """An iteration on one process grid."""

    grid: str
    time_s: float
    low_s: float | None
    high_s: float | None
    compute_s: float
    updates_per_s: float
    communication_s: float
    communication_share: float
    mlups: float
    speedup: float | None
    efficiency: float | None
    solution_s: NotRequired[Parameter]


class PredictedRanks(PredictedGrid):
    """The fastest grid of a number of ranks, and all of them."""

    ranks: int
    cells: tuple[int, int, int]
    told_apart: bool
    not_told_apart_from: list[str]
    grids: list[PredictedGrid]


class Growth(TypedDict):
    """The share of communication on so many ranks."""

    ranks: int
    grid: str
    communication_share: float


class Exceeds(TypedDict):
    """From where on communication takes more than a share of the time; null: nowhere."""

    share: float
    ranks: int | None
    grid: str | None


class Solution(TypedDict):
    """How many iterations a solution takes, by runs of several sizes."""

    iterations: Parameter
    eps: float
    coefficient: Parameter
    exponent: Parameter
    sizes: int
    smallest_n: int
    largest_n: int


class StencilBase(TypedDict):
    """What both forms have."""

    operation: str
    model: str
    scaling: str
    halo: str
    solution: Solution | None
    refused: dict[str, str]
    growth: list[Growth]
    communication_exceeds: list[Exceeds]
    origin: str
    calibrated_on: int
    tuned: Tuned
    warnings: list[str]


class StencilOnOne(StencilBase, PredictedRanks):
    """Grids of one number of ranks."""


class StencilOnSeveral(StencilBase):
    """Grids of several."""

    predictions: list[PredictedRanks]


@with_config(ConfigDict(extra="allow"))
class JacobiFormula(TypedDict):
    """With --model: a formula, for grids or beside runs (docs/reference/jacobi.md)."""

    operation: str
    model: str
    formula: str
    tables: NotRequired[list[dict[str, Any]]]


answer("predict cg")(StencilOnOne | StencilOnSeveral)
answer("predict jacobi")(StencilOnOne | StencilOnSeveral | JacobiFormula)


class RingOfOne(TypedDict):
    """A process alone: its messages go to itself, and take no time that is known."""

    ranks: int
    time_s: None


@answer("predict ring")
class RingAnswer(TypedDict):
    """A ring of messages."""

    operation: str
    model: str
    formula: str
    exchange: str
    message_B: int
    machine: str | None
    links: dict[str, Link]
    points: list[RingPrediction | RingOfOne]
    notes: list[str]


@answer("predict sum3d")
class Sum3dPredictionAnswer(TypedDict):
    """One cycle, by part."""

    operation: str
    size: list[int]
    ranks: int
    grid: str
    split: str
    machine: str
    memory_bandwidth_B_per_s: float
    sum_bandwidth_B_per_s: float
    time_s: float
    block_B: int
    algorithm: str
    origin: str
    scatter_s: float
    compute_s: float
    gather_s: float
    pack_s: float
    warnings: list[str]
    generate_s: float
    low_s: float | None
    high_s: float | None
    shares: dict[str, float]
    elements: list[int]
