"""What candidates take by ping-pongs alone, where several ranks are on each node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from hockney.predict import from_costs
from hockney.predict.collective import AlgorithmTime, way_of
from hockney.predict.estimators import _default
from hockney.predict.estimators.base import Training
from hockney.predict.from_costs import FromCosts
from hockney.predict.identify.chains import Chain, Expected
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import SIZES_B, Messages
from hockney.predict.place import NETWORK
from hockney.schedule.catalogue import ScheduleRequest

NODE_S, NETWORK_S = 1e-6, 10e-6
COSTS = MachineCosts(
    {
        locality: Messages.assumed(empty_s + SIZES_B * s_per_B, {})
        for locality, empty_s, s_per_B in ((NETWORK - 1, NODE_S, 1e-12), (NETWORK, NETWORK_S, 1e-9))
    },
    "ping-pongs",
    copy_s_per_B=0.0,
)


def frame(algorithm: str, size_B: int) -> pd.DataFrame:
    """A call on four nodes of four ranks."""
    operation, name = algorithm.split(":")
    point = {"operation": operation, "algorithm": name, "ranks": 16, "bytes": size_B, "nodes": 4, "ppn": 4}
    words = dict.fromkeys(("system", "mapping", "mpi", "variant", "source", "cache", "oversubscribed"), "")
    return pd.DataFrame([{**point, **words, "segment_bytes": 0, "radix": 0, "root": 0}])


def time_s(algorithm: str, size_B: int, *, in_blocks: bool) -> float:
    return float(FromCosts(COSTS, in_blocks).plain_s(frame(algorithm, size_B))[0])


def test_two_of_four_rounds_of_a_tree_stay_inside_the_nodes() -> None:
    assert time_s("bcast:binomial", 1, in_blocks=False) == pytest.approx(4 * NETWORK_S, rel=0.01)
    assert time_s("bcast:binomial", 1, in_blocks=True) == pytest.approx(2 * NETWORK_S + 2 * NODE_S, rel=0.01)


def test_ranks_of_a_node_share_its_link() -> None:
    """Twelve of a rank's fifteen messages leave its node, and so do those of three others."""
    size_B = 2**20
    apart_s, shared_s = (time_s("alltoall:pairwise", size_B, in_blocks=each) for each in (False, True))
    assert apart_s == pytest.approx(15 * size_B * 1e-9, rel=0.05)
    assert shared_s >= 4 * 12 * size_B * 1e-9


@pytest.mark.parametrize("many", [1, 2])
def test_a_network_may_lengthen_all_times_alike_under_each_assumption(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected: list[Expected] = []

    def chains(_points: pd.DataFrame, under: list[Expected], _main: str) -> list[Chain]:
        expected.extend(under)
        return []

    monkeypatch.setattr(_default, "chains", chains)
    measured = frame("bcast:default", 8).assign(time_s=1.0, spread=1.0, repetitions=1)
    training = Training(measured, measured[:0], None, "bcast", "completion", asks_library=False)
    _default.identify(training, [FromCosts(COSTS)] * many, is_rough=True)
    usual, slower = expected[0::2], expected[1::2]
    assert len(usual) == len(slower) == many
    assert all(one.is_rough for one in expected)
    assert {usual[0].prior + one.prior for one in slower} == {1.0}
    ratio = np.exp(slower[0].ln_s - usual[0].ln_s)
    assert ratio[np.isfinite(ratio)] == pytest.approx(2.0)


def test_defaults_of_so_many_ranks_that_candidates_take_too_many_messages_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four ranks send twelve messages, sixteen 240: candidates are simulated on four alone."""
    asked: list[int] = []

    def counted(request: ScheduleRequest, *rest: Any) -> Any:
        way, messages = way_of(request, *rest)

        def time() -> AlgorithmTime:
            asked.append(request.problem.ranks)
            return way()

        return time, messages

    monkeypatch.setattr(from_costs, "way_of", counted)
    monkeypatch.setattr(_default, "MOST_STEPS", 100)
    few = frame("alltoall:default", 8).assign(ranks=4, nodes=2, ppn=2)
    measured = pd.concat([few, frame("alltoall:default", 8)], ignore_index=True)
    measured = measured.assign(time_s=1e-4, spread=1.0, repetitions=1)
    training = Training(measured, measured[:0], None, "alltoall", "completion", asks_library=False)
    found = _default.identify(training, [FromCosts(COSTS, in_blocks=True)], is_rough=True)
    assert set(asked) == {4}
    assert {chain.ranks for chain in found.chains} == {4}
    assert found.limits == ["default: identified up to 4 ranks, of more the candidates take too long to simulate"]
