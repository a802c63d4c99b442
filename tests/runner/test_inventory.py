"""Reading a machine from files laid out as the kernel documents them, and from files that are not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.records.nodes import parse_cpu_list
from hockney.runner.inventory import inventory, placements


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two packages, each with two cores of two threads: CPUs n and n + 4 are siblings, L3 per package."""
    system = tmp_path / "sys/devices/system"
    for cpu in range(8):
        core = cpu % 4
        package = core // 2
        folder = system / f"cpu/cpu{cpu}"
        _write(folder / "topology/physical_package_id", str(package))
        _write(folder / "topology/core_id", str(core % 2))
        _write(folder / "topology/thread_siblings_list", f"{core},{core + 4}")
        _write(folder / "cpufreq/scaling_governor", "powersave")
        for index, (level, kind, size, shared) in enumerate(
            [
                ("1", "Data", "32K", f"{core},{core + 4}"),
                ("1", "Instruction", "32K", f"{core},{core + 4}"),
                ("3", "Unified", "16M", f"{2 * package}-{2 * package + 1},{2 * package + 4}-{2 * package + 5}"),
            ]
        ):
            cache = folder / f"cache/index{index}"
            for name, text in (("level", level), ("type", kind), ("size", size), ("shared_cpu_list", shared)):
                _write(cache / name, text)
    _write(system / "node/node0/cpulist", "0-1,4-5")
    _write(system / "node/node1/cpulist", "2-3,6-7")
    _write(tmp_path / "proc/meminfo", "MemTotal:       1048576 kB\nMemFree: 1 kB")
    _write(tmp_path / "proc/cpuinfo", "processor\t: 0\nmodel name\t: Test CPU @ 2 GHz")
    return tmp_path


def test_a_machine_with_smt(root: Path) -> None:
    machine = inventory(root, frozenset(range(8)))
    assert (machine.cpus, machine.cores, machine.packages, machine.numa_domains) == (8, 4, 2, 2)
    assert machine.threads_per_core == 2
    assert machine.localities == ("core", "cache", "node")
    assert machine.memory_B == 1 << 30
    assert machine.cpu_model == "Test CPU @ 2 GHz"
    assert machine.governor == "powersave"
    assert machine.cpu_quota is None


def test_only_what_this_process_may_use_counts(root: Path) -> None:
    machine = inventory(root, frozenset({0, 1}))
    assert (machine.cpus, machine.cores, machine.packages, machine.numa_domains) == (2, 2, 1, 1)
    assert machine.localities == ("cache",)


def test_container_quota(root: Path) -> None:
    _write(root / "sys/fs/cgroup/cpu.max", "150000 100000")
    assert inventory(root, frozenset({0})).cpu_quota == 1.5
    _write(root / "sys/fs/cgroup/cpu.max", "max 100000")
    assert inventory(root, frozenset({0})).cpu_quota is None


def test_a_system_that_tells_nothing(tmp_path: Path) -> None:
    machine = inventory(tmp_path, frozenset({0, 1, 2}))
    assert (machine.cpus, machine.cores, machine.packages, machine.numa_domains) == (3, 3, 1, 1)
    assert machine.memory_B is None
    assert machine.governor == ""
    assert placements(tmp_path, frozenset({2}))[0].siblings == [2]


def test_this_machine() -> None:
    machine = inventory()
    assert machine.cpus == len(os.sched_getaffinity(0))
    assert 1 <= machine.cores <= machine.cpus
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert machine.memory_B == pytest.approx(pages, rel=0.01)


@given(st.sets(st.integers(0, 300), max_size=40))
def test_cpu_lists(cpus: set[int]) -> None:
    assert parse_cpu_list(",".join(map(str, sorted(cpus)))) == cpus
    if cpus:
        assert parse_cpu_list(f"{min(cpus)}-{max(cpus)}") == set(range(min(cpus), max(cpus) + 1))
