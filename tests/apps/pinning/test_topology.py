"""Topologies from texts and files: the same node in several words, and clear refusals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.factories import written

from hockney.apps.pinning.topology import here, parse, read, regular
from hockney.errors import RequestError


@pytest.mark.parametrize(
    "text",
    [
        "2 packages x 2 numa x 4 cores x 2 threads",
        "pack:2 numa:2 core:4 pu:2",
        "2 sockets 2 NUMA 4 core 2 thread",
        "2packages x2numa x 1 cache × 4 cores x 2 threads",
    ],
)
def test_one_node_in_several_words(text: str) -> None:
    assert parse(text) == regular(2, 2, 1, 4, 2)


@pytest.mark.parametrize(
    ("text", "shape", "numbers"),
    [
        # `lstopo --of synthetic`; the numbers as `lstopo -i "…" -p` of hwloc 2.9 shows them.
        ("Package:2 [NUMANode(memory=9)] L3Cache:1 L2Cache:2 Core:1 PU:2", (2, 1, 1, 2, 2), range(8)),
        ("pack:2 [numa] l2:2(size=9) core:1 pu:2(indexes=2*4:1*2)", (2, 1, 1, 2, 2), (0, 4, 1, 5, 2, 6, 3, 7)),
        ("Package:2 [NUMANode] Core:2 PU:2(indexes=0,4,2,6,1,5,3,7)", (2, 1, 1, 2, 2), (0, 4, 2, 6, 1, 5, 3, 7)),
        ("pack:2 L3:2 [NUMANode] Core:1 PU:2(indexes=4*2:2*2:1*2)", (2, 2, 1, 1, 2), (0, 4, 2, 6, 1, 5, 3, 7)),
        ("Package:1 Group:4 [NUMANode] L3Cache:2 L1dCache:2 Core:1 PU:1", (1, 4, 2, 2, 1), range(16)),
        ("[NUMANode(memory=9)] Package:2 L3Cache:1 Core:4 PU:1", (2, 1, 1, 4, 1), range(8)),
    ],
)  # fmt: skip
def test_what_lstopo_prints(text: str, shape: tuple[int, ...], numbers: Iterable[int]) -> None:
    node = parse(text)
    assert [replace(cpu, cpu=position) for position, cpu in enumerate(node.cpus)] == [*regular(*shape).cpus]
    assert [cpu.cpu for cpu in node.cpus] == [*numbers]


def test_what_is_shared() -> None:
    node = parse("2 packages x 4 cores x 2 threads")
    assert node.cores == [(2 * core, 2 * core + 1) for core in range(8)]
    assert [sorted(c.cpu for c in unit) for unit in node.units("package")] == [[*range(8)], [*range(8, 16)]]
    assert node.describe() == "2 packages x 1 numa x 1 caches x 4 cores x 2 threads"


LSCPU = "# comment\n# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n0,0,0,0,,0,0,0,0\n1,1,0,0,,1,1,1,1\n2,0,0,0,,0,0,0,0\n"


def test_lscpu(tmp_path: Path) -> None:
    file = written(tmp_path / "cpus.txt", LSCPU)
    assert read(str(file)).cores == [(0, 2), (1,)]
    assert len(read(str(file)).units("cache")) == 2
    file.write_text(
        LSCPU.replace(",L1d,L1i,L2,L3", ",L1d:L1i:L2:L3").replace("0,0,0,0\n", "0:0:0:0\n"), encoding="utf-8"
    )
    assert read(str(file)).cores == [(0, 2), (1,)]


def test_a_system_file() -> None:
    folder = Path(__file__).parents[3] / "src/hockney/machine/systems"
    node = read(str(folder / "marenostrum5.json"))
    # The accelerated partition: two Xeon 8460Y+ of 40 cores (BSC's user guide).
    assert (len(node.units("package")), len(node.cores)) == (2, 80)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no cores"),
        ("2 packages", "no cores"),
        ("Core:4 PU:2(indexes=9*99999999)", "do not number its 8 CPUs"),
        ("Core:4 PU:2(indexes=0,1)", "do not number its 8 CPUs"),
        ("4 cores x 2 packages", "inside of what it holds"),
        ("2 moons x 4 cores", "no number of known parts"),
        ("0 cores", "no number of known parts"),
        ("4 cores and more", "not understood"),
        ("999999 packages x 999999 cores", "none that is known"),
        ("no/such/file", "is no file"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        read(text)


@pytest.mark.parametrize("text", ["a,b,c\n", "0,0,0,0\n0,0,0,0\n", "0,,0,0\n"])
def test_files_that_are_none(tmp_path: Path, text: str) -> None:
    file = written(tmp_path / "cpus.txt", text)
    with pytest.raises(RequestError, match=r"lscpu|twice"):
        read(str(file))


def test_this_machine() -> None:
    import os

    assert set(here().by_number) == os.sched_getaffinity(0)
