"""The answer of `hockney diff`."""

from __future__ import annotations

from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.models.base import Parameter
from hockney.report.views.quantity import Verdict


class Side(TypedDict):
    """One machine."""

    machine: str
    system: str
    mpi: list[str]
    created: str


class Level(TypedDict):
    """The level of the machine at which a side was measured."""

    reference_s: float
    large_reference_s: float | None
    share: float


class ComparedQuantity(TypedDict):
    """A quantity that both machines have; the ratio is b / a."""

    where: str
    quantity: str
    a: Parameter
    b: Parameter
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    verdict: Verdict
    judged: bool
    launches_a: int | None
    launches_b: int | None
    p: float | None
    p_corrected: float | None
    level_a: Level | None
    level_b: Level | None
    at_reference_s: float | None
    at_large_reference_s: float | None
    elsewhere_a: bool
    elsewhere_b: bool


class Warnings(TypedDict):
    """About the measurements of each side."""

    a: list[str]
    b: list[str]


@answer("diff")
class DiffAnswer(TypedDict):
    """Two machines, quantity by quantity."""

    a: Side
    b: Side
    comparisons: list[ComparedQuantity]
    compared: int
    judged: int
    differ: int
    expected_by_chance_at_most: float
    only_in_a: list[str]
    only_in_b: list[str]
    remarks: list[str]
    not_judged: int
    not_judged_because: str
    false_share_at_most: float
    correction: str
    warnings: Warnings
    level_warning: str
