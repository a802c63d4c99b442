"""Plans on synthetic nodes: what must hold for any node and any wish."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest
from tests.factories import refusing

from hockney.apps.pinning.plan import SPREADS, PinningPlan, plan, wish
from hockney.apps.pinning.recipes import kmp_affinity, recipes
from hockney.apps.pinning.topology import parse, regular
from hockney.errors import RequestError
from hockney.machine.node_topology import NodeTopology

NODES = [
    regular(1, 1, 1, 2),
    regular(2, 1, 1, 14, 2),  # CoolMUC-2's
    regular(2, 2, 2, 3, 2),
    regular(1, 4, 2, 4),
    regular(2, 1, 1, 1, 4),
]
WISHES = list(product(SPREADS, (1, 2, 3, 4, 6, 8), (1, 2, 3, 4)))


def _made() -> list[tuple[NodeTopology, PinningPlan]]:
    found = []
    for node, (spread, ranks, threads) in product(NODES, WISHES):
        try:
            found.append((node, plan(node, wish(ranks, threads, spread))))
        except RequestError:
            continue
    return found


MADE = _made()


def test_no_cpu_twice() -> None:
    assert len(MADE) > 300
    for _, made in MADE:
        used = Counter(cpu for block in made.places for place in block for cpu in place)
        assert set(used.values()) == {1}, made.wish


def test_every_thread_has_a_core_or_hardware_thread_of_its_own() -> None:
    for node, made in MADE:
        assert len(made.places) == made.wish.ranks
        for block in made.places:
            assert len(block) == made.wish.threads
            for place in block:
                if made.wish.spread == "compact":
                    assert len(place) == 1
                else:
                    assert place in node.cores, "a whole core"


@pytest.mark.parametrize(("spread", "level"), [("socket", "package"), ("numa", "numa"), ("cache", "cache")])
def test_a_spread_is_even_and_a_rank_lies_in_one_unit(spread: str, level: str) -> None:
    seen = 0
    for node, made in MADE:
        if made.wish.spread != spread:
            continue
        seen += 1
        units = [{cpu.cpu for cpu in unit} for unit in node.units(level)]  # type: ignore[arg-type]
        of_rank = [
            [n for n, unit in enumerate(units) if set(made.cpus(r)) <= unit] for r in range(made.wish.ranks)
        ]
        assert all(len(one) == 1 for one in of_rank), made.wish
        counts = Counter(one[0] for one in of_rank)
        assert max(counts.values()) - min(counts.get(n, 0) for n in range(len(units))) <= 1, made.wish
    assert seen > 20


def test_where_there_are_enough_cores_consecutive_ones_are_found() -> None:
    for node, (spread, ranks, threads) in product(NODES, WISHES):
        slots = len(node.cpus) if spread == "compact" else len(node.cores)
        if spread in ("core", "node", "compact", "scatter") and ranks * threads <= slots:
            assert plan(node, wish(ranks, threads, spread)).wish.ranks == ranks
        if ranks * threads > slots:
            with pytest.raises(RequestError, match="and there are"):
                plan(node, wish(ranks, threads, spread))


def test_scatter_goes_to_the_outermost_unit_first() -> None:
    made = plan(parse("2 packages x 2 numa x 4 cores"), wish(4, 2, "scatter"))
    assert [made.cpus(rank) for rank in range(4)] == [(0, 1), (8, 9), (4, 5), (12, 13)]


def test_a_fat_tree_of_148_nodes_task_1() -> None:
    # Its node: 2 packages of 14 cores; 2 ranks of 4 threads ran on 0-3 and 14-17.
    made = plan(regular(2, 1, 1, 14), wish(2, 4, "socket"))
    assert [made.cpus(rank) for rank in range(2)] == [(0, 1, 2, 3), (14, 15, 16, 17)]


def test_numbers_of_the_operating_system_need_not_be_in_order() -> None:
    # Siblings n and n + 4, as Linux mostly numbers them.
    node = NodeTopology(tuple(sorted(regular(2, 1, 1, 2, 2).cpus, key=lambda cpu: cpu.cpu)))
    odd = NodeTopology(
        tuple(type(c)(c.cpu // 2 + 4 * (c.cpu % 2), c.core, c.cache, c.numa, c.package) for c in node.cpus)
    )
    made = plan(odd, wish(2, 1, "socket"))
    assert [made.cpus(rank) for rank in range(2)] == [(0, 4), (2, 6)]
    assert [made.slots(rank) for rank in range(2)] == [(0,), (2,)]


def test_cpus_that_are_listed() -> None:
    """A proclist: two threads of each rank in order; the operating system's numbers, whatever hwloc's are."""
    node = parse("2 packages x 14 cores")
    made = plan(node, wish(4, 2, "0,6,7,13,14,20,21,27"))
    assert [made.cpus(rank) for rank in range(4)] == [(0, 6), (7, 13), (14, 20), (21, 27)]
    assert kmp_affinity(made) == "granularity=fine,nowarnings,explicit,proclist=[0,6,7,13,14,20,21,27]"
    smt = plan(parse("2 cores x 2 threads"), wish(2, 1, "3,0"))
    assert [smt.cpus(rank) for rank in range(2)] == [(3,), (0,)]
    assert [smt.slots(rank) for rank in range(2)] == [(3,), (0,)]


def test_slurm_maps_single_cpus_as_its_users_write_it() -> None:
    by_target = {
        one.launcher: one for one in recipes(plan(parse("2 packages x 14 cores"), wish(4, 1, "0,7,14,21")))
    }
    assert "--cpu-bind=map_cpu:0,7,14,21" in by_target["srun"].line
    assert "--mpi=pmi2" in by_target["srun"].note
    assert "--hint=nomultithread" in by_target["srun"].note
    assert "-bind-to user:0,7,14,21" in by_target["mpich"].line


def test_nodes() -> None:
    node = regular(1, 1, 1, 4)
    assert plan(node, wish(5, 1, "core", 2)).nodes == (0, 0, 0, 1, 1)
    in_turn = plan(node, wish(4, 2, "node", 2))
    assert in_turn.nodes == (0, 1, 0, 1)
    assert [in_turn.cpus(rank) for rank in range(4)] == [(0, 1), (0, 1), (2, 3), (2, 3)]


@pytest.mark.parametrize(
    ("node", "numbers", "message", "hint"),
    [
        ("2 packages x 3 cores", (3, 2, "socket"), "leave room for 2 only", "--spread core"),
        ("4 cores", (5, 1, "core"), "1 threads need 5 cores of their own, and there are 4", "fewer ranks"),
        ("2 cores x 2 threads", (4, 1, "core"), "there are 2", "--spread compact"),
        ("4 cores", (1, 1, "moon"), "unknown spread 'moon'", "socket"),
        ("4 cores", (2, 1, "0,0"), "names a CPU twice", "its own"),
        ("4 cores", (2, 1, "0,1,2"), "3 CPUs for 2 ranks x 1 threads", "name 2"),
        ("4 cores", (2, 2, "0,1,3,2"), "out of order", "0,1,2,3"),
        ("4 cores", (2, 1, "0,9"), "CPU 9 is not one of the 4", "0-3"),
        ("4 cores", (2, 1, "0,x"), "is not understood", "8,16"),
        ("4 cores", (2, 1, "0,1", 2), "CPUs of one node", "one host"),
        ("4 cores", (1, 1, "core", 2), "cannot be on 2 nodes", "fewer hosts"),
    ],
)
def test_refusals(node: str, numbers: Any, message: str, hint: str) -> None:
    with refusing(message, hint):
        plan(parse(node), wish(*numbers))


def test_recipes_name_options_that_the_manuals_have() -> None:
    """mpirun(1) of Open MPI 4.1, prterun-map(1), Hydra's -bind-to -help, Intel's reference, srun(1)."""
    lines = {one.launcher: one.line for one in recipes(plan(regular(2, 1, 1, 4, 2), wish(4, 2, "socket")))}
    openmp = "OMP_NUM_THREADS=2 OMP_PLACES=cores OMP_PROC_BIND=close"
    exported = "-x OMP_NUM_THREADS -x OMP_PLACES -x OMP_PROC_BIND ./program"
    assert lines == {
        "openmpi4": f"{openmp} mpirun -n 4 --map-by socket:PE=2 --bind-to core {exported}",
        "openmpi5": f"{openmp} mpirun -n 4 --map-by package:PE=2 --bind-to core --rank-by slot {exported}",
        "mpich": f"{openmp} mpiexec -n 4 -bind-to core:2 -map-by socket ./program",
        # CPUs 0-3, 8-11, 4-7, 12-15 as hexadecimal masks.
        "intel": f"I_MPI_PIN=1 I_MPI_PIN_DOMAIN='[f,f00,f0,f000]' {openmp} mpirun -n 4 ./program",
        "srun": f"{openmp} srun --ntasks=4 --cpus-per-task=2 --threads-per-core=1 --distribution=block:cyclic "
        "--cpu-bind=cores ./program",
    }


def test_a_list_of_cpus_is_for_one_node() -> None:
    refused = {one.launcher: one.refused for one in recipes(plan(regular(2, 1, 1, 4), wish(4, 2, "scatter", 2)))}
    assert all("one node only" in text for text in refused.values())
