"""From a point to what is simulated: procedure, barrier, schedule, placement; and the statistic of its exits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hockney import _core
from hockney._core import CostCurves, Network, Problem, simulate
from hockney.machine.placement import placement
from hockney.machine.system import System, find_system
from hockney.predict.costs import NOTHING, LoggopsParameters, per_byte
from hockney.predict.decisions.base import decisions_for
from hockney.predict.place import LOCALITIES, place_of
from hockney.predict.points import points
from hockney.predict.procedures import ProcedureRun
from hockney.predict.scenario import MOST_STEPS, STATISTICS, Scenario, Scenarios, expected_steps
from hockney.records.defaults import Defaults, Seen, WatchedCell

OPEN_MPI = "Open MPI 4.1.5"
POINT: dict[str, Any] = {
    "mpi": OPEN_MPI, "operation": "bcast", "algorithm": "binomial", "mapping": "core", "nodes": pd.NA,
    "variant": "", "source": "",
    "ppn": pd.NA, "ranks": 16, "bytes": 1024, "segment_bytes": pd.NA, "radix": pd.NA, "root": pd.NA,
}  # fmt: skip


def scenario(system: System, procedure: str = "osu", **changes: Any) -> Scenario:
    scenarios = Scenarios(system, procedure)
    made = scenarios.of_points(pd.DataFrame([POINT | changes]))[0]
    assert made is not None, scenarios.missing
    return made


def exits_s(one: Scenario) -> np.ndarray:
    """Under the same LogGP costs everywhere: 1 µs on the way, 0.3 µs at either end."""
    message = LoggopsParameters(1e-6, 3e-7, 0.0, 1e-10).at([0]).messages[0]
    costs = CostCurves([message] * len(LOCALITIES), NOTHING, per_byte(0.0))
    outcome = simulate(one.run.phases, costs, levels=one.place.levels, network=Network(node_of_rank=()))
    return np.asarray(outcome.finish_s.reshape(len(one.run.phases), -1))


def time_s(one: Scenario, statistic: str = "mean_over_ranks") -> float:
    exits = exits_s(one)
    return float((STATISTICS[statistic](exits, one.run) * exits).sum())


def test_osu_runs_the_librarys_barrier_between_two_calls(system: System) -> None:
    run = scenario(system).run
    assert [(collective, algorithm) for collective, algorithm, _ in run.phases] == [
        ("bcast", "binomial"), ("barrier", "recursive_doubling"), ("bcast", "binomial"),
    ]  # fmt: skip
    assert (run.start, run.end) == (1, 2)


def test_scenarios_share_a_key_where_they_are_simulated_alike_alone(system: System) -> None:
    one = scenario(system)
    assert scenario(system).key == one.key
    changes: list[dict[str, Any]] = [
        {"ranks": 17}, {"bytes": 2048}, {"algorithm": "chain"}, {"root": 3}, {"mapping": "node"}, {"mpi": ""},
    ]  # fmt: skip
    others = [scenario(system, **change) for change in changes]
    others += [replace(one, label="another"), replace(one, size_B=1), scenario(system, "hockney", mpi="")]
    assert len({each.key for each in (one, *others)}) == 1 + len(others)


@pytest.mark.parametrize("power", [8, 16, 32])
def test_recursive_doubling_lets_the_low_ranks_out_last(system: System, power: int) -> None:
    """The jumps after 16 and 32 ranks that a report on broadcasts left as additional factors."""
    one = scenario(system, ranks=power + 1)
    assert one.run.phases[1][1] == "recursive_doubling"
    out = exits_s(one)[1]
    # Rank 0 serves the rank beyond the power of two: it is out an overhead later than its peers.
    assert out[0] > np.median(out[1:power]) + 2e-7
    alone = scenario(system, "hockney", ranks=power + 1, mpi="", algorithm="binomial")
    even = scenario(system, ranks=power)
    # All wait for the root, which is late: the mean is larger than after a barrier that lets all out at once.
    late = time_s(one) - time_s(alone)
    assert late > 2e-7
    assert time_s(even) - time_s(scenario(system, "hockney", ranks=power, mpi="")) < late / 2


def test_the_mean_of_osu_jumps_after_a_power_of_two_and_comes_back(system: System) -> None:
    """By more than the collective itself grows: 17 ranks take longer than 32, whose tree is as deep."""
    mean = {ranks: time_s(scenario(system, ranks=ranks)) for ranks in (16, 17, 32)}
    assert mean[17] > mean[16]
    assert mean[17] > mean[32]


def test_without_the_library_the_barrier_is_not_known(system: System) -> None:
    run = scenario(system, mpi="").run
    assert [phase[0] for phase in run.phases] == ["bcast"]
    assert run.start is None


def test_a_package_that_ranks_move_in_has_no_near_neighbours(system: System) -> None:
    bound, free = (place_of(placement(system, mapping, 16)) for mapping in ("core", "package"))
    cache, numa, package, node = (LOCALITIES.index(name) for name in ("cache", "numa", "package", "node"))
    assert len(set(bound.levels[cache])) == 4
    for level in (cache, numa):
        assert len(set(free.levels[level])) == 16
    for place in (bound, free):
        assert len(set(place.levels[package])) == 2
        assert len(set(place.levels[node])) == 1
        assert (place.ppn, place.is_spread) == (16, False)
    # Nobody's number is nobody else's either.
    assert not set(free.levels[cache]) & set(free.levels[package])


def test_ranks_use_the_memory_of_their_numa_domain_or_of_all_that_they_may_reach() -> None:
    """Two packages of four domains of 16 cores."""
    epyc = find_system("orfeo-epyc")
    packed = place_of(placement(epyc, "core", 32), epyc).memory
    assert packed == (0,) * 16 + (1,) * 16
    free = np.array(place_of(placement(epyc, "socket", 32), epyc).memory)
    # Bound to packages in turn: 16 on each, spread over its four domains.
    assert np.bincount(free).tolist() == [4] * 8
    assert not set(free[0::2]) & set(free[1::2])
    assert place_of(placement(epyc, "core", 32)).memory == ()


def test_nodes_and_ppn_of_the_table_go_first(system: System) -> None:
    assert scenario(system, ranks=8).place.is_spread is False
    assert scenario(system, ranks=8, nodes=4, ppn=2).place.ppn == 2
    assert len(set(scenario(system, ranks=8, nodes=4, ppn=2).place.node)) == 4


EXITS = np.array([[1.0, 2.0, 4.0], [6.0, 5.0, 9.0]])
RUN = ProcedureRun([], 0, 1)
"""Own times 5, 3 and 5 s; from the first start at 1 to the last end at 9."""


@pytest.mark.parametrize(
    ("statistic", "with_start", "without"),
    [
        ("mean_over_ranks", 13 / 3, 20 / 3),
        ("max_over_ranks", 5.0, 9.0),
        ("min_over_ranks", 3.0, 5.0),
        ("completion", 8.0, 9.0),
        ("one_way", 5.0, 9.0),
    ],
)
def test_statistics_of_exits_by_hand(statistic: str, with_start: float, without: float) -> None:
    for run, expected in ((RUN, with_start), (ProcedureRun([], None, 1), without)):
        weights = STATISTICS[statistic](EXITS, run)
        assert weights.shape == EXITS.shape
        assert float((weights * EXITS).sum()) == pytest.approx(expected)


def missing(system: System, procedure: str = "osu", **changes: Any) -> str:
    scenarios = Scenarios(system, procedure)
    assert scenarios.of_points(pd.DataFrame([POINT | changes]))[0] is None
    (reason,) = scenarios.missing.values()
    return reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"algorithm": "magic"}, "magic of Open MPI 4.1.5 has no schedule here"),
        ({"algorithm": "magic", "mpi": ""}, "does not say which MPI library"),
        ({"algorithm": "magic", "mpi": "Unheard MPI 1"}, "Unheard MPI 1"),
        ({"ranks": 1}, "a single rank sends no message"),
        ({"bytes": 0}, "0 B are sent in no message"),
        ({"mapping": "diagonal"}, "has no mapping 'diagonal'"),
        ({"root": 16}, "root"),
        ({"operation": "allgather", "algorithm": "recursive_doubling", "mpi": "", "ranks": 12}, "power of two"),
    ],
)
def test_what_cannot_be_simulated_has_a_reason(system: System, changes: dict[str, Any], reason: str) -> None:
    assert reason in missing(system, **changes)


def test_a_barrier_has_no_bytes_and_can_be_simulated(system: System) -> None:
    assert scenario(system, operation="barrier", algorithm="default", bytes=0).size_B == 0


def test_an_unknown_library_is_simulated_where_the_name_is_that_of_a_schedule(system: System) -> None:
    assert scenario(system, mpi="Unheard MPI 1").label == "bcast binomial"


def test_default_is_what_the_library_would_choose(system: System) -> None:
    decide = decisions_for(OPEN_MPI)
    assert decide.decisions is not None
    labels = set()
    for size_B in (8, 4 << 20):
        one = scenario(system, operation="allreduce", algorithm="default", bytes=size_B)
        choice = decide.decisions.default("allreduce", 16, size_B, decide.version, nodes=1, element_B=1)
        assert choice is not None
        assert one.run.phases[-1][1] == choice.algorithm
        labels.add(one.label)
    assert len(labels) == 2


def test_the_root_of_the_table_is_the_root_of_the_call(system: System) -> None:
    one = scenario(system, "hockney", mpi="", algorithm="linear", root=3)
    assert one.run.phases[0][2].root == 3
    # The root of a linear broadcast is done when it has sent to all others: last but for the last receiver.
    assert exits_s(one)[0].argmin() != 3


def test_elements_are_those_of_the_benchmark(system: System) -> None:
    reduce = {"operation": "reduce", "algorithm": "binomial", "mpi": ""}
    assert scenario(system, "osu", **reduce).run.phases[-1][2].element_B == 1
    assert scenario(system, "pico", **reduce).run.phases[-1][2].element_B == 4
    # A vector that is no whole number of elements is of bytes.
    assert scenario(system, "pico", bytes=10, **reduce).run.phases[-1][2].element_B == 1


def test_what_was_watched_goes_before_the_shipped_decision(system: System) -> None:
    def cell(size_B: int, *names: str) -> WatchedCell:
        seen = [Seen(algorithm=name) for name in names]
        place = {"operation": "bcast", "mpi": OPEN_MPI, "variant": "", "ranks": 16, "nodes": 1}
        return WatchedCell(**place, bytes=size_B, names=seen or None)  # type: ignore[arg-type]

    asked = POINT | {"algorithm": "default", "nodes": 1}
    shipped = decisions_for(OPEN_MPI).default("bcast", 16, 1024, nodes=1)
    assert shipped is not None
    assert shipped.algorithm != "linear"
    for names, expected in (
        (["linear"], "linear"),
        ([], shipped.algorithm),
        (["linear", shipped.algorithm], shipped.algorithm),
    ):
        scenarios = Scenarios(system, "osu", Defaults([cell(1024, *names)]))
        made = scenarios.of_points(pd.DataFrame([asked]))[0]
        assert made is not None
        assert made.run.phases[-1][1] == expected
    several = Scenarios(system, "osu", Defaults([cell(1024, "linear", "chain")]))
    assert several.of_points(pd.DataFrame([asked])) == [None]


def test_a_setting_goes_before_the_shipped_decision(system: System) -> None:
    settings = {"coll_tuned_use_dynamic_rules": "1", "coll_tuned_bcast_algorithm": "basic_linear"}
    scenarios = Scenarios(system, "osu", Defaults(settings={(OPEN_MPI, ""): settings}))
    made = scenarios.of_points(pd.DataFrame([POINT | {"algorithm": "default", "nodes": 1}]))[0]
    assert made is not None
    assert made.run.phases[-1][1] == "linear"
    assert (
        Scenarios(
            system,
            "osu",
            Defaults(
                settings={
                    (OPEN_MPI, ""): {
                        "coll_tuned_use_dynamic_rules": "1",
                        "coll_tuned_dynamic_rules_filename": "rules.conf",
                    }
                }
            ),
        ).of_points(pd.DataFrame([POINT | {"algorithm": "default", "nodes": 1}]))[0]
        is None
    )


def test_points_come_as_the_table_has_them(system: System, bcast: Callable[..., pd.DataFrame]) -> None:
    table = bcast(
        lambda *_: 1.0, algorithms=["binomial", "magic"], ranks=[1, 8], sizes=[8], mappings=["core"], mpi=""
    )
    table[["nodes", "ppn"]] = pd.NA
    frame = points(table, "bcast").frame
    made = Scenarios(system, "osu").of_points(frame)
    expected = (frame["algorithm"] == "binomial") & (frame["ranks"] == 8)
    assert [one is not None for one in made] == expected.tolist()


def test_longer_vectors_take_as_many_steps_where_nothing_is_cut_into_segments() -> None:
    """So that a schedule on so many ranks is counted once for all sizes of an element a rank at least."""
    for algorithm, ranks, element_B in product(_core.algorithms(), (2, 3, 8, 13, 32, 100), (1, 4)):
        called = algorithm.collective, algorithm.name
        least_B = ranks * element_B
        calls = [Problem(ranks=ranks, bytes=least_B + more, element_B=element_B) for more in (0, 4, 3 * least_B)]
        counts = {_core.count_steps(*called, call, 10**9) for call in calls if not _core.refusal(*called, call)}
        assert len(counts) <= 1, called


@pytest.mark.parametrize(
    ("operation", "algorithm"), [("alltoall", "pairwise"), ("alltoall", "bruck"), ("bcast", "binomial")]
)
def test_the_steps_expected_of_a_default_are_those_of_its_schedules(operation: str, algorithm: str) -> None:
    """Within a factor of two for an alltoall; a tree stands with its barrier for four passes, whoever sends."""
    ranks = [64, 256]
    expected = expected_steps(pd.DataFrame({"ranks": ranks}), operation)
    counted = [
        _core.count_steps(operation, algorithm, Problem(ranks=count, bytes=8), MOST_STEPS) for count in ranks
    ]
    passes = 1 if operation == "alltoall" else 4 * np.log2(ranks)
    assert np.abs(np.log2(expected / (counted * passes))).max() <= 1
