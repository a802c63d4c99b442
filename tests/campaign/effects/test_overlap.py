"""The questions of `overlap`: both sides, with and without MPI_Test, nothing planted, nothing guessed."""

from __future__ import annotations

from typing import Any

import pytest
from tests.campaign.effects.asking import Asked, ask, questions, whys

from hockney.campaign.effects.base import Here, NotMeasurable
from hockney.records.answers import ProcessorCache, RankPlace


def places(*affinities: list[int], cache: int = 8, threads: int = 1, switch: str = "") -> list[RankPlace]:
    """Ranks of one host bound to these processors, of `threads` to a core; the first `cache` share a cache.

    `switch` is on in each of them.
    """
    return [
        RankPlace(
            rank=rank,
            host="a",
            affinity=cpus,
            siblings=[cpus[0] // threads * threads + k for k in range(threads)],
            caches=[ProcessorCache(level=3, type="Unified", size_B=2**25, shared=list(range(cache)))],
            progress_threads=[switch] if switch else [],
        )
        for rank, cpus in enumerate(affinities)
    ]


def asked(**other: Any) -> Asked:
    pair = {"pairs": [("cache", 0, 1)], "localities": {(0, 1): "cache"}, "ranks": places([0], [1])}
    return ask("overlap", Here(**pair | other))


def ways(found: Asked) -> set[tuple[object, ...]]:
    return {tuple(one.parameters[name] for name in ("bytes", "side", "tests")) for one in questions(found)}


def test_each_size_is_asked_in_four_ways() -> None:
    found = asked(largest_B=1024)
    assert len(ways(found)) == len(questions(found)) == 3 * 4
    assert {size for size, _, _ in ways(found)} == {8, 256, 1024}
    for one in questions(found):
        assert all(value == 0 for key, value in one.parameters.items() if key.startswith("planted"))


def test_the_whole_effect_stays_within_its_time() -> None:
    # 20 s at the default of 1 s a point.
    times = [float(str(one.parameters["budget_s"])) for one in questions(asked())]
    assert sum(times) < 20


def test_a_simulation_is_not_asked_what_a_test_costs() -> None:
    found = asked(simulated=True)
    assert {tests for _, _, tests in ways(found)} == {0}
    # Beside what was measured there, not as another effect without a locality.
    assert [one.locality for one in found if isinstance(one, NotMeasurable)] == ["cache"]


def test_ranks_that_share_cores_cannot_compute_at_the_same_time() -> None:
    found = asked(oversubscribed="oversubscribed: 2 ranks on 1 core")
    assert len(found) == 1
    assert "2 ranks on 1 core" in whys(found)[0]


def cpus(found: Asked) -> set[object]:
    """None where the key is missing, as it was before there was such a thread."""
    return {one.parameters.get("thread_cpus") for one in questions(found)}


def test_no_thread_is_used_unless_a_launch_asks_for_it() -> None:
    found = asked(ranks=places([0], [1]))
    assert cpus(found) == {None}
    assert whys(found) == [
        "with a progress thread: ask for it in a launch of its own, --variant 'thread: HOCKNEY_PROGRESS_THREAD=1'"
    ]
    full = asked(ranks=places([0], [1], cache=2))
    assert whys(full) == [
        "with a progress thread: no core that shares a cache with rank 0 is free for a progress thread; measure "
        "fewer ranks"
    ]
    assert ways(full)


@pytest.mark.parametrize("name", ["MPIR_CVAR_ASYNC_PROGRESS", "MPICH_ASYNC_PROGRESS", "I_MPI_ASYNC_PROGRESS"])
def test_a_library_thread_needs_a_core_beside_that_of_its_rank(name: str) -> None:
    bound = asked(ranks=places([0], [1], switch=name))
    assert whys(bound) == [
        "rank 0 is bound to one core, which its progress thread would share; measure with --bind-to none"
    ]
    assert not ways(bound)
    three = asked(ranks=places([0, 1, 2], [0, 1, 2], switch=name))
    assert whys(three) == [
        "no core is left for progress threads: 2 ranks and 2 threads on the 3 cores that they may use of a; "
        "measure fewer ranks"
    ]
    assert not ways(three)
    loose = asked(ranks=places([0, 1, 2, 3], [0, 1, 2, 3], switch=name))
    assert ways(loose)
    assert not whys(loose)
    assert cpus(loose) == {None}
    # Three are enough where one rank has none.
    some = [places([0, 1, 2], [0, 1, 2], switch=name)[0], places([0, 1, 2], [0, 1, 2])[1]]
    assert ways(asked(ranks=some))
    # Four hardware threads are two cores.
    assert not ways(asked(ranks=places([0, 1, 2, 3], [0, 1, 2, 3], threads=2, switch=name)))


OWN = "HOCKNEY_PROGRESS_THREAD"


def test_the_runner_s_own_thread_gets_a_free_core_that_shares_a_cache() -> None:
    assert cpus(asked(ranks=places([0], [1], cache=4, switch=OWN))) == {"2,3"}
    # The second hardware thread of a rank's core is not free.
    assert cpus(asked(ranks=places([0, 1], [2, 3], cache=6, threads=2, switch=OWN))) == {"4,5"}
    full = asked(ranks=places([0], [1], cache=2, switch=OWN))
    assert not ways(full)
    assert len(whys(full)) == 1
    assert "no core that shares a cache with rank 0 is free" in whys(full)[0]
    # Nor is it where the rank is bound to the first of them only.
    half = [
        place.model_copy(update={"affinity": [2 * place.rank]})
        for place in places([0, 1], [2, 3], cache=6, threads=2, switch=OWN)
    ]
    assert cpus(asked(ranks=half)) == {"4,5"}
    # Ranks of another host take nothing from this one.
    other = places([0], [1], cache=2)[1].model_copy(update={"host": "b"})
    elsewhere = [places([0], [1], cache=2, switch=OWN)[0], other]
    assert cpus(asked(ranks=elsewhere)) == {"1"}


def test_the_runner_s_own_thread_stays_off_processors_that_are_kept_from_us() -> None:
    # A process may leave the processors that Hockney was started on (taskset); of host b nothing is known.
    ranks = places([0], [1], cache=4, switch=OWN)
    assert cpus(asked(ranks=ranks, usable_cpus={"a": frozenset({0, 1, 3})})) == {"3"}
    assert cpus(asked(ranks=ranks, usable_cpus={"b": frozenset({0, 1})})) == {"2,3"}
    confined = asked(ranks=ranks, usable_cpus={"a": frozenset({0, 1})})
    assert not ways(confined)
    assert whys(confined) == [
        "processors for a progress thread beside rank 0 are not Hockney's to use (taskset, a batch system)"
    ]


def test_the_switch_is_that_of_the_rank_that_computes() -> None:
    # A launcher that forwards the switch to some hosts only: rank 0 has no thread.
    ranks = [places([0], [1], cache=4)[0], places([0], [1], cache=4, switch=OWN)[1]]
    found = asked(ranks=ranks)
    assert cpus(found) == {None}
    assert "ask for it in a launch of its own" in whys(found)[0]


def test_a_system_that_tells_no_caches_has_no_core_for_a_thread() -> None:
    bare = [RankPlace(rank=rank, host="a", affinity=[rank], progress_threads=[OWN]) for rank in (0, 1)]
    assert whys(asked(ranks=bare)) == [
        "no core that shares a cache with rank 0 is free for a progress thread; measure fewer ranks"
    ]


def test_the_runner_s_own_thread_stays_where_its_rank_may_run_if_that_is_enough() -> None:
    assert cpus(asked(ranks=places([0, 1, 2], [0, 1, 2], switch=OWN))) == {"0,1,2"}
    two = asked(ranks=places([0, 1], [0, 1], switch=OWN))
    assert not ways(two)
    assert whys(two) == ["no core is left for a progress thread beside the 2 ranks of a"]


def test_a_simulation_has_no_thread() -> None:
    assert whys(asked(ranks=places([0], [1], switch=OWN), simulated=True)) == [
        "a simulated process has no second thread"
    ]
