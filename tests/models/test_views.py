"""The LaTeX of a formula."""

from __future__ import annotations

import pytest

from hockney.models.views import latex


@pytest.mark.parametrize(
    ("text", "mathematics"),
    [
        ("⌈log₂P⌉·n/S − 1", r"\lceil \log_2 P\rceil \cdot n/S - 1"),
        ("Θ(n P²)", r"\Theta(n P^2)"),
        ("T(n) = −113 µs + n / 12.5 GB/s", r"T(n) = -113\,\mu\mathrm{s} + \frac{n}{12.5\,\mathrm{GB/s}}"),
        ("1.5e-07 s", r"1.5 \times 10^{-7}\,\mathrm{s}"),
        ("max(α, (P − 1)·n β)", r"\max(\alpha, (P - 1) \cdot n \beta)"),
        ("60 ns · l + T_match", r"60\,\mathrm{ns} \cdot \ell + T_{match}"),
        ("1 ≤ T; not a bound: C", r"1 \le T;\quad \text{not a bound: } C"),
    ],
)
def test_a_formula_in_mathematics(text: str, mathematics: str) -> None:
    assert latex(text) == mathematics
