"""Closed forms with a machine's numbers: what they say, and that the exact one is the sum over the messages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.factories import not_none, refusing, regime, version_1

from hockney import _core
from hockney._core import Problem
from hockney.machine.congestion import Congestions
from hockney.machine.file import Machine
from hockney.models.base import Fit, Parameter, predict
from hockney.models.collectives.closed_form import collective_models
from hockney.models.views import VIEWS, Statement, Views
from hockney.predict.collective import predict_one
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import SIZES_B, Messages
from hockney.report.views.collective_costs import CollectiveCosts, costs_of
from hockney.report.views.collective_views import views_of_collective
from hockney.report.views.message_shares import Shares, by_size, shares_of
from hockney.schedule.catalogue import ask


@pytest.fixture
def machine() -> Machine:
    return version_1()


@pytest.fixture
def costs(machine: Machine) -> CollectiveCosts:
    return not_none(costs_of(machine))


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


def test_the_machines_numbers_stand_in_for_the_symbols(costs: CollectiveCosts) -> None:
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


def test_so_many_ranks_by_the_sizes_of_the_messages(costs: CollectiveCosts) -> None:
    # Four ranks: scatter n/2, n/4, allgather n/4, n/2. Between 8 and 16 KiB the halves are sent by rendezvous:
    # n / 12.5 + (n/2) / 10 = n / 7.69 GB/s.
    found = views("bcast", "scatter_allgather", costs=costs, ranks=4)
    assert [(one.text, one.where) for one in found.exact[1:]] == [
        ("T(4, n) = 6 µs + n / 6.67 GB/s", "n ≤ 8 KiB"),
        ("T(4, n) = 5 µs + n / 7.69 GB/s", "8 KiB < n ≤ 16 KiB"),
        ("T(4, n) = 4 µs + n / 8.33 GB/s", "n > 16 KiB"),
    ]


def test_a_barrier_has_no_bytes(costs: CollectiveCosts) -> None:
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
    costs: CollectiveCosts, operation: str, algorithm: str, ranks: int
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
        refusal = _core.refusal(algorithm.collective, algorithm.name, Problem(ranks=ranks))
        if isinstance(shares, str):
            assert refusal
            assert shares.startswith("not defined")
            continue
        size_B = 0 if algorithm.collective == "barrier" else 4 * math.lcm(8, ranks)
        counts = _core.count(
            _core.generate(algorithm.collective, algorithm.name, Problem(ranks=ranks, bytes=size_B, element_B=4))
        )
        assert len(shares.of_n) == counts.rounds
        assert np.sum(shares.of_n) * size_B == pytest.approx(counts.round_bytes)


def test_what_is_not_defined_or_too_large_says_so(costs: CollectiveCosts) -> None:
    (found,) = views_of_collective("allgather", "recursive_doubling", costs=costs, ranks=6)
    assert found.notes[0].startswith("on 6 ranks: not defined: ")
    assert len(found.views.exact) == 1
    (found,) = views_of_collective("alltoall", "pairwise", costs=costs, ranks=4096)
    assert found.notes == ["on 4096 ranks: too many messages to go through one by one"]
    (found,) = views_of_collective("allreduce", "linear", costs=costs, ranks=4)
    assert "on 4 ranks: it has no schedule" in found.notes


def test_a_torus_bounds_an_alltoall_with_the_exact_congestion(machine: Machine, costs: CollectiveCosts) -> None:
    # 8 × 8 × 8: C = 8⁴/8 = 512 blocks on the busiest link, each n / 12.5 GB/s; printed: 8 · 5³ = 1000.
    found = views("alltoall", "linear", costs=costs, congestion=Congestions(machine, "torus:8x8x8").at()).bounded[
        -1
    ]
    assert found.text == "T(512, n) ≥ n / 24.4 MB/s"
    assert "C = 512" in found.where
    assert found.where.endswith(": 1000")


def test_mappings_are_bound_from_above_only_by_the_worst_permutation(
    machine: Machine, costs: CollectiveCosts
) -> None:
    for given in (None, costs):
        ring = views("bcast", "binomial", costs=given, congestion=Congestions(machine, "torus:8").at()).bounded
        far = views(
            "bcast", "binomial", costs=given, congestion=Congestions(machine, "torus:32x32x32").at()
        ).bounded
        [mapped] = [one for one in ring if one.text.endswith(", C = 6")][-1:]
        assert " ≤ T(P, n) ≤ " in mapped.text
        [mapped] = [one for one in far if one.text.endswith(", C = 48")][-1:]
        assert " ≤ T(P, n); not a bound: " in mapped.text
        assert mapped.latex.count(r"\le ") == 1


def test_on_a_small_torus_injection_rules(machine: Machine) -> None:
    # A ring of 4: 3 blocks out of 2 links, and 4²/4 hops on 2 links out: 2 of a link.
    found = views("alltoall", "linear", congestion=Congestions(machine, "torus:4").at()).bounded[-1]
    assert found.text == "T(4, n) ≥ g·3 + 2·n·G"


def test_bounds_hold_for_every_message_of_a_bumpy_fit() -> None:
    """A flat regime and one through the origin, as fits of real libraries have: least α and β are both zero."""
    # 1 µs up to 100 B, 10 ns/B up to 1 kB, then 5 µs + 5 ns/B: least 1 µs; per byte 5 ns, where n is endless.
    fit = Fit(
        model="piecewise",
        regimes=[regime(1e-6, 0, 0, 100), regime(0, 1e-8, 100, 1000), regime(5e-6, 5e-9, 1000)],
    )
    found = views("bcast", "linear", costs=CollectiveCosts(fit, fit, None, ("node", "node")))
    assert found.bounded[2].text == "T(P, n) ≥ max(⌈log₂P⌉ · 1 µs, n / 200 MB/s)"
    assert found.bounded[3].text == (
        "max(1 µs, (P − 1)·n / 200 MB/s) ≤ T(P, n) ≤ (P − 1) · 5 µs + C·(P − 1)·n / 100 MB/s"
    )
    made = views("bcast", "linear", costs=CollectiveCosts(fit, fit, None, ("node", "node")), ranks=3)
    assert [(one.text, one.where) for one in made.exact[1:]] == [
        ("T(3, n) ≤ 2 µs", "n ≤ 100 B"),
        ("T(3, n) ≤ n / 50 MB/s", "100 B < n ≤ 1000 B"),
        ("T(3, n) ≤ 10 µs + n / 100 MB/s", "n > 1000 B"),
    ]


def test_breaks_between_two_sizes_are_told_in_whole_bytes() -> None:
    """A regime of the empty message alone ends at 0.7 B; a fit's other breaks lie between whole bytes too."""
    fit = Fit(
        model="piecewise",
        regimes=[regime(1e-6, 0, 0, 0.7), regime(2e-6, 0, 0.7, 300.4), regime(3e-6, 0, 300.4)],
    )
    made = views("bcast", "linear", costs=CollectiveCosts(fit, fit, None, ("node", "node")), ranks=2)
    assert [(one.text, one.where) for one in made.exact[1:]] == [
        ("T(2, n) ≤ 1 µs", "n = 0"),
        ("T(2, n) ≤ 2 µs", "0 < n ≤ 300 B"),
        ("T(2, n) ≤ 3 µs", "n > 300 B"),
    ]


def loggp_of(alpha_s: float, g_s: float, is_larger: bool) -> Fit:
    """L + o_s + o_r − G = alpha_s, G = 1 ns/B."""
    return Fit(
        model="loggp",
        regimes=[regime(alpha_s, 1e-9)],
        parameters={"g": Parameter(value=g_s, unit="s"), "G": Parameter(value=1e-9, unit="s/B")},
        gap_is_larger=is_larger,
    )


@pytest.mark.parametrize("size_B", [1, 4096, 8192, 16384, 2**17])
@pytest.mark.parametrize("is_larger", [True, False])
@pytest.mark.parametrize("overhead_s", [1e-6, 1e-5])
def test_loggp_bounds_a_simulated_scatter(
    costs: CollectiveCosts, is_larger: bool, size_B: int, overhead_s: float
) -> None:
    """g = 10 µs and G = 1 ns/B; L = 3 µs and 2 µs of overhead (g is more than a message), or 20 µs."""
    g_s, per_byte_s, latency_s = 1e-5, 1e-9, 3e-6
    alpha_s = latency_s + 2 * overhead_s
    loggp = loggp_of(alpha_s - per_byte_s, g_s, is_larger)
    with_loggp = CollectiveCosts(costs.nearest, costs.farthest, loggp, costs.localities)
    formula = (
        views("scatter", "linear", costs=with_loggp).bounded[-1].text.partition("≥ ")[2].partition(", g =")[0]
    )
    python = formula.replace("·", "*").replace("−", "-")
    bound_s = eval(python, {"P": 8, "n": size_B, "g": g_s, "G": per_byte_s, "max": max})
    bytes_s = np.maximum(SIZES_B - 1, 0) * per_byte_s
    between_s = np.maximum(g_s, bytes_s) if is_larger else g_s + bytes_s
    network = MachineCosts({4: Messages(alpha_s + bytes_s, overhead_s, overhead_s, between_s)}, "a test")
    simulated_s = not_none(predict_one(ask("scatter", "linear", ranks=8, size_B=size_B), network, None).time_s)
    # Rounding alone: the sizes are those at which the simulator has the curves.
    assert bound_s <= simulated_s * (1 + 1e-9)
    # It is short of the LogGP time by T(n) less a gap at most, of P = 8 messages about two.
    assert bound_s >= 0.7 * simulated_s


@pytest.mark.parametrize("algorithm", ["linear", "linear_nonblocking"])
def test_messages_of_a_rank_that_serves_all_overlap(algorithm: str) -> None:
    found = views("scatter", algorithm)
    assert texts(found.exact) == ["T(P, n) ≤ (P − 1) α + (P − 1)·n β"]
    assert [one.text.split()[2] for one in found.dominant] == ["≤", "≤"]
    assert found.bounded[1].text == "max(α, (P − 1)·n β) ≤ T(P, n) ≤ (P − 1) α + C·(P − 1)·n β"
    assert found.bounded[1].latex.startswith(r"\max(\alpha, (P - 1) \cdot n \beta) \le")
    # A reduction hides behind the next message, too.
    assert views("reduce", "linear").bounded[1].text.startswith("max(α, (P − 1)·n β, (P − 1)·n γ) ≤ T")


def test_the_best_mapping_is_no_slower_than_a_simulated_scatter() -> None:
    """L = 3 µs, o = 10 µs to send, 0 to receive, 1 GB/s: seven messages of 13 µs need not take 91 µs."""
    latency_s, send_s, per_byte_s = 3e-6, 1e-5, 1e-9
    fit = Fit(model="piecewise", regimes=loggp_of(latency_s + send_s, send_s, True).regimes)
    bound = (
        views("scatter", "linear", costs=CollectiveCosts(fit, fit, None, ("network", "network"))).bounded[3].text
    )
    assert bound.startswith("max(13 µs, (P − 1)·n / 1 GB/s) ≤ T")
    between_s = np.maximum(send_s, SIZES_B * per_byte_s)
    network = MachineCosts(
        {4: Messages(latency_s + send_s + SIZES_B * per_byte_s, send_s, 0.0, between_s)}, "a test"
    )
    for size_B in (1, 8192, 2**17):
        simulated_s = predict_one(ask("scatter", "linear", ranks=8, size_B=size_B), network, None).time_s
        assert simulated_s is not None
        assert max(13e-6, 7 * size_B * 1e-9) <= simulated_s
        # The closed form is at most; less is what overlaps: six latencies at least.
        assert simulated_s <= 7 * (13e-6 + size_B * 1e-9) - 6 * latency_s + 1e-12


def test_bounds_are_of_the_least_and_the_most_wherever_measured() -> None:
    """A node's memory may be slower than its network: 1 µs and 5 GB/s inside, 2 µs and 10 GB/s between nodes."""
    inside, between, across = (
        Fit(model="piecewise", regimes=loggp_of(alpha_s, 0.0, False).regimes) for alpha_s in (1e-6, 3e-6, 2e-6)
    )
    for fit, beta in ((inside, 2e-10), (between, 5e-11), (across, 1e-10)):
        fit.regimes[0].beta_s_per_B.value = beta
    asked = CollectiveCosts(inside, across, None, ("node", "network"), (between,))
    found = texts(views("bcast", "halving_tree", costs=asked).bounded)
    assert found[2] == "T(P, n) ≥ max(⌈log₂P⌉ · 1 µs, n / 20 GB/s)"
    assert found[3] == (
        "max(⌈log₂P⌉ · 1 µs, ⌈log₂P⌉·n / 20 GB/s) ≤ T(P, n) ≤ ⌈log₂P⌉ · 3 µs + C·⌈log₂P⌉·n / 5 GB/s"
    )


def test_bytes_back_to_back_may_take_less_than_in_a_message_by_itself(costs: CollectiveCosts) -> None:
    # Ping-pongs 12.5 GB/s at best, windows 1 ns/B and 0.05 ns/B.
    for per_byte_s, rate in ((1e-9, "12.5 GB/s"), (5e-11, "20 GB/s")):
        loggp = loggp_of(1e-6, 4e-7, True)
        loggp.parameters["G"].value = per_byte_s
        asked = CollectiveCosts(costs.nearest, costs.farthest, loggp, costs.localities)
        bound = views("scatter", "linear", costs=asked).bounded[3].text
        assert bound.startswith(f"max(0.2 µs, (P − 1)·n / {rate}) ≤ T(P, n)")


def test_costs_have_every_ping_pong(machine: Machine, costs: CollectiveCosts) -> None:
    usual = [one for one in machine.point_to_point if one.operation == "pingpong" and "piecewise" in one.fits]
    usual[0].locality = "numa"
    machine.point_to_point.append(usual[0].model_copy(update={"locality": "node"}))
    made = not_none(costs_of(machine))
    assert len(made.every) == len(costs.every) + 1


def test_loggp_bounds_a_rank_that_serves_all_others(costs: CollectiveCosts) -> None:
    with_loggp = CollectiveCosts(costs.nearest, costs.farthest, loggp_of(1e-6, 4e-7, False), costs.localities)
    found = views("scatter", "linear", costs=with_loggp).bounded
    assert found[-1].text == "T(P, n) ≥ (P − 1)·g + (P − 1)·(n − 1)·G, g = 0.4 µs, G = 1 ns/B"
    assert len(views("scatter", "binomial", costs=with_loggp).bounded) == len(found) - 1


def test_a_torus_takes_the_larger_of_gaps_and_bytes_where_the_fit_does(
    machine: Machine, costs: CollectiveCosts
) -> None:
    # A ring of 4: 3 gaps of 0.4 µs, and 2 blocks of 1 ns/B on a link.
    ring = Congestions(machine, "torus:4").at()
    said = []
    for is_larger in (False, True):
        asked = CollectiveCosts(costs.nearest, costs.farthest, loggp_of(1e-6, 4e-7, is_larger), costs.localities)
        said += [views("alltoall", "bruck", costs=asked, congestion=one).bounded[-1].text for one in (ring, None)]
    assert said[0] == "T(4, n) ≥ 1.2 µs + n / 500 MB/s"
    assert said[1].startswith("T(P, n) ≥ g·(P − 1) + n·G·max((P − 1)/6, C), C =")
    assert said[2] == "T(4, n) ≥ max(1.2 µs, n / 500 MB/s)"
    assert said[3].startswith("T(P, n) ≥ max(g·(P − 1), n·G·max((P − 1)/6, C)), C =")


def test_every_algorithm_has_all_views(costs: CollectiveCosts) -> None:
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
    with refusing("unknown algorithm of bcast", "binomial"):
        views_of_collective("bcast", "binomal")


def test_an_algorithm_without_a_closed_form_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = collective_models.get("bcast").forms
    monkeypatch.delitem(forms, "pipeline")
    assert [one.algorithm for one in views_of_collective("bcast")] == list(forms)
    with refusing("bcast pipeline has no closed form", "hockney schedule count bcast --algorithm pipeline"):
        views_of_collective("bcast", "pipeline")
