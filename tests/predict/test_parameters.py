"""The layout of parameters: weights between sizes, what each cost depends on, and a pull for every parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from hockney._core import Network as Links
from hockney._core import Problem, simulate
from hockney.machine.system import System
from hockney.predict.costs import TERMS
from hockney.predict.parameters import PARTS, ROW, ParameterLayout, Start
from hockney.predict.place import LOCALITIES, NETWORK
from hockney.predict.points import points
from hockney.predict.scenario import Scenario, Scenarios

KNOTS = np.array([0.0, 1, 2, 4, 8, 16, 32])
START = Start(
    lambda locality, size_B: (1 + locality) * 1e-6 + size_B * 1e-9, lambda size_B: 1e-7 + size_B * 1e-10
)


@pytest.fixture(scope="module")
def layout() -> ParameterLayout:
    return ParameterLayout(KNOTS, ("bcast binomial", "bcast linear"), 16)


@pytest.fixture(scope="module")
def scenario(system: System, bcast: Callable[..., pd.DataFrame]) -> Scenario:
    table = bcast(lambda *_: 1.0, algorithms=["linear"], ranks=[32], sizes=[8], mappings=["core"], mpi="")
    made = Scenarios(system, "hockney").of_points(points(table, "bcast").frame)[0]
    assert made is not None
    return made


@pytest.mark.parametrize("size_B", [0, 1, 3, 5, 8, 31, 32, 100, 10**6])
def test_weights_sum_to_one_and_are_straight_log_log(layout: ParameterLayout, size_B: int) -> None:
    (weights,) = layout.shares([size_B])
    assert weights.sum() == pytest.approx(1.0)
    if size_B == 0:
        assert weights.tolist() == [1.0, *[0.0] * (len(KNOTS) - 1)]
        return
    # A power law through the knots comes back at every size, beyond the last too.
    assert weights[1:] @ (3 * np.log(KNOTS[1:]) - 2) == pytest.approx(3 * np.log(size_B) - 2)


def test_every_parameter_has_its_place_and_a_pull(layout: ParameterLayout) -> None:
    places = np.concatenate([at.ravel() for at in layout.places.values()])
    assert sorted(places) == list(range(layout.count))
    matrix, target = layout.prior(layout.start(START))
    assert target.shape == (matrix.shape[0],)
    # Positive definite: measurements that say nothing leave one answer. The weakest pull is that of the level of
    # a curve: 1 / 1² for its mean, spread over its knots.
    assert np.linalg.eigvalsh((matrix.T @ matrix).toarray()).min() > 0.9 / len(KNOTS)


def test_the_start_is_pulled_nowhere_but_where_localities_are_alike(layout: ParameterLayout) -> None:
    begin = layout.start(START)
    matrix, target = layout.prior(begin)
    strained = np.flatnonzero(np.abs(matrix @ begin - target) > 1e-9)
    one, other = layout.places["base"][NETWORK - 1, 0], layout.places["base"][NETWORK, 0]
    assert strained.size
    for row in strained:
        assert set(matrix[[row]].indices) in [{a, b} for a, b in zip(one, other, strict=True)]


def test_the_start_is_the_time_of_a_message(layout: ParameterLayout) -> None:
    begin = layout.start(START)
    for locality in range(len(LOCALITIES)):
        time_s = np.exp(begin[layout.places["base"][locality]]).sum(axis=0)
        assert time_s == pytest.approx([START.message_s(locality, size_B) for size_B in KNOTS])


def ln_costs(layout: ParameterLayout, scenario: Scenario, theta: np.ndarray, sizes: list[int]) -> np.ndarray:
    table = layout.shares(sizes) @ layout.at_knots(scenario, theta).reshape(-1, ROW)
    return np.where(layout.empty(scenario, sizes), np.nan, table)


def column(locality: int, term: str) -> int:
    return locality * len(TERMS) + TERMS.index(term)


@pytest.mark.parametrize("locality", range(len(LOCALITIES)))
@pytest.mark.parametrize("part", PARTS)
def test_the_formula_of_a_cost(scenario: Scenario, locality: int, part: str) -> None:
    layout = ParameterLayout(KNOTS, ("bcast binomial", "bcast linear"), 16, step_from=30)
    theta = np.random.default_rng(1).normal(size=layout.count)
    p, at, k = PARTS.index(part), layout.places, 4  # knot 4 is 8 B
    outside = locality == NETWORK
    expected = theta[at["base"][locality, p, k]] + theta[at["algorithm"][1, p, k]]
    expected += theta[at["load"][int(outside), k]] * scenario.place.ppn / 16
    expected += theta[at["step"][p]] if outside else 0.0
    assert ln_costs(layout, scenario, theta, [8])[0, column(locality, part)] == pytest.approx(expected)
    # An empty message is of no algorithm; fewer ranks than the step do not climb it.
    below = replace(scenario, ranks=29)
    expected = theta[at["base"][locality, p, 0]] + theta[at["load"][int(outside), 0]] * scenario.place.ppn / 16
    assert ln_costs(layout, below, theta, [0])[0, column(locality, part)] == pytest.approx(expected)


def test_messages_of_a_node_take_memory_and_others_links(scenario: Scenario) -> None:
    layout = ParameterLayout(KNOTS, ("bcast linear",), 16)
    theta = np.random.default_rng(3).normal(size=layout.count)
    taken = ln_costs(layout, scenario, theta, [8])[0]
    for locality in range(1, len(LOCALITIES)):
        of = layout.places["link" if locality == NETWORK else "memory"]
        assert taken[column(locality, "node_link")] == theta[of[4]]


def test_terms_that_messages_do_not_have(scenario: Scenario) -> None:
    layout = ParameterLayout(KNOTS, ("bcast linear",), 16, rendezvous_above_B={"bcast linear": 8.0})
    empty = layout.empty(scenario, [8, 9])
    for locality in range(len(LOCALITIES)):
        assert empty[:, column(locality, "gap")].all()
        assert empty[:, column(locality, "drain")].all()
        assert empty[:, column(locality, "handshake")].tolist() == [True, False]
        # Those of one cache stay there: they take nothing of the node's memory.
        assert empty[0, column(locality, "node_link")] == (locality == 0)
    torus = replace(scenario, place=replace(scenario.place, torus=(2,)))
    assert empty[:, column(NETWORK, "network_link")].all()
    assert not layout.empty(torus, [8])[0, column(NETWORK, "network_link")]


def test_single_costs_are_those_of_the_table(scenario: Scenario) -> None:
    layout = ParameterLayout(KNOTS, ("bcast binomial", "bcast linear"), 16, step_from=30)
    theta = np.random.default_rng(6).normal(size=layout.count)
    below = replace(scenario, ranks=29)
    cases = [(*layout.case(one), size_B) for one in (scenario, below) for size_B in (0, 24)]
    case, columns = np.divmod(np.arange(4 * ROW), ROW)
    made = (layout.ln_costs(cases, case, columns) @ theta).reshape(4, ROW)
    tables = [layout.shares([0, 24]) @ layout.at_knots(one, theta).reshape(-1, ROW) for one in (scenario, below)]
    assert made == pytest.approx(np.concatenate(tables))
    assert (made[0] != made[2]).any()


def test_curves_are_the_costs_without_load(layout: ParameterLayout, scenario: Scenario) -> None:
    """The order in which messages pass links is found with what is fitted, not with something else."""
    theta = np.random.default_rng(2).normal(size=layout.count)
    theta[layout.places["load"]] = 0.0
    # Larger messages take longer, and no link holds them up.
    theta[layout.places["base"]] = np.sort(theta[layout.places["base"]])
    theta[layout.places["algorithm"]] = np.abs(theta[layout.places["algorithm"]])
    theta[layout.places["link"]] = -30.0
    table = np.exp(ln_costs(layout, scenario, theta, [8]))
    curves = ParameterLayout(KNOTS, ("bcast binomial", "bcast linear"), 16).curves(theta, "bcast linear")

    outcome = simulate(
        [("bcast", "linear", Problem(ranks=2, bytes=8))],
        curves,
        levels=np.array([[0, 1]] * (len(LOCALITIES) - 1), dtype=np.int32),
        network=Links(node_of_rank=(0, 1)),
    )
    terms = [table[0, column(NETWORK, term)] for term in ("send", "insert", "transfer", "receive")]
    assert outcome.finish_s.max() == pytest.approx(sum(terms))
