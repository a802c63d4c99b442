"""Growth beyond training: planted errors come back, those of each doubling and those of a new place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from hockney.machine.system import System
from hockney.predict.estimators._beyond import UNKNOWN, Beyond, ErrorGrowth, TrainedRuns
from hockney.predict.points import points
from hockney.predict.scenario import Scenario, Scenarios

Tables = Callable[..., pd.DataFrame]


def scenarios(table: pd.DataFrame, system: System) -> tuple[list[Scenario], list[str]]:
    frame = points(table, "bcast").frame
    made = [one for one in Scenarios(system, "hockney").of_points(frame) if one is not None]
    assert len(made) == len(frame)
    return made, frame["mapping"].tolist()


@pytest.mark.parametrize(
    ("ranks", "mapping", "is_new"),
    [
        (12, "core", False),  # both packages of a node
        (17, "core", True),  # a second node
        (32, "half", False),  # four nodes instead of two
        (20, "node", True),  # the other package of both nodes
    ],
)
def test_how_far_a_point_lies_beyond_runs(
    simulated_table: Tables, system: System, ranks: int, mapping: str, is_new: bool
) -> None:
    """Nodes of two packages of eight cores; at most 16 ranks were seen on each mapping."""
    seen = TrainedRuns.of(
        *scenarios(simulated_table(ranks=(16, 8, 2), mappings=["core", "half", "node"]), system)
    )
    beyond = seen.beyond(*scenarios(simulated_table(ranks=(ranks,), mappings=[mapping]), system))
    # Two algorithms of three sizes.
    assert beyond.is_new.tolist() == [is_new] * 6
    assert beyond.doublings == pytest.approx(np.full(6, max(np.log2(ranks / 16), 0.0)))


def test_a_mapping_without_any_run_is_new(simulated_table: Tables, system: System) -> None:
    seen = TrainedRuns.of(*scenarios(simulated_table(ranks=(4, 8), mappings=["core"]), system))
    assert seen.beyond(*scenarios(simulated_table(ranks=(4,), mappings=["node"]), system)).is_new.all()


def planted(count: int) -> tuple[np.ndarray, Beyond]:
    """Errors of exactly 0.1 a doubling, and of 0.8 on a new locality, either way."""
    random = np.random.default_rng(1)
    # So few new ones that 95 % of all points are others.
    is_new = np.arange(count) % 25 == 0
    doublings = random.uniform(0.2, 2.0, count)
    missed = np.where(is_new, 0.8, 0.1 * doublings)
    return missed * random.choice([-1, 1], count), Beyond(doublings, is_new)


def test_planted_growth_comes_back() -> None:
    missed, beyond = planted(1000)
    growth = ErrorGrowth.of(missed, np.zeros(1000), beyond)
    assert growth.of_doubling == pytest.approx(0.1)
    assert growth.of_new == pytest.approx(0.8)
    asked = Beyond(np.array([0.0, 4.0, 6.0, 0.0]), np.array([False, False, True, True]))
    # Nothing inside; four times that of a doubling; both in square; a new node at once.
    assert growth.reach(asked) == pytest.approx([0.0, 0.4, 1.0, 0.8])


def test_what_is_missed_inside_is_not_growth() -> None:
    missed, beyond = planted(1000)
    inside = np.full(1000, 0.5)
    growth = ErrorGrowth.of(np.hypot(missed, inside), inside, beyond)
    assert growth.of_doubling == pytest.approx(0.1)
    assert growth.of_new == pytest.approx(0.8)


def test_few_points_beyond_say_nothing() -> None:
    missed, beyond = planted(19)
    growth = ErrorGrowth.of(missed, np.zeros(19), beyond)
    assert (growth.of_doubling, growth.of_new) == (UNKNOWN, UNKNOWN)
