"""Expressions: numbers, text, growth and coefficients of formulas made by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from hockney.models.collectives.closed_form import N, P, S, alpha, beta, chains, d, gamma, k, levels, n, q, r
from hockney.models.collectives.expression import ONE, ZERO, Expression, FormulaCall, ceiling, order_text


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (q * S * n, "⌈log₂P⌉·S·n"),
        (P - 1, "(P − 1)"),
        (P - (S - 1), "(P − (S − 1))"),
        (P - 2 + S, "(P − 2 + S)"),
        (n / (2 * S), "n/(2·S)"),
        (n / S / 2, "n/S/2"),
        (n * (P / S), "n·P/S"),
        (2 * ((N - 1) / N + r) * n, "2·((N − 1)/N + r)·n"),
        (k * S + ceiling((P - q) / k) - 1, "(k·S + ⌈(P − ⌈log₂P⌉)/k⌉ − 1)"),
        ((k - 1) * levels, "(k − 1)·⌈log P/log k⌉"),
    ],
)
def test_parentheses_where_needed(formula: Expression, text: str) -> None:
    assert formula.text() == text


def test_a_docs_table_has_the_letters() -> None:
    assert (d * (S - 1) + q).text(spelled=False) == "(d·(S − 1) + q)"
    assert ceiling(q / 2).text(spelled=False) == "⌈q/2⌉"


@pytest.mark.parametrize(
    ("formula", "ranks", "number"),
    [
        (q, 8, 3),
        (q, 9, 4),
        (d, 9, 3),
        (r, 8, 0),
        (r, 9, 1),
        (N, 9, 8),
        (q, 2**50 + 1, 51),
        (S, 5, 10),
        (levels, 64, 3),
        (levels, 65, 4),
        (k, 2, 4),
        (chains, 3, 2),
        (ceiling((P - 1) / 4), 6, 2),
        (P - (q - 1), 8, 6),
        (n / (2 * S), 5, 48),
    ],
)
def test_numbers_by_hand(formula: Expression, ranks: int, number: float) -> None:
    # 960 bytes in segments of 100: ten.
    assert formula.value(FormulaCall(ranks, 960.0, 100.0)) == number


def test_what_is_not_cut_is_one_segment() -> None:
    assert S.value(FormulaCall(5, 960.0)) == 1
    assert S.value(FormulaCall(5, 0.0, 100.0)) == 1


@pytest.mark.parametrize(
    ("formula", "order"),
    [
        ((P - 1) * (P + 1) * n, "n P²"),
        (2 * (P - 1) / P * n, "n"),
        ((d + S - 1) * n / S, "n + n log P/S"),
        (d * (S - 1) + q, "S log P"),
        (q * P / 2 * n, "n P log P"),
        (q + P - 1, "P"),
        (S - 1 + q, "S + log P"),
        (ceiling(n / n), "1"),
        (ZERO, "1"),
    ],
)
def test_the_leading_growths_remain(formula: Expression, order: str) -> None:
    assert order_text(formula.order) == order


def test_a_division_by_a_sum_has_no_order() -> None:
    with pytest.raises(ValueError, match="no order of a division by S \\+ P"):
        n / (P + S)


def test_coefficients_of_a_linear_formula() -> None:
    time = (P - 1) * (alpha + n / S * beta) + beta - 1
    assert time.coefficient(alpha).text() == "(P − 1)"
    assert time.coefficient(beta).text() == "((P − 1)·n/S + 1)"
    assert time.coefficient(gamma) is ZERO
    assert alpha.coefficient(alpha) is ONE
    assert (alpha * q / 2).coefficient(alpha).text() == "⌈log₂P⌉/2"
    assert isinstance(time.value(FormulaCall(4, 1.0)), float)
    assert math.isnan(float(time.value(FormulaCall(4, 1.0))))


@pytest.mark.parametrize("wrong", [lambda: alpha * beta, lambda: n / alpha, lambda: P - alpha])
def test_a_formula_that_is_not_linear_is_refused(wrong: Callable[[], Expression]) -> None:
    with pytest.raises(ValueError, match=r"not linear in [αβ]"):
        wrong()
