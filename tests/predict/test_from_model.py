"""The row of a model that was fitted to measured times: its terms are named by what they pay for."""

from __future__ import annotations

import pytest

from hockney.models.base import Parameter
from hockney.models.collectives.base import CollectiveModel, CollectiveRegime, Term
from hockney.predict.from_model import measured_there


def test_terms_are_named_as_those_of_a_simulation() -> None:
    """3 µs log₂ P + 1 µs + S · 2 ns/B: on 8 ranks 10 µs and 2 µs for 1,000 B; measured was twice that."""
    terms = [
        Term(parameter="alpha_s_1", growth="log2(P)"),
        Term(parameter="alpha_s_2"),
        Term(parameter="beta_s_per_B_1", per_byte=True),
    ]
    values = {"alpha_s_1": (3e-6, "s"), "alpha_s_2": (1e-6, "s"), "beta_s_per_B_1": (2e-9, "s/B")}
    model = CollectiveModel(
        operation="bcast",
        algorithm="default",
        regimes=[CollectiveRegime(terms=terms)],
        parameters={name: Parameter(value=value, unit=unit) for name, (value, unit) in values.items()},
        points=[{"ranks": 8, "bytes": 1000, "time_s": 24e-6}],
    )
    row = measured_there(model, 8, 1000, "default")
    assert row.terms_s == pytest.approx({"latency": 20e-6, "bytes": 4e-6})
    assert row.dominant == "latency 83 %"
