"""Predictions of collectives: the three methods agree where all are possible; formulas, bounds, verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hockney._core import Algorithm, Growth
from hockney.machine.file import load
from hockney.models.collectives.closed_form import collective_models
from hockney.predict import collective
from hockney.predict.collective import AlgorithmTime, Verdict, predict_one, verdict
from hockney.predict.every_algorithm import lower_bound
from hockney.predict.machine_costs import MachineCosts, of_machine
from hockney.predict.message_costs import SIZES_B, Messages
from hockney.predict.place import Place
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import algorithms, ask

LATENCY_S, OVERHEAD_S, S_PER_B = 2e-6, 5e-7, 1e-9
NETWORK = 4


def costs(overhead_s: float = OVERHEAD_S) -> MachineCosts:
    one_way = LATENCY_S + 2 * overhead_s + SIZES_B * S_PER_B
    return MachineCosts({NETWORK: Messages(one_way, overhead_s, overhead_s, SIZES_B * S_PER_B)}, "a test")


def test_a_binomial_broadcast_is_log_p_messages() -> None:
    row = predict_one(ask("bcast", "binomial", ranks=64, size_B=1000), costs(), None)
    assert row.time_s == pytest.approx(6 * (LATENCY_S + 2 * OVERHEAD_S + 1000 * S_PER_B))
    assert (row.messages, row.overheads, row.bytes) == (6, 12, 6000)
    assert row.formula == "6·L + 12·o + 6000 B·G"
    assert sum((row.terms_s or {}).values()) == pytest.approx(row.time_s)
    assert row.asymptotic == "O(log P) α + O(log P) m·β"


REGULAR = [algorithm for algorithm in algorithms() if algorithm.growth != Growth.irregular]


@pytest.mark.parametrize("algorithm", REGULAR, ids=lambda one: f"{one.collective}-{one.name}")
def test_a_closed_form_is_the_simulation(algorithm: Algorithm, monkeypatch: pytest.MonkeyPatch) -> None:
    operation = COLLECTIVES[algorithm.collective]
    # Blocks of one element each where the vector is cut; so many ranks that the lines are really extrapolated.
    ranks = 16384 if algorithm.growth == Growth.per_doubling else 768
    is_cut = not (operation.rooted or operation.sizes_are_blocks)
    size_B = 4 * ranks if is_cut else 64
    asked = ask(operation.name, algorithm.name, ranks=ranks, size_B=size_B)
    monkeypatch.setattr(collective, "FEW_MESSAGES", 1e9)
    monkeypatch.setattr(collective, "MOST_STEPS", 1e9)
    whole = predict_one(asked, costs(), None)
    monkeypatch.setattr(collective, "FEW_MESSAGES", 0)
    monkeypatch.setattr(collective, "MOST_STEPS", 0)
    line = predict_one(asked, costs(), None)
    assert (line.method, whole.method) in {("closed_form", "simulated"), ("closed_form", "by_class")}
    # Where blocks are halved until one element is left, the last halves are not quite the same: 1/P of the bytes.
    assert line.time_s == pytest.approx(whole.time_s, rel=0.005)
    assert line.messages == pytest.approx(whole.messages, rel=0.005, abs=1)


@pytest.mark.parametrize("ranks", [390, 766])
@pytest.mark.parametrize(
    ("operation", "name", "size_B"),
    [
        ("bcast", "scatter_allgather_ring", 8),
        ("bcast", "scatter_allgather_ring", 2**16),
        ("allgather", "neighbor_exchange", 8),
        ("gather", "linear_sync", 2**10),
    ],
)
def test_a_law_through_few_ranks_is_the_simulation(
    operation: str, name: str, size_B: int, ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ask(operation, name, ranks=ranks, size_B=size_B)
    whole = predict_one(request, costs(), None)
    assert whole.method in ("simulated", "by_class")
    monkeypatch.setattr(collective, "MOST_MESSAGES", 0)
    law = predict_one(request, costs(), None)
    assert law.method == "closed_form"
    # Vectors are rounded to blocks of the same size, and trees of other numbers of ranks are not quite alike.
    assert law.time_s == pytest.approx(whole.time_s, rel=0.01)


def test_a_ring_of_blocks_has_a_time_on_many_ranks() -> None:
    """Thakur et al. (2005): (⌈log₂P⌉ + P − 1) α + 2 (P − 1)/P nβ, where the blocks are whole."""
    ranks, block_B = 6144, 128
    row = predict_one(ask("bcast", "scatter_allgather_ring", ranks=ranks, size_B=ranks * block_B), costs(), None)
    alpha_s = LATENCY_S + 2 * OVERHEAD_S
    time_s = (13 + ranks - 1) * alpha_s + 2 * (ranks - 1) * block_B * S_PER_B
    assert row.time_s == pytest.approx(time_s, rel=0.01)


def test_what_follows_no_law_has_no_time() -> None:
    """All blocks to all ranks are P² blocks."""
    row = predict_one(ask("allgather", "linear", ranks=2**15, size_B=2**10), costs(), None)
    assert (row.time_s, row.method) == (None, "none")


def test_an_algorithm_of_a_round_for_each_rank_is_not_simulated_on_many() -> None:
    """32,000 ranks with 8 B: two blocks have an element each, and 32,000 ranks look at 64,000 rounds."""
    row = predict_one(ask("allreduce", "ring", ranks=32_000, size_B=8), costs(), None)
    assert row.method == "closed_form"
    assert row.time_s == pytest.approx(2 * 31_999 * (LATENCY_S + 2 * OVERHEAD_S), rel=0.01)


def test_an_algorithm_without_a_closed_form_is_predicted_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ask("bcast", "pipeline", ranks=768, size_B=64)
    monkeypatch.setattr(collective, "FEW_MESSAGES", 0)
    with_form = predict_one(asked, costs(), None)
    monkeypatch.delitem(collective_models.get("bcast").forms, "pipeline")
    assert with_form.asymptotic
    assert predict_one(asked, costs(), None) == replace(with_form, asymptotic="")


def test_what_is_too_much_says_so() -> None:
    row = predict_one(ask("allgather", "linear", ranks=2**20, size_B=8), costs(), None)
    assert row.time_s is None
    assert row.method == "none"
    assert "too many to simulate" in row.note


def test_predictions_are_not_below_the_bounds() -> None:
    for operation in ("bcast", "allreduce", "allgather", "alltoall", "gather", "reduce_scatter"):
        for name in ("binomial", "ring", "recursive_doubling", "pairwise", "linear"):
            if name not in [one.name for one in algorithms(operation)]:
                continue
            asked = ask(operation, name, ranks=32, size_B=4096)
            row, bound = predict_one(asked, costs(), None), lower_bound(asked, costs())
            assert (row.time_s or 0) >= max(bound.values()) * (1 - 1e-9)


@pytest.mark.parametrize("name", ["ci_2core", "bluegene_p"])
def test_measured_costs_keep_the_bounds_too(name: str) -> None:
    """Large messages may cost more a byte than small ones, and o and g may only be assumed."""
    measured = replace(of_machine(load(Path(name)), name), one_node=None)
    for algorithm in algorithms():
        operation = COLLECTIVES[algorithm.collective]
        for ranks, size_B in ((2, 2**20), (64, 8), (64, 2**20)) if operation.has_size else ((64, 0),):
            request = ask(algorithm.collective, algorithm.name, ranks=ranks, size_B=size_B)
            row, bound = predict_one(request, measured, None), lower_bound(request, measured)
            assert (row.time_s or 0) >= max(bound.values()) * (1 - 1e-9), (algorithm.name, ranks, size_B)


@pytest.mark.parametrize(
    ("algorithm", "grows"),
    [
        ("pipeline", "O(S + P) α + O(n + n P/S) β"),
        ("circulant", "O(S + log P) α + O(n + n log P/S) β"),
    ],
)
def test_segments_grow_beside_ranks(algorithm: str, grows: str) -> None:
    """S segments of n/S bytes pass P ranks one after another: S + P − 2 rounds of n/S bytes."""
    request = ask("bcast", algorithm, ranks=64, size_B=2**20, segment_B=2**14)
    assert predict_one(request, costs(), None).asymptotic == grows


def test_the_verdict_needs_more_than_the_intervals_leave_open() -> None:
    def row(name: str, time_s: float, width: float | None = None) -> AlgorithmTime:
        if width is None:
            return AlgorithmTime(name, "simulated", time_s)
        return AlgorithmTime(name, "simulated", time_s, time_s / width, time_s * width)

    assert verdict([row("a", 2.0), row("b", 1.0)]) == Verdict("b", 1.0, True, [])
    # Uncalibrated, a third more is within the usual error.
    assert verdict([row("a", 1.33), row("b", 1.0)]).not_told_apart_from == ["a"]
    # Two intervals of ×1.1 do not overlap from 1.1 · 1.1 = 1.21 on, as everywhere.
    assert verdict([row("a", 1.22, 1.1), row("b", 1.0, 1.1)]).told_apart is True
    assert verdict([row("a", 1.2, 1.1), row("b", 1.0, 1.1)]).told_apart is False
    # Where the model was off by a factor of 3, twice as long says nothing.
    assert verdict([row("a", 2.0), row("b", 1.0)], 3.0).told_apart is False
    assert verdict([row("a", 1.0)]).margin is None
    trends = [replace(row("a", 1.0), trend_s=9.0), replace(row("b", 1.2), trend_s=3.0)]
    heeded = verdict(trends)
    assert (heeded.best, heeded.told_apart, heeded.not_told_apart_from) == ("b", False, ["a"])
    assert heeded.margin == pytest.approx(1 / 1.2 - 1)
    assert verdict([trends[0], row("b", 1.2)]).best == "a"


def test_the_nearest_measured_locality_stands_for_others() -> None:
    two = MachineCosts({1: costs().messages[NETWORK], 3: costs().messages[NETWORK]}, "a test")
    assert [two.nearest(locality) for locality in range(5)] == [1, 1, 3, 3, 3]
    # The network stands for no pair of a node where one of a node's own was measured.
    far = replace(two, messages={1: two.messages[1], NETWORK: two.messages[3]})
    assert [far.nearest(locality) for locality in (0, NETWORK - 1, NETWORK)] == [1, 1, NETWORK]


def test_curves_give_the_one_way_time() -> None:
    made = costs().messages[NETWORK]
    terms = dict(zip(("send", "receive", "gap", "drain", "transfer"), made.curves(), strict=False))
    at_1024 = [
        float(np.interp(1024, *terms[name])) if len(terms[name][0]) > 1 else terms[name][1][0]
        for name in ("send", "receive", "transfer")
    ]
    assert sum(at_1024) == pytest.approx(LATENCY_S + 2 * OVERHEAD_S + 1024 * S_PER_B)


ODD = [
    ("allreduce", "rabenseifner"),
    ("barrier", "recursive_doubling"),
    ("barrier", "dissemination"),
    ("bcast", "scatter_allgather"),
]


@pytest.mark.parametrize("ranks", [16383, 16385, 12000])
@pytest.mark.parametrize(("operation", "algorithm"), ODD)
def test_the_line_keeps_the_rounds_of_odd_numbers(
    operation: str, algorithm: str, ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Just below a power of two there is a round more, or two, than for the power itself.
    asked = ask(operation, algorithm, ranks=ranks, size_B=0 if operation == "barrier" else 2**20)
    monkeypatch.setattr(collective, "MOST_STEPS", 0)
    line = predict_one(asked, costs(), None)
    monkeypatch.setattr(collective, "FEW_MESSAGES", 1e9)
    monkeypatch.setattr(collective, "MOST_STEPS", 1e9)
    whole = predict_one(asked, costs(), None)
    assert line.method == "closed_form"
    # Blocks that differ by one byte, and a tree's last level that is not full.
    assert line.time_s == pytest.approx(whole.time_s, rel=0.03)


def test_one_rank_and_nothing_take_no_time() -> None:
    alone = predict_one(ask("bcast", "binomial", ranks=1, size_B=1000), costs(), None)
    assert (alone.time_s, alone.formula) == (0.0, "0")
    nothing = predict_one(ask("bcast", "binomial", ranks=8, size_B=0), costs(), None)
    assert nothing.time_s == 0.0
    assert verdict([alone, nothing]).margin is None


def test_a_rank_that_is_told_tells_others_meanwhile() -> None:
    # d = 2 s: who knows at t is who knew at t − s and who was told by those who knew at t − 2 s, as Fibonacci's
    # numbers grow: by the golden ratio each s.
    s = 1.0
    made = MachineCosts(
        {NETWORK: Messages(np.full(SIZES_B.size, 2 * s), s, 0.0, np.full(SIZES_B.size, s))}, "a test"
    )
    golden = (1 + 5**0.5) / 2
    bound = lower_bound(ask("bcast", "binomial", ranks=1000, size_B=1), made)
    assert bound["latency_s"] == pytest.approx(np.log(1000) / np.log(golden))


def test_ranks_of_a_node_share_its_link() -> None:
    # Two nodes of eight ranks; each rank sends a message of 1 MB to each of the other node: 64 MB pass the link.
    one_way = 1e-6 + SIZES_B * 1e-12
    message = Messages(one_way, 0.0, 0.0, np.zeros(SIZES_B.size))
    shared = MachineCosts({NETWORK - 1: message, NETWORK: message}, "a test", node_s_per_B=1e-9)
    node = np.arange(16, dtype=np.int32) // 8
    alone = -1 - np.arange(16, dtype=np.int32)
    place = Place(np.ascontiguousarray([alone, alone, alone, node]), tuple(int(n) for n in node), 8)
    row = predict_one(ask("alltoall", "linear", ranks=16, size_B=1_000_000), shared, place)
    assert row.time_s == pytest.approx(64e6 * 1e-9, rel=0.02)
    assert row.dominant.startswith("adapters")
