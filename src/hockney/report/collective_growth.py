"""One model of each algorithm's time against ranks over all its allocations: tables, sentences, rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hockney.models.collectives.growth import CONVINCING, Coefficient, Model, ModelChoice
from hockney.models.over_ranks.choice import DEFAULT
from hockney.report.collective_analysis import ALLOCATION, AlgorithmCurves, Analysis
from hockney.report.findings import Finding, certainty
from hockney.report.marks import percent
from hockney.report.page import Row
from hockney.report.tables import Column, Table, held, table
from hockney.units import format_bytes

FORM_WORDS = {
    "linear": "linear",
    "quadratic": "quadratic, scaled",
    "logarithmic": "logarithmic",
    "log_quadratic": "exponential of a parabola",
    "schedule": "rounds of the schedule",
    "simulated": "simulation of the procedure",
}
POOLING = (
    "One model for all allocations of an algorithm makes two assumptions. An allocation multiplies the time by a "
    "constant at most. The relative error is the same everywhere. The column of the allocations says where AICc "
    "contradicts."
)
"""What the tables of models rest on."""


class _Fitted(NamedTuple):
    """A model of an algorithm among those it was chosen from."""

    algorithm: AlgorithmCurves
    choice: ModelChoice
    model: Model


def _fitted(analysis: Analysis) -> Iterator[_Fitted]:
    for algorithm in analysis.algorithms:
        if algorithm.choice is not None:
            yield from (_Fitted(algorithm, algorithm.choice, model) for model in algorithm.choice.models)


def _preferred(analysis: Analysis) -> list[_Fitted]:
    return [row for row in _fitted(analysis) if row.model is row.choice.preferred]


def model_table(operation: str, analysis: Analysis, names: Sequence[str]) -> Table:
    """The preferred model of each algorithm; `names` are the columns that tell configurations apart."""
    columns: list[Column[_Fitted]] = [
        Column("algorithm", lambda row: row.algorithm.label, is_text=True),
        *held([name for name in names if name not in ALLOCATION], lambda row: row.algorithm.held),
        Column("size", lambda row: format_bytes(row.algorithm.size_B)),
        Column("model", lambda row: FORM_WORDS[row.model.form], is_text=True),
        Column("T in µs, P = ranks", lambda row: row.model.formula, is_text=True),
        Column("adjusted R²", lambda row: f"{row.model.adjusted_r2:.4f}"),
        Column("typical error", lambda row: percent(row.model.deviation)),
        Column("P (points)", lambda row: f"{row.model.first} … {row.model.last} ({row.model.points})"),
        Column("allocations", lambda row: _allocations(row.choice), is_text=True),
        Column("next best (AICc)", lambda row: _second(row.choice), is_text=True),
    ]
    title = f"One model for each algorithm of {operation} over all allocations"
    return table(title, _preferred(analysis), columns, f"{operation}-models")


def _second(choice: ModelChoice) -> str:
    """The best of the other forms, and by how much it is worse."""
    best = choice.preferred
    second = next((model for model in choice.models if model.form != best.form), None)
    return "" if second is None else f"{FORM_WORDS[second.form]} (+{second.aicc - best.aicc:.1f})"


def _allocations(choice: ModelChoice) -> str:
    """Whether the allocations differ, in words."""
    if len(choice.allocations) < 2:
        return f"{choice.allocations[0]} only"
    differ = choice.shape_gain is not None and choice.shape_gain > CONVINCING
    beside = f"beside {choice.allocations[0]}: " if choice.preferred.factors else ""
    return beside + _factors(choice.preferred) + ("; they differ in shape, too" if differ else "")


def _factors(model: Model) -> str:
    return ", ".join(map(_factor, model.factors.values())) or "one curve for all"


def _factor(factor: Coefficient) -> str:
    return f"{factor.term} × {factor.value:.2f} ({factor.low:.2f} … {factor.high:.2f})"


def every_model_table(operation: str, analysis: Analysis) -> Table:
    """All forms of all algorithms, for the folded part."""
    columns: list[Column[_Fitted]] = [
        Column("algorithm", lambda row: row.algorithm.label, is_text=True),
        Column("size", lambda row: format_bytes(row.algorithm.size_B)),
        Column("form", lambda row: FORM_WORDS[row.model.form], is_text=True),
        Column("allocations", lambda row: _factors(row.model), is_text=True),
        Column("T in µs", lambda row: row.model.formula, is_text=True),
        Column("adjusted R²", lambda row: f"{row.model.adjusted_r2:.4f}"),
        Column("adjusted R² of ln T", lambda row: f"{row.model.adjusted_r2_ln:.4f}"),
        Column("typical error", lambda row: percent(row.model.deviation)),
        Column("AICc above the best", lambda row: f"{row.model.aicc - row.choice.preferred.aicc:.1f}"),
    ]
    return table(f"All models of {operation}", [*_fitted(analysis)], columns)


def of_models(operation: str, analysis: Analysis) -> list[Finding]:
    """The line against ranks of the library's own choice, of each algorithm without one: a sentence a size."""
    preferred = _preferred(analysis)
    own = [row for row in preferred if row.algorithm.label == DEFAULT] or preferred
    return [_finding(operation, row) for row in own]


def _finding(operation: str, row: _Fitted) -> Finding:
    # A reader cannot evaluate a simulation by hand.
    model = row.choice.without_one_by_hand()
    what = f"{operation} {row.algorithm.label}, {format_bytes(row.algorithm.size_B)}"
    text = f"{what}: T = {model.formula} µs on P ranks (adjusted R² {model.adjusted_r2:.3f})."
    verdict = certainty(1.0, 1 - model.deviation, 1 + model.deviation)
    return Finding(text, f"{operation}-models", 0.8, "growth", verdict)


def model_rows(analysis: Analysis) -> list[Row]:
    """Every model as a row of plain values, for JSON and CSV."""
    return [
        {
            **dict(algorithm.held.held),
            "algorithm": algorithm.label,
            "bytes": algorithm.size_B,
            "form": model.form,
            "preferred": model is choice.preferred,
            "formula_us": model.formula,
            "terms": [coefficient.term or "1" for coefficient in model.coefficients],
            "coefficients": [coefficient.value for coefficient in model.coefficients],
            "coefficients_low": [coefficient.low for coefficient in model.coefficients],
            "coefficients_high": [coefficient.high for coefficient in model.coefficients],
            "allocations": list(choice.allocations),
            "factors": {name: [factor.value, factor.low, factor.high] for name, factor in model.factors.items()},
            "adjusted_r2": model.adjusted_r2,
            "adjusted_r2_ln": model.adjusted_r2_ln,
            "relative_deviation": model.deviation,
            "aicc": model.aicc,
            "delta_aicc": model.aicc - choice.preferred.aicc,
            "neighbours_correlation": model.runs_together,
            "first_ranks": model.first,
            "last_ranks": model.last,
            "points": model.points,
            "level_gain": choice.level_gain,
            "shape_gain": choice.shape_gain,
        }
        for algorithm, choice, model in _fitted(analysis)
    ]
