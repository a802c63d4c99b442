"""The answers of `hockney predict`."""

from __future__ import annotations

from typing import NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.apps.jacobi.predict import JacobiPrediction
from hockney.apps.ring.predict import RingPredictions
from hockney.apps.stencil.predict import GridsOfOneNumber, GridsOfSeveralNumbers
from hockney.apps.sum3d.predict import PredictedSum
from hockney.models.base import Regime
from hockney.predict.added import Term
from hockney.predict.datatype import DatatypeVerdict
from hockney.predict.fft import Transposition
from hockney.predict.profile import Elsewhere
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT

answer("predict profile")(Elsewhere)


class PredictedMessage(TypedDict):
    """The time of one message; `readable_s` is the formula's, before the correction."""

    size_B: int
    time_s: float
    readable_s: float
    correction: float
    weight: float
    low_s: float | None
    high_s: float | None
    bandwidth_B_per_s: float | None
    formula: str
    regime: Regime
    extrapolated: bool
    factor: float | None


class MessageWithEffects(TypedDict):
    """The same with what a ping-pong hides."""

    size_B: int
    time_s: float
    low_s: float | None
    high_s: float | None
    is_bound: bool
    least_s: float
    terms: list[Term]


@answer(*(f"predict {name}" for name in POINT_TO_POINT))
@with_config(ConfigDict(extra="allow"))
class MessagesAnswer(TypedDict):
    """Messages of each size; further words tell the entry that answers: source, system, mpi, window …"""

    machine: str
    reference_s: float | None
    large_reference_s: float | None
    operation: str
    locality: str
    variant: str
    cache: str
    mapping: str
    model: str
    oversubscribed: bool | None
    predictions: list[PredictedMessage]
    warnings: list[str]
    with_effects: NotRequired[list[MessageWithEffects]]


class Bounds(TypedDict, total=False):
    """No algorithm is faster."""

    latency_s: float
    volume_s: float


class AlgorithmTime(TypedDict):
    """One algorithm; what is not known is null (`Row` of hockney.predict.collective)."""

    algorithm: str
    method: str
    time_s: float | None
    low_s: float | None
    high_s: float | None
    readable_s: float | None
    correction: float | None
    weight: float | None
    messages: int | None
    overheads: int | None
    gaps: int | None
    bytes: int | None
    reduced_bytes: int | None
    terms_s: dict[str, float] | None
    formula: str
    asymptotic: str
    note: str
    segment_B: int | None
    flat_B: tuple[int, int] | None
    dominant: str


class PredictedCollective(TypedDict):
    """One size, the fastest algorithm first."""

    bytes: int
    origin: str
    best: str | None
    margin: float | None
    told_apart: bool | None
    not_told_apart_from: list[str]
    bounds: Bounds
    algorithms: list[AlgorithmTime]
    refused: dict[str, str]
    warnings: list[str]


@answer(*(f"predict {name}" for name in COLLECTIVES))
class CollectivesAnswer(TypedDict):
    """Every size that was asked for."""

    operation: str
    ranks: int
    predictions: list[PredictedCollective]


class Layout(TypedDict):
    """Where the data lie."""

    layout: str
    bytes: int
    blocks: int
    lines: float
    accesses: float
    extent_B: float
    element_B: int
    contiguous: bool
    level: str


class WayOfData(TypedDict):
    """One way to send them."""

    time_s: float
    low_s: float | None
    high_s: float | None
    measured: bool
    lower_bound: bool
    model_s: float
    contiguous_s: float
    fixed_s: float
    blocks_s: float
    lines_s: float
    level: float | None
    errors: int


@answer("predict datatype")
class DatatypeAnswer(TypedDict):
    """Scattered data by a datatype and packed by hand."""

    machine: str
    operation: str
    locality: str
    variant: str
    mapping: str
    mpi: str
    system: str
    placement: str
    layout: Layout
    ways: dict[str, WayOfData]
    verdict: DatatypeVerdict
    notes: list[str]


class FftDivision(TypedDict):
    """Slabs or pencils on so many ranks."""

    division: str
    grid: list[int]
    time_s: float | None
    low_s: float | None
    high_s: float | None
    messages: int
    sent_B: float
    terms_s: dict[str, float] | None
    transpositions: list[Transposition]


class FftDecision(TypedDict):
    """The divisions of a number of ranks; `best` is null where none is possible."""

    ranks: int
    divisions: list[FftDivision]
    refused: dict[str, str]
    best: str | None
    margin: NotRequired[float | None]
    told_apart: NotRequired[bool | None]
    not_told_apart_from: NotRequired[list[str]]


class FftTogether(TypedDict):
    """Measured: an all-to-all among `groups` at once takes `factor` times as long as alone."""

    mpi: str
    mapping: str
    groups: int
    ranks: int
    arrangement: str
    block_B: int
    algorithm: str
    factor: float
    low: float | None
    high: float | None
    shares_cores: bool


@answer("predict fft")
class FftAnswer(TypedDict):
    """Slabs or pencils."""

    size: int
    origin: str
    decisions: list[FftDecision]
    pencils_from_ranks: int | None
    why: str
    measured_together: list[FftTogether]
    warnings: list[str]


answer("predict cg")(GridsOfOneNumber | GridsOfSeveralNumbers)
answer("predict jacobi")(JacobiPrediction)
answer("predict ring")(RingPredictions)
answer("predict sum3d")(PredictedSum)
