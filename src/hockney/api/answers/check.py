"""The answer of `hockney check`."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.check.against import Change


class Part(TypedDict):
    """A call that is compared with, `count` times."""

    count: int
    operation: str
    algorithm: str
    segment_bytes: int | None
    radix: int | None
    ranks: int | None
    bytes: int


class Mend(TypedDict):
    """A schedule of ours that is faster."""

    algorithm: str
    segment_bytes: int | None
    radix: int | None
    time_s: float


class Again(TypedDict):
    """What the second campaign shows."""

    verdict: str
    why: str
    factor: NotRequired[float | None]
    factor_low: NotRequired[float | None]
    factor_high: NotRequired[float | None]
    p_corrected: NotRequired[float | None]
    launches: NotRequired[int]


class Violation(TypedDict):
    """A call that takes longer than what does the same."""

    guideline: str
    says: str
    operation: str
    ranks: int | None
    nodes: int | None
    ppn: int | None
    root: int | None
    bytes: int
    setting: dict[str, str]
    statistic: str
    verdict: str
    factor: float | None
    factor_low: float | None
    factor_high: float | None
    p: float | None
    p_corrected: float | None
    launches: int
    time_s: float
    replacement_time_s: float
    replacement: str
    parts: list[Part]
    schedule: Mend | None
    schedules_known: list[str]
    again: NotRequired[Again]


class Power(TypedDict):
    """What a check finds of these comparisons, with these launches and spreads.

    The smallest true factors that are found with `probability` in the median comparison and in the worst, null
    where none up to 100 is; the share of comparisons in which `factor` is found, and from how many launches on
    each finds it with `probability`, null where these are more than 10,000. Where `least_factor` is `factor` or
    more, a factor of that size is no violation, and both are null.
    """

    probability: float
    median_factor: float | None
    worst_factor: float | None
    factor: float
    found_share: float | None
    launches: int | None


class Against(TypedDict):
    """What became slower than it was."""

    older: str
    compared: int
    slower: list[Change]
    not_slower: int
    cannot_be_told: int
    missing: list[str]


class Claim(TypedDict):
    """A claim of growth, judged."""

    claim: str
    operation: str
    algorithm: str
    setting: dict[str, str]
    bytes: int
    verdict: str
    fails_from_ranks: int | None
    judged_at_ranks: int | None
    most_ranks: int | None
    factor: float | None
    factor_low: float | None
    factor_high: float | None
    p_corrected: float | None
    why: str


@answer("check")
class CheckAnswer(TypedDict):
    """Guidelines, what became slower, and claims: each where it was asked for."""

    checked: str
    family_error: float
    least_factor: float
    correction: str
    launches: NotRequired[int]
    compared: NotRequired[int]
    violated: NotRequired[int]
    kept: NotRequired[int]
    cannot_be_told: NotRequired[int]
    points_of_another_level: NotRequired[int]
    operations_of_other_statistics: NotRequired[list[str]]
    power: NotRequired[Power | None]
    guidelines: NotRequired[dict[str, dict[str, int]]]
    violations: NotRequired[list[Violation]]
    against: NotRequired[Against]
    claims: NotRequired[list[Claim]]
