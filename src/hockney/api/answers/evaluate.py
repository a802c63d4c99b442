"""The answer of `hockney evaluate`: of messages, of a collective, or of rings."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from hockney.api.answers.base import answer


class Quantiles(TypedDict):
    """Errors as shares of the measured time; null where nothing was predicted."""

    median_relative_error: float | None
    p90_relative_error: float | None
    p95_relative_error: float | None


class Best(Quantiles):
    """The best baseline; of a collective on the points that all predict."""

    name: str
    max_relative_error: NotRequired[float | None]
    coverage_95: NotRequired[float | None]
    median_half_width: NotRequired[float | None]
    n_test: NotRequired[int]
    failed: NotRequired[int]
    with_interval: NotRequired[int]
    nonphysical: NotRequired[int]


class FitErrors(Quantiles):
    """Of one model of messages."""

    model: NotRequired[str]
    nonphysical: int
    coverage_95: float | None
    series_failed: int


class MessagesEvaluation(TypedDict):
    """Every second size of each series was held out."""

    operation: str
    statistic: str
    best_baseline: Best | None
    n_series: int
    n_skipped: int
    n_train: int
    n_test: int
    models: dict[str, FitErrors]
    corrected: FitErrors | None
    interpolation: FitErrors
    shortfalls: list[str]


class EstimatorErrors(Quantiles):
    """Of one estimator, on some points of a collective."""

    max_relative_error: float | None
    coverage_95: float | None
    median_half_width: float | None
    n_test: int
    failed: int
    with_interval: int
    nonphysical: int


class Correction(TypedDict):
    """Of the readable model alone, and the weight of what corrects it."""

    readable: EstimatorErrors
    largest_weight: float
    n_weighted: int


class Regret(TypedDict):
    """What it costs to run what is thought fastest instead of what is."""

    mean: float | None
    p95: float | None
    max: float | None
    share_above_10_percent: float | None
    instances: int


class JudgedRegret(Regret):
    """The same against all measured algorithms, and how often which was chosen."""

    chosen: dict[str, int]
    against_all: Regret


class Reference(Regret):
    """The regret of a choice that needs no model."""

    algorithm: NotRequired[str | None]


class Judged(EstimatorErrors):
    """An estimator on all test points, and on parts of them."""

    notes: list[str]
    correction: Correction | None
    common: EstimatorErrors
    regret: JudgedRegret
    by_algorithm: dict[str, EstimatorErrors]
    by_mapping: dict[str, EstimatorErrors]


class Skipped(TypedDict):
    """An estimator that cannot work here, and why."""

    skipped: str


class References(TypedDict):
    """Choices that need no model."""

    default: Reference
    best_in_training: Reference


class CollectiveEvaluation(TypedDict):
    """Points of a collective, learned from and asked for."""

    best_baseline: Best | None
    operation: str
    statistic: str
    train: str
    test: str
    seed: int
    n_train: int
    n_test: int
    compared: list[str]
    n_common: int
    dropped: dict[str, int]
    warnings: list[str]
    algorithms: list[str]
    not_scored: dict[str, str]
    models: dict[str, Judged | Skipped]
    references: References


class RingErrors(Quantiles):
    """Of one model of rings."""

    failed: int


class RingsEvaluation(TypedDict):
    """Every second number of processes was held out."""

    operation: str
    best_baseline: Best | None
    n_series: int
    n_skipped: int
    n_train: int
    n_test: int
    models: dict[str, RingErrors]


EvaluateAnswer = answer("evaluate")(MessagesEvaluation | CollectiveEvaluation | RingsEvaluation)
