"""A fitted model in words: the formula, its order, its leading term and what it lies between."""

from __future__ import annotations

from tests.factories import not_none

from hockney.models.base import Parameter
from hockney.models.collectives.base import CollectiveModel, CollectiveQuality, CollectiveRegime, Term
from hockney.models.collectives.closed_form import closed_form
from hockney.models.collectives.statements import meanings, views_of_fit

MODEL = CollectiveModel(
    operation="bcast",
    algorithm="binomial",
    parameters={
        "a": Parameter(value=3e-6, unit="s"),
        "b": Parameter(value=0.4e-6, unit="s"),
        "c": Parameter(value=5e-10, unit="s/B"),
        "alpha": Parameter(value=1e-6, unit="s"),
        "beta": Parameter(value=1e-9, unit="s/B"),
    },
    regimes=[
        CollectiveRegime(
            terms=[
                Term(parameter="a"),
                Term(parameter="b", growth="P-1"),
                Term(parameter="c", growth="log2(P)", per_byte=True),
            ],
            min_ranks=2,
            max_ranks=64,
            min_B=8,
            max_B=4096,
        ),
        CollectiveRegime(
            terms=[Term(parameter="alpha", counts="alpha"), Term(parameter="beta", counts="bytes")],
            min_ranks=2,
            max_ranks=64,
            min_B=4096,
            max_B=1048576,
        ),
    ],
    quality=CollectiveQuality(
        points=9, median_relative_error=0.01, p95_relative_error=0.02, model_factor=1.25, prediction_factor=1.1
    ),
)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_four_views_of_a_fit() -> None:
    views = views_of_fit(MODEL)
    exact = [plain(statement.text) for statement in views.exact]
    # 5·10⁻¹⁰ s/B are 2 GB/s; the binomial tree's schedule counts q·S messages and q·n bytes.
    assert exact == [
        "T(P, n) = 3 µs + 0.4 µs · (P − 1) + n · log₂P / 2 GB/s",
        "T(P, n) = 1 µs · ⌈log₂P⌉·S + ⌈log₂P⌉·n / 1 GB/s",
    ]
    assert [statement.where for statement in views.exact] == [
        "2 ≤ P ≤ 64, 8 B ≤ n ≤ 4 KiB",
        "2 ≤ P ≤ 64, 4 KiB ≤ n ≤ 1 MiB; S segments",
    ]
    # On 64 ranks and 4 KiB: 25.2 µs of ranks, 12.3 µs of bytes.
    assert plain(views.dominant[0].text) == "T(P, n) = 0.4 µs · (P − 1) + Θ(n log P)"
    asymptotic = [plain(statement.text) for statement in views.asymptotic]
    assert asymptotic == ["T(P, n) = Θ(P + n log P)", "T(P, n) = Θ(S log P + n log P)"]
    assert plain(views.bounded[0].text) == f"({exact[0][10:]})/1.25 ≤ T(P, n) ≤ 1.25·({exact[0][10:]})"
    assert r"3\,\mu\mathrm{s}" in views.exact[0].latex


def test_a_term_of_zero_is_not_written() -> None:
    parameters = {**MODEL.parameters, "b": Parameter(value=0.0, unit="s")}
    views = views_of_fit(MODEL.model_copy(update={"parameters": parameters}))
    assert plain(views.exact[0].text) == "T(P, n) = 3 µs + n · log₂P / 2 GB/s"


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
