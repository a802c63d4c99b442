"""Closed forms as a person reads them."""

from __future__ import annotations

from hockney.models.collectives._written import Term, latex, meanings, total, written
from hockney.models.collectives.base import closed_form


def test_letters_are_spelled_out() -> None:
    assert written("(d + 2·r)·n") == "(⌊log₂P⌋ + 2·r)·n"
    assert written("(k − 1)·⌈log(P)/log(k)⌉") == "(k − 1)·⌈log P/log k⌉"


def test_a_formula_in_mathematics() -> None:
    assert latex("⌈log₂P⌉·n/S − 1") == r"\lceil \log_2 P\rceil \cdot n/S - 1"
    assert latex("Θ(n P²)") == r"\Theta(n P^2)"


def test_terms_that_count_nothing_are_left_out() -> None:
    terms = [Term("q", " α", r" \alpha"), Term("0", " β", r" \beta"), Term("", " γ", r" \gamma")]
    assert total(terms) == ("⌈log₂P⌉ α", r"\lceil \log_2 P\rceil \alpha")
    assert total([]) == ("0", "0")


def test_where_a_form_holds_and_what_its_letters_mean() -> None:
    def of(operation: str, algorithm: str) -> str:
        form = closed_form(operation, algorithm)
        assert form is not None
        return meanings(form)

    assert of("alltoall", "pairwise") == ""
    assert of("bcast", "pipeline") == "S segments"
    assert of("allreduce", "recursive_doubling") == "r = 0 for P a power of two, else 1"
    assert of("bcast", "scatter_allgather") == "P a power of two, else near it"
    assert of("alltoall", "bruck") == "P a power of two, else at most"
    assert of("allgather", "neighbor_exchange") == "P even"
    assert of("bcast", "binary") == "S segments; P = 2^h − 1, else at most"
