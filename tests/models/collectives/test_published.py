"""A collective's model in a machine file: its regimes and terms, with numbers from Hoefler et al. 2010."""

from __future__ import annotations

from itertools import product

import pytest
from pydantic import ValidationError

from hockney.models.base import Parameter
from hockney.models.collectives._torus import alltoall_factor, congestion, congestion_as_printed, side
from hockney.models.collectives.base import CollectiveModel, CollectiveRegime, Term


def seconds(value: float) -> Parameter:
    return Parameter(value=value, unit="s")


BCAST = CollectiveModel(
    operation="bcast",
    parameters={
        "alpha_T": seconds(13e-6),
        "beta_T": seconds(0.31e-6),
        "G": Parameter(value=2.67e-9, unit="s/B"),
    },
    regimes=[
        CollectiveRegime(
            terms=[
                Term(parameter="alpha_T"),
                Term(parameter="beta_T", growth="log2(P)"),
                Term(parameter="G", factor=1 / 6, per_byte=True),
            ]
        )
    ],
)


def test_terms_add_up() -> None:
    # 13 µs + 0.31 µs · 10 + 2.67 ns/6 · 6000 = 13 + 3.1 + 2.67 µs.
    assert BCAST.time_s(1024, 6000) == pytest.approx(18.77e-6)


def test_the_first_regime_that_holds_counts_and_its_ends_belong_to_it() -> None:
    allreduce = CollectiveModel(
        operation="allreduce",
        parameters={"flat": seconds(17.77e-6), "stage": seconds(0.37e-6)},
        regimes=[
            CollectiveRegime(terms=[Term(parameter="flat")], max_ranks=4096, max_B=8),
            CollectiveRegime(terms=[Term(parameter="stage", growth="log2(P)")], max_B=8),
        ],
    )
    assert allreduce.time_s(4096, 8) == pytest.approx(17.77e-6)
    assert allreduce.time_s(8192, 8) == pytest.approx(13 * 0.37e-6)
    assert allreduce.time_s(8192, 9) is None


def test_a_term_of_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(ValidationError, match="has no parameter 'g'"):
        CollectiveModel(operation="alltoall", regimes=[CollectiveRegime(terms=[Term(parameter="g")])])


@pytest.mark.parametrize("k", [2, 3, 4, 5, 7, 8])
def test_congestion_of_an_alltoall_is_distances_over_links(k: int) -> None:
    # A torus looks the same from every node: k³ senders cancel against k³ of the 6 k³ links.
    distances = sum(sum(min(x, k - x) for x in place) for place in product(range(k), repeat=3))
    assert congestion(k) == distances / 6


def test_the_printed_congestion_is_too_large_for_a_lower_bound() -> None:
    # The sources' README: 1.95 times the exact one at k = 8, 1.2 times at k = 32.
    assert congestion_as_printed(8**3) / congestion(8) == pytest.approx(1.95, abs=0.005)
    assert congestion_as_printed(32**3) / congestion(32) == pytest.approx(1.2, abs=0.005)


def test_injection_rules_a_small_torus() -> None:
    # k = 2: 7/6 of a block out of six links, C = 2; k = 1: nothing to send.
    assert alltoall_factor(8) == 2
    assert alltoall_factor(1) == 0
    assert (side(27), side(28)) == (3, None)
