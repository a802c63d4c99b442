"""Iterations of Jacobi and CG against closed forms, where all messages cost the same."""

from __future__ import annotations

import pytest

from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.options import Exchange, Variant
from hockney.apps.stencil.stencil import Stencil
from hockney.apps.stencil.steps import StencilStep, iteration
from hockney.apps.stencil.surroundings import Surroundings, Tuned
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import SIZES_B, Messages
from hockney.predict.place import LOCALITIES

L, O, G = 4e-6, 1e-6, 1e-9  # noqa: E741 - the model's letters
CELL_S = 2e-9


def surroundings(tuned: Tuned = Tuned()) -> Surroundings:  # noqa: B008 - frozen
    """α + β m between any two ranks, g = o, no copies."""
    message = Messages(L + 2 * O + G * SIZES_B, O, O, O + G * SIZES_B)
    costs = MachineCosts({len(LOCALITIES) - 1: message}, "made up", copy_s_per_B=0.0)
    return Surroundings(costs, lambda _: None, tuned)


def step(grid: Grid, how: Exchange = "nonblocking", variant: Variant | None = None) -> StencilStep:
    return StencilStep(Stencil((64, 64, 64), grid, how), CELL_S, variant)


def test_alone_there_is_only_computation() -> None:
    made = iteration(step(Grid(1, 1, 1)), surroundings())
    assert made.first_s == made.further_s == made.compute_s == pytest.approx(64**3 * CELL_S)


def test_two_ranks_exchange_one_face_each_way() -> None:
    made = iteration(step(Grid(2, 1, 1)), surroundings())
    face_B = 64 * 64 * 8
    # o + L + mG + o, then half of the cells.
    assert made.further_s == pytest.approx(L + 2 * O + face_B * G + 32 * 64 * 64 * CELL_S)
    assert made.compute_s == pytest.approx(32 * 64 * 64 * CELL_S)
    assert made.mean_s(5) == pytest.approx(made.further_s)


def test_a_rank_between_two_waits_for_its_port() -> None:
    made = iteration(step(Grid(4, 1, 1)), surroundings())
    face_B = 64 * 64 * 8
    # Its second message leaves after the gap of the first, o + mG.
    assert made.further_s == pytest.approx(
        O + (O + face_B * G) - O + L + face_B * G + 2 * O + 16 * 64 * 64 * CELL_S, rel=0.02
    )


def test_overlap_hides_what_it_can() -> None:
    plain = iteration(step(Grid(2, 1, 1)), surroundings())
    hidden = iteration(step(Grid(2, 1, 1), "overlap"), surroundings())
    # The message takes less than the inner cells: what remains of it is taking it, o, and sending it, o.
    assert hidden.further_s == pytest.approx(hidden.compute_s + 2 * O)
    assert hidden.further_s < plain.further_s


def test_sendrecv_goes_side_after_side() -> None:
    made = iteration(step(Grid(4, 1, 1), "sendrecv"), surroundings())
    message_s = L + 2 * O + 64 * 64 * 8 * G
    assert made.further_s == pytest.approx(2 * message_s + made.compute_s, rel=0.02)


@pytest.mark.parametrize(("ranks", "rounds"), [(2, 1), (4, 2), (8, 3)])
def test_cg_adds_two_sums(ranks: int, rounds: int) -> None:
    jacobi = iteration(step(Grid(ranks, 1, 1)), surroundings())
    made = iteration(step(Grid(ranks, 1, 1), variant="fused"), surroundings())
    sum_s = rounds * (L + 2 * O + 8 * G)
    assert made.further_s == pytest.approx(jacobi.further_s + 2 * sum_s, rel=0.01)


@pytest.mark.parametrize("variant", ["reference", "fused", "joint", "single_sweep"])
def test_formulations_of_the_same_computation_take_the_same(variant: Variant) -> None:
    """Where what is done before the first sum changes, the sum of all does not."""
    fused = iteration(step(Grid(4, 2, 1), variant="fused"), surroundings())
    other = iteration(step(Grid(4, 2, 1), variant=variant), surroundings())
    assert other.further_s == pytest.approx(fused.further_s)


def test_a_pipelined_sum_travels_beside_the_operator() -> None:
    fused = iteration(step(Grid(8, 1, 1), variant="fused"), surroundings())
    pipelined = iteration(step(Grid(8, 1, 1), variant="pipelined"), surroundings())
    # One sum is gone, the other hidden behind the exchange or the exchange behind it.
    assert pipelined.further_s < fused.further_s - 2 * 3 * (L + 2 * O) * 0.9


def test_what_is_tuned_stretches_its_part() -> None:
    plain = iteration(step(Grid(2, 1, 1)), surroundings())
    face_B = 64 * 64 * 8
    slow = iteration(step(Grid(2, 1, 1)), surroundings(Tuned(per_byte=2.0)))
    assert slow.further_s - plain.further_s == pytest.approx(face_B * G)
    late = iteration(step(Grid(2, 1, 1)), surroundings(Tuned(latency=3.0)))
    assert late.further_s - plain.further_s == pytest.approx(2 * (L + 2 * O))
    busy = iteration(step(Grid(2, 1, 1)), surroundings(Tuned(compute=1.5)))
    assert busy.compute_s == pytest.approx(1.5 * plain.compute_s)
