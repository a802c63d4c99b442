"""Closed forms with a machine's numbers: what they say, and that the exact one is the sum over the messages."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from hockney import _core
from hockney._core import Problem
from hockney.errors import RequestError
from hockney.machine.collective_costs import Costs, costs_of
from hockney.machine.collective_views import views_of_collective
from hockney.machine.congestion import congestion_of
from hockney.machine.file import Machine, load
from hockney.machine.message_shares import Shares, by_size, shares_of
from hockney.models.base import Fit, Parameter, Regime, predict
from hockney.models.collectives.base import collective_models
from hockney.models.views import VIEWS, Statement, Views


@pytest.fixture
def machine() -> Machine:
    return load(Path(__file__).parents[1] / "machine" / "data" / "version1.json")


@pytest.fixture
def costs(machine: Machine) -> Costs:
    found = costs_of(machine)
    assert found is not None
    return found


def views(operation: str, algorithm: str, **asked: object) -> Views:
    (one,) = views_of_collective(operation, algorithm, **asked)  # type: ignore[arg-type]
    return one.views


def texts(statements: list[Statement]) -> list[str]:
    return [one.text for one in statements]


def test_symbols_where_no_machine_is_given() -> None:
    found = views("allreduce", "ring")
    assert texts(found.asymptotic) == ["T(P, n) = Θ(P + n)"]
    assert texts(found.dominant) == [
        "T(P, n) = 2·(P − 1) α + Θ(n)",
        "T(P, n) = 2·(P − 1)/P·n β + (P − 1)/P·n γ + Θ(P)",
    ]
    assert texts(found.bounded) == [
        "T(P, n) ≥ max(⌈log₂P⌉ α, 2·(P − 1)/P·n β, (P − 1)/P·n γ)",
        "2·(P − 1) α + 2·(P − 1)/P·n β + (P − 1)/P·n γ ≤ T(P, n) ≤ "
        "2·(P − 1) α + C·2·(P − 1)/P·n β + (P − 1)/P·n γ",
    ]
    assert texts(found.exact) == ["T(P, n) = 2·(P − 1) α + 2·(P − 1)/P·n β + (P − 1)/P·n γ"]


def test_the_machines_numbers_stand_in_for_the_symbols(costs: Costs) -> None:
    # Package: 0.2 µs and 12.5 GB/s at best. Network: 1.5 µs, 10 GB/s up to 4 KiB, then 1 µs, 12.5 GB/s.
    found = views("bcast", "halving_tree", costs=costs)
    assert texts(found.dominant) == [
        "T(P, n) = ⌈log₂P⌉ · 1.5 µs + Θ(n log P)",
        "T(P, n) = ⌈log₂P⌉·n / 12.5 GB/s + Θ(log P)",
    ]
    assert texts(found.bounded)[2:] == [
        "T(P, n) ≥ max(⌈log₂P⌉ · 0.2 µs, n / 12.5 GB/s)",
        "max(⌈log₂P⌉ · 0.2 µs, ⌈log₂P⌉·n / 12.5 GB/s) ≤ T(P, n) ≤ ⌈log₂P⌉ · 1.5 µs + C·⌈log₂P⌉·n / 10 GB/s",
    ]
    assert "C is not known" in found.bounded[3].where
    assert [(one.text, one.where) for one in found.exact[1:]] == [
        ("T(P, n) = ⌈log₂P⌉ · 1.5 µs + ⌈log₂P⌉·n / 10 GB/s", "messages of m bytes, 0 ≤ m ≤ 4 KiB (eager)"),
        ("T(P, n) = ⌈log₂P⌉ · 1 µs + ⌈log₂P⌉·n / 12.5 GB/s", "messages of m bytes, m > 4 KiB (rendezvous)"),
    ]


def test_so_many_ranks_by_the_sizes_of_the_messages(costs: Costs) -> None:
    # Four ranks: scatter n/2, n/4, allgather n/4, n/2. Between 8 and 16 KiB the halves are sent by rendezvous:
    # n / 12.5 + (n/2) / 10 = n / 7.69 GB/s.
    found = views("bcast", "scatter_allgather", costs=costs, ranks=4)
    assert [(one.text, one.where) for one in found.exact[1:]] == [
        ("T(4, n) = 6 µs + n / 6.67 GB/s", "n ≤ 8 KiB"),
        ("T(4, n) = 5 µs + n / 7.69 GB/s", "8 KiB < n ≤ 16 KiB"),
        ("T(4, n) = 4 µs + n / 8.33 GB/s", "n > 16 KiB"),
    ]


def test_a_barrier_has_no_bytes(costs: Costs) -> None:
    found = views("barrier", "tree", costs=costs, ranks=8)
    assert texts(found.exact) == ["T(P) = 2·⌈log₂P⌉ α", "T(8) = 9 µs"]
    assert texts(found.dominant) == ["T(P) = 2·⌈log₂P⌉ · 1.5 µs"]
    assert all("n" not in text.replace("⌈log₂P⌉", "") for text in texts(found.bounded))


@pytest.mark.parametrize(
    ("operation", "algorithm"),
    [
        ("allgather", "bruck"),
        ("reduce_scatter", "recursive_halving"),
        ("alltoall", "pairwise"),
        ("bcast", "chain"),
    ],
)
@pytest.mark.parametrize("ranks", [4, 7, 12])
def test_pieces_add_up_to_what_every_message_takes(
    costs: Costs, operation: str, algorithm: str, ranks: int
) -> None:
    shares = shares_of(operation, algorithm, ranks)
    assert isinstance(shares, Shares)
    pieces = by_size(shares, costs.farthest)
    # Breaks are at whole bytes: sizes within one byte of a break may belong to either side.
    for size_B in (0, 1, 500, 3000, 100_000, 10**7):
        expected = sum(float(predict(costs.farthest, share * size_B)) for share in shares.of_n)
        bounds = [_upper(piece.domain) for piece in pieces]
        piece = pieces[next(i for i, upper in enumerate(bounds) if size_B <= upper)]
        assert piece.alpha_s + piece.beta_s_per_B * size_B == pytest.approx(expected, rel=1e-9)


def _upper(domain: str) -> float:
    if "≤" not in domain:
        return math.inf
    number, unit = domain.rpartition("≤ ")[2].split()
    return float(number) * {"B": 1, "KiB": 1024, "MiB": 2**20}[unit]


@pytest.mark.parametrize("ranks", [5, 8])
def test_shares_are_the_counts_of_the_schedule(ranks: int) -> None:
    for algorithm in _core.algorithms():
        shares = shares_of(algorithm.collective, algorithm.name, ranks)
        if isinstance(shares, str):
            assert shares.startswith("not defined")
            continue
        size_B = 0 if algorithm.collective == "barrier" else 4 * math.lcm(8, ranks)
        counts = _core.count(
            _core.generate(algorithm.collective, algorithm.name, Problem(ranks=ranks, bytes=size_B, element_B=4))
        )
        assert len(shares.of_n) == counts.rounds
        assert np.sum(shares.of_n) * size_B == pytest.approx(counts.round_bytes)


def test_what_is_not_defined_or_too_large_says_so(costs: Costs) -> None:
    (found,) = views_of_collective("allgather", "recursive_doubling", costs=costs, ranks=6)
    assert found.notes[0].startswith("on 6 ranks: not defined: ")
    assert len(found.views.exact) == 1
    (found,) = views_of_collective("alltoall", "pairwise", costs=costs, ranks=4096)
    assert found.notes == ["on 4096 ranks: too many messages to go through one by one"]
    (found,) = views_of_collective("allreduce", "linear", costs=costs, ranks=4)
    assert "on 4 ranks: it has no schedule" in found.notes


def test_a_torus_bounds_an_alltoall_with_the_exact_congestion(machine: Machine, costs: Costs) -> None:
    # 8 × 8 × 8: C = 8⁴/8 = 512 blocks on the busiest link, each n / 12.5 GB/s; printed: 8 · 5³ = 1000.
    found = views("alltoall", "linear", costs=costs, congestion=congestion_of(machine, "torus:8x8x8")).bounded[-1]
    assert found.text == "T(512, n) ≥ n / 24.4 MB/s"
    assert "C = 512" in found.where
    assert found.where.endswith(": 1000")


def test_mappings_are_bound_from_above_only_by_the_worst_permutation(machine: Machine, costs: Costs) -> None:
    for given in (None, costs):
        ring = views("bcast", "binomial", costs=given, congestion=congestion_of(machine, "torus:8")).bounded
        far = views("bcast", "binomial", costs=given, congestion=congestion_of(machine, "torus:32x32x32")).bounded
        [mapped] = [one for one in ring if one.text.endswith(", C = 6")][-1:]
        assert " ≤ T(P, n) ≤ " in mapped.text
        [mapped] = [one for one in far if one.text.endswith(", C = 48")][-1:]
        assert " ≤ T(P, n); not a bound: " in mapped.text
        assert mapped.latex.count(r"\le ") == 1


def test_on_a_small_torus_injection_rules(machine: Machine) -> None:
    # A ring of 4: 3 blocks out of 2 links, and 4²/4 hops on 2 links out: 2 of a link.
    found = views("alltoall", "linear", congestion=congestion_of(machine, "torus:4")).bounded[-1]
    assert found.text == "T(4, n) ≥ g·3 + 2·n·G"


def test_bounds_hold_for_every_message_of_a_bumpy_fit() -> None:
    """A flat regime and one through the origin, as fits of real libraries have: least α and β are both zero."""

    def regime(low: float, high: float | None, alpha_s: float, beta_s_per_B: float) -> Regime:
        return Regime(
            min_B=low,
            max_B=high,
            alpha_s=Parameter(value=alpha_s, unit="s"),
            beta_s_per_B=Parameter(value=beta_s_per_B, unit="s/B"),
        )

    # 1 µs up to 100 B, 10 ns/B up to 1 kB, then 5 µs + 5 ns/B: least 1 µs; per byte 5 ns, where n is endless.
    fit = Fit(
        model="piecewise",
        regimes=[regime(0, 100, 1e-6, 0), regime(100, 1000, 0, 1e-8), regime(1000, None, 5e-6, 5e-9)],
    )
    found = views("bcast", "linear", costs=Costs(fit, fit, None, ("node", "node")))
    assert found.bounded[2].text == "T(P, n) ≥ max(⌈log₂P⌉ · 1 µs, n / 200 MB/s)"
    assert found.bounded[3].text == (
        "max((P − 1) · 1 µs, (P − 1)·n / 200 MB/s) ≤ T(P, n) ≤ (P − 1) · 5 µs + C·(P − 1)·n / 100 MB/s"
    )
    made = views("bcast", "linear", costs=Costs(fit, fit, None, ("node", "node")), ranks=3)
    assert [(one.text, one.where) for one in made.exact[1:]] == [
        ("T(3, n) = 2 µs", "n ≤ 100 B"),
        ("T(3, n) = n / 50 MB/s", "100 B < n ≤ 1000 B"),
        ("T(3, n) = 10 µs + n / 100 MB/s", "n > 1000 B"),
    ]


def test_breaks_between_two_sizes_are_told_in_whole_bytes() -> None:
    """A regime of the empty message alone ends at 0.7 B; a fit's other breaks lie between whole bytes too."""

    def regime(low: float, high: float | None, alpha_s: float) -> Regime:
        return Regime(
            min_B=low,
            max_B=high,
            alpha_s=Parameter(value=alpha_s, unit="s"),
            beta_s_per_B=Parameter(value=0.0, unit="s/B"),
        )

    fit = Fit(
        model="piecewise", regimes=[regime(0, 0.7, 1e-6), regime(0.7, 300.4, 2e-6), regime(300.4, None, 3e-6)]
    )
    made = views("bcast", "linear", costs=Costs(fit, fit, None, ("node", "node")), ranks=2)
    assert [(one.text, one.where) for one in made.exact[1:]] == [
        ("T(2, n) = 1 µs", "n = 0"),
        ("T(2, n) = 2 µs", "0 < n ≤ 300 B"),
        ("T(2, n) = 3 µs", "n > 300 B"),
    ]


def test_loggp_bounds_a_rank_that_serves_all_others(costs: Costs) -> None:
    regime = Regime(
        min_B=0,
        max_B=None,
        alpha_s=Parameter(value=1e-6, unit="s"),
        beta_s_per_B=Parameter(value=1e-9, unit="s/B"),
    )
    loggp = Fit(
        model="loggp",
        regimes=[regime],
        parameters={"g": Parameter(value=4e-7, unit="s"), "G": Parameter(value=1e-9, unit="s/B")},
    )
    with_loggp = Costs(costs.nearest, costs.farthest, loggp, costs.localities)
    found = views("scatter", "linear", costs=with_loggp).bounded
    assert found[-1].text == "T(P, n) ≥ (P − 1)·g + (P − 1)·(n − 1)·G, g = 0.4 µs, G = 1 ns/B"
    assert len(views("scatter", "binomial", costs=with_loggp).bounded) == len(found) - 1


def test_every_algorithm_has_all_views(costs: Costs) -> None:
    for operation, collective in collective_models:
        made = views_of_collective(operation, costs=costs, ranks=8)
        assert [one.algorithm for one in made] == list(collective.forms)
        for one in made:
            for view in VIEWS:
                assert one.views.of(view), (operation, one.algorithm, view)
                for statement in one.views.of(view):
                    assert statement.latex.isascii(), statement.latex
                    assert statement.latex.count("{") == statement.latex.count("}")


def test_oversubscribed_ping_pongs_give_no_costs(machine: Machine) -> None:
    for entry in machine.point_to_point:
        entry.oversubscribed = True
    assert costs_of(machine) is None


def test_an_unknown_algorithm_lists_the_known() -> None:
    with pytest.raises(RequestError, match="unknown algorithm of bcast") as caught:
        views_of_collective("bcast", "binomal")
    assert "binomial" in caught.value.hint
