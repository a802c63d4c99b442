"""Closed forms count what the schedules count."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.factories import not_none

from hockney import _core
from hockney._core import Algorithm, Problem
from hockney.models.collectives.closed_form import ClosedForm, Collective, closed_form, collective_models
from hockney.models.collectives.expression import FormulaCall, Order

FORMS = [
    pytest.param(form, id=f"{operation}-{name}")
    for operation, collective in collective_models
    for name, form in collective.forms.items()
]
ELEMENT_B = 4
RANKS = range(2, 65)


def exactly_divisible(algorithm: Algorithm, ranks: int, segments: int) -> tuple[int, int]:
    """(bytes, bytes of a segment) where every block, half and segment is a whole number of elements."""
    if algorithm.collective == "barrier":
        return 0, 0
    # 2⁶: halvings of up to 64 ranks; segments cut blocks of allreduce and halves of split_binary.
    size = ELEMENT_B * math.lcm(64, ranks) * segments * 2
    cut = {"segmented_ring": ranks, "split_binary": 2}.get(algorithm.name, 1)
    return size, size // cut // segments if segments > 1 else 0


# A closed form is optional: a new algorithm needs none.
WITH_FORM = [one for one in _core.algorithms() if closed_form(one.collective, one.name) is not None]


@pytest.mark.parametrize("algorithm", WITH_FORM, ids=lambda one: f"{one.collective}-{one.name}")
def test_counts_are_those_of_the_schedule(algorithm: Algorithm) -> None:
    form = not_none(closed_form(algorithm.collective, algorithm.name))
    seen = False
    for ranks in RANKS:
        # Open MPI's linear_sync cuts only the first message.
        pieces = (1, 3) if algorithm.is_segmented and algorithm.name != "linear_sync" and ranks <= 17 else (1,)
        for segments in pieces:
            size_B, segment_B = exactly_divisible(algorithm, ranks, segments)
            problem = Problem(ranks=ranks, bytes=size_B, element_B=ELEMENT_B, segment_B=segment_B)
            if _core.refusal(algorithm.collective, algorithm.name, problem):
                continue
            counts = _core.count(_core.generate(algorithm.collective, algorithm.name, problem))
            mine = form.counts(FormulaCall(ranks, float(size_B), float(segment_B), algorithm.default_radix))
            theirs = counts.critical_messages, counts.critical_bytes
            if form.is_exact(ranks, algorithm.default_radix):
                seen = True
                assert mine[:2] == pytest.approx(theirs), (ranks, segments)
            elif form.otherwise == "at most":
                assert mine[0] >= theirs[0], (ranks, segments)
                assert mine[1] >= theirs[1] * (1 - 1e-12), (ranks, segments)
    assert seen, "exact nowhere"


@pytest.mark.parametrize(
    ("operation", "algorithm", "ranks", "m", "reduced"),
    [
        # Written out by hand from the papers' formulas.
        ("reduce", "binomial", 8, 100, 300),
        ("reduce", "rabenseifner", 8, 800, 700),
        ("allreduce", "ring", 8, 800, 700),
        ("allreduce", "recursive_doubling", 9, 100, 400),
        ("allreduce", "nonoverlapping", 8, 100, 300),
        ("reduce_scatter", "ring", 8, 10, 70),
        ("reduce_scatter", "recursive_halving", 9, 10, 170),
        ("allgather", "ring", 8, 10, 0),
    ],
)
def test_bytes_reduced(operation: str, algorithm: str, ranks: int, m: float, reduced: float) -> None:
    form = not_none(closed_form(operation, algorithm))
    assert form.counts(FormulaCall(ranks, m)).reduced == pytest.approx(reduced)


@pytest.mark.parametrize(("operation", "collective"), list(collective_models))
def test_no_schedule_beats_the_optimum(operation: str, collective: Collective) -> None:
    for algorithm in (one for one in _core.algorithms() if one.collective == operation):
        for ranks in (2, 3, 5, 8, 13, 16, 31, 32):
            size_B, _ = exactly_divisible(algorithm, ranks, 1)
            problem = Problem(ranks=ranks, bytes=size_B, element_B=ELEMENT_B)
            if _core.refusal(operation, algorithm.name, problem):
                continue
            counts = _core.count(_core.generate(operation, algorithm.name, problem))
            least = collective.optimum.counts(FormulaCall(ranks, float(size_B)))
            assert counts.critical_messages >= least.alpha
            assert counts.critical_bytes >= least.bytes * (1 - 1e-12), (algorithm.name, ranks)


@pytest.mark.parametrize(("operation", "collective"), list(collective_models))
def test_no_form_beats_the_optimum(operation: str, collective: Collective) -> None:
    for ranks in RANKS:
        case = FormulaCall(ranks, 960.0)
        least = collective.optimum.counts(case)
        for name, form in collective.forms.items():
            if not form.otherwise and not form.is_exact(ranks):
                continue
            counts = form.counts(case)
            assert all(count >= bound * (1 - 1e-12) for count, bound in zip(counts, least, strict=True)), (
                operation,
                name,
                ranks,
            )


@pytest.mark.parametrize("form", FORMS)
def test_orders_are_those_of_the_counts(form: ClosedForm) -> None:
    """Between 2²⁰ and 2⁴⁰ ranks a count grows as its order does, within what lower orders still change."""
    few, many = (form.counts(FormulaCall(ranks, 960.0)) for ranks in (2**20, 2**40))
    for part, expression in (("alpha", form.alpha), ("bytes", form.bytes)):
        if getattr(many, part):
            expected = _grown(expression.order, 2**40) / _grown(expression.order, 2**20)
            assert getattr(many, part) / getattr(few, part) == pytest.approx(expected, rel=0.06)


def _grown(order: Order, ranks: int) -> float:
    return sum(float(ranks) ** growth.P * math.log(ranks) ** growth.log for growth in order)


@pytest.mark.parametrize("form", FORMS)
def test_an_array_of_calls_counts_as_its_calls_do(form: ClosedForm) -> None:
    calls = [(2, 8.0, 0.0, 0), (7, 960.0, 100.0, 3), (64, 960.0, 0.0, 4), (65, 4096.0, 1000.0, 2)]
    together = form.counts(FormulaCall(*np.array(calls).T))
    for column, part in enumerate(together):
        alone = [form.counts(FormulaCall(*call))[column] for call in calls]
        assert np.broadcast_to(part, len(calls)) == pytest.approx(alone)


@pytest.mark.parametrize(
    ("operation", "algorithm", "ranks", "alpha", "blocks", "reduced"),
    [
        # By hand from the papers named in the forms, for n = 1 B.
        ("bcast", "binomial", 9, 4, 4, 0),
        ("scatter", "binomial", 8, 3, 7, 0),
        ("gather", "linear_sync", 5, 8, 4, 0),
        ("reduce", "linear", 6, 5, 5, 5),
        ("allreduce", "ring", 4, 6, 1.5, 0.75),
        ("allgather", "neighbor_exchange", 6, 3, 5, 0),
        ("reduce_scatter", "pairwise", 6, 5, 5, 5),
        ("alltoall", "bruck", 8, 3, 12, 0),
        ("barrier", "recursive_doubling", 6, 5, 0, 0),
    ],
)
def test_counts_by_hand(
    operation: str, algorithm: str, ranks: int, alpha: float, blocks: float, reduced: float
) -> None:
    form = not_none(closed_form(operation, algorithm))
    assert tuple(form.counts(FormulaCall(ranks, 1.0))) == pytest.approx((alpha, blocks, reduced))


def test_open_mpis_spellings_are_known_and_a_librarys_own_choice_is_not() -> None:
    assert closed_form("alltoall", "modified_bruck") is closed_form("alltoall", "bruck")
    assert closed_form("bcast", "default") is None
    assert closed_form("pingpong", "linear") is None
