"""System, MPI and launches from the lines of launches.jsonl, whatever fields those have."""

from __future__ import annotations

from typing import Any

from tests import factories

from hockney.machine.provenance import launches_of, libraries_of, system_of
from hockney.records.journal import LaunchLine
from hockney.records.record import Record

L1 = {"level": 1, "type": "Data", "size_B": 32768, "shared": [0]}
L3 = {"level": 3, "type": "Unified", "size_B": 33554432, "shared": [0, 1]}


def rank(number: int, host: str = "n1") -> dict[str, Any]:
    return {
        "rank": number, "host": host, "machine": "boot", "cpu": number, "affinity": [number], "package": 0,
        "numa": 0, "core": number, "siblings": [number], "caches": [L3, L1],
    }  # fmt: skip


def launch(id_: str, **more: Any) -> LaunchLine:
    line = {
        "id": id_,
        "time": "2026-11-20T22:30:00Z",
        "argv": ["mpirun", "-n", "2"],
        "environment": {"OMPI_MCA_btl": "self"},
        "variant": "default",
        "mpi": {"kind": "openmpi", "version": "5.0.11", "standard": "3.1", "library": "Open MPI v5.0.11"},
        "settings": {"eager": "4096", "btl": "sm"},
        "ranks": [rank(0), rank(1)],
        "hosts": [
            {"host": "n1", "kernel": "6.1", "cpu_model": "EPYC", "governor": "", "cpus": 2, "memory_B": 2**34}
        ],
        "warnings": ["2 ranks on 1 core"],
        **more,
    }
    return LaunchLine.model_validate(line)


IMPORTED = LaunchLine(id="imb", time="2026", imported="a.txt", tool="IMB 2019", records=24, metadata={"Date": 1})


def record(launch_id: str, mpi: str) -> Record:
    return factories.record(mpi=mpi, launch=launch_id)


def test_hosts_collect_what_all_their_ranks_saw() -> None:
    system = system_of([launch("a"), launch("b", ranks=[rank(3), rank(0, "n2")], hosts=[]), IMPORTED], ["twin"])
    assert system.name == "twin"
    assert [host.host for host in system.hosts] == ["n1", "n2"]
    first = system.hosts[0]
    assert (first.cpu_model, first.memory_B) == ("EPYC", 2**34)
    assert [cpu.cpu for cpu in first.topology] == [0, 1, 3]
    assert [cache.level for cache in first.caches] == [1, 3], "each cache once, nearest first"
    assert system.hosts[1].cpu_model == "", "a host without a description is still listed"


def test_a_campaign_without_launches_has_no_hosts() -> None:
    assert system_of([IMPORTED], []).hosts == []


def test_settings_that_hold_in_all_launches_stand_with_the_library() -> None:
    lines = [launch("a"), launch("b", settings={"eager": "4096", "btl": "tcp"})]
    (library,) = libraries_of(lines, [record("a", "Open MPI 5")], ["Open MPI 5"])
    assert library.settings == {"eager": "4096"}
    assert [one.settings for one in launches_of(lines, {"a", "b"})] == [{"btl": "sm"}, {"btl": "tcp"}]


def test_every_mpi_of_a_merged_campaign_is_listed_by_its_word() -> None:
    other = {"kind": "mpich", "version": "4.0.2"}
    lines = [launch("a"), launch("b", mpi=other, settings={})]
    found = libraries_of(lines, [record("a", "Open MPI 5"), record("b", "MPICH 4")], ["MPICH 4", "Open MPI 5"])
    assert [(library.name, library.kind) for library in found] == [
        ("Open MPI 5", "openmpi"),
        ("MPICH 4", "mpich"),
    ]


def test_an_mpi_that_only_the_records_name_is_listed() -> None:
    (library,) = libraries_of([IMPORTED], [record("imb", "Intel MPI 2019")], ["Intel MPI 2019"])
    assert (library.name, library.kind, library.settings) == ("Intel MPI 2019", "", {})


def test_only_launches_that_were_used_are_listed() -> None:
    (one,) = launches_of([launch("a"), IMPORTED], {"imb"})
    assert (one.id, one.imported, one.tool, one.argv) == ("imb", "a.txt", "IMB 2019", [])
    (one,) = launches_of([launch("a"), IMPORTED], {"a"})
    assert (one.argv, one.warnings) == (["mpirun", "-n", "2"], ["2 ranks on 1 core"])
