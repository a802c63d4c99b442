"""Calibration: tables that the simulator itself made come back, on rank counts that were held out too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from hockney.machine.system import System
from hockney.predict.calibrate import Paths, Replay, calibrate, replay_all
from hockney.predict.parameters import ParameterLayout, Start
from hockney.predict.points import points
from hockney.predict.scenario import Scenario, Scenarios

Array = NDArray[np.float64]
Table = Callable[..., pd.DataFrame]
KNOTS = np.array([0.0, *2.0 ** np.arange(17)])


def asked(table: pd.DataFrame, system: System, procedure: str = "hockney") -> tuple[list[Scenario], Array]:
    frame = points(table, str(table["operation"].iloc[0])).frame
    made = [one for one in Scenarios(system, procedure).of_points(frame) if one is not None]
    assert len(made) == len(frame)
    return made, frame["time_s"].to_numpy()


def layout_of(scenarios: list[Scenario], system: System, **options: Any) -> tuple[ParameterLayout, Array]:
    labels = tuple(sorted({one.label for one in scenarios}))
    layout = ParameterLayout(KNOTS, labels, system.node.cores, **{"held_above_B": 8192.0} | options)
    # Half of the true latencies, twice the true bandwidth: the start has no part in what is found.
    begin = layout.start(Start(lambda _, size_B: 3e-7 + size_B / 8e9, lambda size_B: 1e-7 + size_B / 2e10))
    return layout, begin


def play(
    scenarios: list[Scenario], layout: ParameterLayout, theta: Array, statistic: str = "completion"
) -> list[Replay]:
    return replay_all(scenarios, statistic, layout, theta)


def slopes_of(replays: list[Replay], layout: ParameterLayout, theta: Array) -> tuple[Array, Array]:
    paths, simulated_ln = Paths.critical(replays, layout, theta)
    assert paths.ln_s(theta) == pytest.approx(simulated_ln)
    return simulated_ln, paths.slopes(theta).toarray()


def error(table: pd.DataFrame, system: System, measured_s: Array, seen: NDArray[np.bool_]) -> Array:
    """Relative errors of the points that are not seen after a calibration on the others."""
    scenarios, true_s = asked(table, system)
    layout, begin = layout_of(scenarios, system)
    train = [one for one, is_seen in zip(scenarios, seen, strict=True) if is_seen]
    rest = [one for one, is_seen in zip(scenarios, seen, strict=True) if not is_seen]
    theta = calibrate(play(train, layout, begin), measured_s[seen], layout, begin).theta
    return np.abs(np.array([one.time_s(layout, theta) for one in play(rest, layout, theta)]) / true_s[~seen] - 1)


@pytest.mark.parametrize(
    ("ranks", "held_out"),
    [((2, 3, 4), (3,)), ((2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48), (6, 12, 20))],
    ids=["one locality", "several"],
)
def test_known_costs_predict_ranks_that_were_held_out(
    system: System, simulated_table: Table, ranks: tuple[int, ...], held_out: tuple[int, ...]
) -> None:
    mappings = ["core"] if max(ranks) <= 4 else ["core", "half"]
    table = simulated_table(ranks=ranks, mappings=mappings, sizes=(8, 512, 16384))
    seen = ~table["ranks"].isin(held_out).to_numpy()
    _, true_s = asked(table, system)
    # Without noise all that is left is what the training does not tell, and the pull of the start: a residual
    # below 2 % counts as none.
    assert np.median(error(table, system, true_s, seen)) < 0.02


def test_gross_outliers_do_not_rule(system: System, simulated_table: Table) -> None:
    table = simulated_table(ranks=(2, 4, 6, 8, 12, 16, 24, 32, 48), sizes=(8, 512, 16384))
    seen = ~table["ranks"].isin([6, 12, 24]).to_numpy()
    _, true_s = asked(table, system)
    train, missed = np.flatnonzero(seen), []
    for seed in (2, 3, 4):
        spoiled = true_s.copy()
        spoiled[np.random.default_rng(seed).choice(train, len(train) // 20 + 1, replace=False)] *= 8
        missed.append(np.median(error(table, system, spoiled, seen)))
    # A least-squares fit would give each of the twentieth ln 8 / 20 = 10 % of the level.
    assert max(missed) < 0.03


@pytest.mark.parametrize(
    ("procedure", "statistic"),
    [("hockney", "completion"), ("osu", "mean_over_ranks"), ("imb", "max_over_ranks"), ("imb", "completion")],
)
def test_slope_is_the_finite_difference(
    system: System, simulated_table: Table, procedure: str, statistic: str
) -> None:
    table = simulated_table(ranks=(7, 20), sizes=(0x300,), mappings=["node"], mpi="Open MPI 4.1.5")
    scenarios, _ = asked(table, system, procedure)
    labels = {one.label: 512.0 for one in scenarios[:1]}
    layout, begin = layout_of(scenarios, system, step_from=10.0, rendezvous_above_B=labels)
    # Off the start, so that no two paths are equally long: there the derivative has a kink.
    theta = begin + np.random.default_rng(4).normal(0, 0.2, layout.count)
    replays = play(scenarios, layout, theta, statistic)
    for one, value, slope in zip(replays, *slopes_of(replays, layout, theta), strict=True):
        assert value == pytest.approx(np.log(one.time_s(layout, theta)))
        touched = np.flatnonzero(slope)
        assert {int(i) for i in touched} & {int(i) for i in layout.places["base"].ravel()}
        step = 1e-6
        for index in range(layout.count):
            if index not in touched and index % 7:
                continue
            there, back = theta.copy(), theta.copy()
            there[index] += step
            back[index] -= step
            expected = (np.log(one.time_s(layout, there)) - np.log(one.time_s(layout, back))) / (2 * step)
            assert slope[index] == pytest.approx(expected, abs=1e-6)


def test_steps_and_handshakes_are_parameters_that_act(system: System, simulated_table: Table) -> None:
    scenarios, _ = asked(simulated_table(ranks=(20,), sizes=(768,), mappings=["node"]), system)
    layout, begin = layout_of(
        scenarios, system, step_from=10.0, rendezvous_above_B=dict.fromkeys([scenarios[0].label], 512.0)
    )
    _, made = slopes_of(play(scenarios, layout, begin), layout, begin)
    slopes = {one.label: slope for one, slope in zip(scenarios, made, strict=True)}
    assert slopes[scenarios[0].label][layout.places["handshake"]].sum() > 0
    assert slopes[scenarios[1].label][layout.places["handshake"]].sum() == 0
    assert all(slope[layout.places["step"]].sum() > 0 for slope in slopes.values())


def test_threads_change_nothing(system: System, simulated_table: Table) -> None:
    """Traces made together are those made one by one, and the same again."""
    scenarios, _ = asked(simulated_table(ranks=(5, 8, 24), sizes=(8, 4096)), system)
    layout, begin = layout_of(scenarios, system)
    together_ln, together = slopes_of(play(scenarios * 8, layout, begin), layout, begin)
    for i, one in enumerate(scenarios):
        alone_ln, alone = slopes_of(play([one], *layout_of(scenarios, system)), layout, begin)
        assert (together_ln[i :: len(scenarios)] == alone_ln).all()
        assert (together[i :: len(scenarios)] == alone).all()


def test_what_was_not_measured_stays_where_it_began(system: System, simulated_table: Table) -> None:
    scenarios, true_s = asked(simulated_table(ranks=(2, 4), mappings=["core"]), system)
    layout, begin = layout_of(scenarios, system)
    found = calibrate(play(scenarios, layout, begin), true_s, layout, begin, steps=4)
    # Ranks of one cache say nothing of the network but by how alike its senders are to those of a node.
    assert found.theta[layout.places["link"]] == pytest.approx(begin[layout.places["link"]])
    assert found.theta[layout.places["base"][-1, 1]] == pytest.approx(begin[layout.places["base"][-1, 1]])
    assert found.residual.shape == true_s.shape


def test_steps_bring_it_nearer(system: System, simulated_table: Table) -> None:
    scenarios, true_s = asked(simulated_table(ranks=(2, 4), mappings=["core"]), system)
    layout, begin = layout_of(scenarios, system)
    losses = [
        calibrate(play(scenarios, layout, begin), true_s, layout, begin, steps=steps).loss for steps in (0, 1, 4)
    ]
    assert losses[2] <= losses[1] < losses[0] - len(scenarios)


def test_few_simulations_follow_the_paths(system: System, simulated_table: Table) -> None:
    """Each point is simulated once a step, however many steps Gauss–Newton takes along its path."""
    scenarios, true_s = asked(simulated_table(ranks=(2, 8, 24), mappings=["core"]), system)
    layout, begin = layout_of(scenarios, system)
    replayed: list[None] = []
    found = calibrate(
        play(scenarios, layout, begin), true_s, layout, begin, steps=2, replayed=lambda: replayed.append(None)
    )
    assert len(replayed) <= 3 * len(scenarios)
    assert np.median(np.abs(found.residual)) < 0.02


def test_a_path_is_the_time_until_another_is_critical(system: System, simulated_table: Table) -> None:
    scenarios, _ = asked(simulated_table(ranks=(3, 20), sizes=(768,), mappings=["node"]), system)
    layout, begin = layout_of(scenarios, system)
    replays = play(scenarios, layout, begin)
    paths, _ = Paths.critical(replays, layout, begin)
    near, far = (begin + np.random.default_rng(5).normal(0, by, layout.count) for by in (1e-4, 1.0))
    for theta, is_exact in ((near, True), (far, False)):
        ln_s = np.log([one.time_s(layout, theta) for one in replays])
        assert (paths.ln_s(theta) == pytest.approx(ln_s, rel=1e-9)) is is_exact
        # Another path is critical only because it is longer.
        assert (paths.ln_s(theta) <= ln_s + 1e-9).all()


def test_leverage_is_what_a_point_has_from_itself(system: System, simulated_table: Table) -> None:
    """Against a change of the point: d predicted / d measured."""
    scenarios, true_s = asked(
        simulated_table(ranks=(2, 4), sizes=(8, 512), mappings=["core"], noise=0.02), system
    )
    layout, begin = layout_of(scenarios, system)
    found = calibrate(play(scenarios, layout, begin), true_s, layout, begin, steps=6)
    assert ((found.leverage > 0) & (found.leverage < 1)).all()
    moved = true_s.copy()
    moved[3] *= 1.001
    again = calibrate(play(scenarios, layout, begin), moved, layout, begin, steps=6)
    assert again.leverage.shape == true_s.shape
    # Weights of the t distribution move too.
    shift = (np.log(1.001) - again.residual[3] + found.residual[3]) / np.log(1.001)
    assert shift == pytest.approx(found.leverage[3], abs=0.2)
