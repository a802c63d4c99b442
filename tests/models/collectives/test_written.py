"""Closed forms as a person reads them."""

from __future__ import annotations

from tests.factories import not_none

from hockney.models.collectives._written import largest, meanings, symbols, total
from hockney.models.collectives.closed_form import CostFormula, P, alpha, beta, closed_form, gamma, n, q


def test_terms_that_count_nothing_are_left_out() -> None:
    assert total(symbols(CostFormula(q * alpha))) == "⌈log₂P⌉ α"
    assert total(symbols(CostFormula(P - P + 1))) == "0"


def test_a_count_of_one_is_not_written() -> None:
    terms = symbols(CostFormula(alpha + (P - 1) * n * (beta + gamma)))
    assert total(terms) == "α + (P − 1)·n β + (P − 1)·n γ"
    assert largest(terms[:2]) == "max(α, (P − 1)·n β)"
    assert largest(terms[:1]) == "α"


def test_where_a_form_holds_and_what_its_letters_mean() -> None:
    def of(operation: str, algorithm: str) -> str:
        form = not_none(closed_form(operation, algorithm))
        return meanings(form)

    assert of("alltoall", "pairwise") == ""
    assert of("bcast", "pipeline") == "S segments"
    assert of("allreduce", "recursive_doubling") == "r = 0 for P a power of two, else 1"
    assert of("bcast", "scatter_allgather") == "P a power of two, else near it"
    assert of("alltoall", "bruck") == "P a power of two, else at most"
    assert of("allgather", "neighbor_exchange") == "P even"
    assert of("bcast", "blocking_pipeline").endswith("(rendezvous), else at most")
    assert of("bcast", "binary") == "S segments; P = 2^h − 1, else at most"
