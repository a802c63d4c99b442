"""What the launches of a campaign say about the system, its MPI and themselves, in the machine file's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hockney.machine.file import Host, HostCache, HostCpu, LaunchProvenance, MeasuredSystem, MpiLibrary
from hockney.records.effect_record import EffectRecord
from hockney.records.record import Record

LaunchLine = Mapping[str, Any]
"""One line of launches.jsonl; every field may be absent."""


def system_of(launches: Iterable[LaunchLine], names: Sequence[str]) -> MeasuredSystem:
    """Hosts with the caches and CPUs that their ranks reported; `names` are the systems the records name."""
    hosts: dict[str, Host] = {}
    for launch in launches:
        for line in launch.get("hosts") or []:
            known = {name: line[name] for name in Host.model_fields if line.get(name) is not None}
            hosts.setdefault(str(line["host"]), Host.model_validate(known))
        for rank in launch.get("ranks") or []:
            name = str(rank["host"])
            _add_rank(hosts.setdefault(name, Host(host=name)), rank)
    for host in hosts.values():
        host.topology.sort(key=lambda cpu: cpu.cpu)
        host.caches.sort(key=lambda cache: (cache.level, cache.type, cache.shared))
    return MeasuredSystem(name=", ".join(names), hosts=[hosts[name] for name in sorted(hosts)])


def _add_rank(host: Host, rank: LaunchLine) -> None:
    for line in rank.get("caches") or []:
        cache = HostCache.model_validate({name: line[name] for name in HostCache.model_fields if name in line})
        if cache not in host.caches:
            host.caches.append(cache)
    if rank.get("cpu") is None or any(cpu.cpu == rank["cpu"] for cpu in host.topology):
        return
    known = {name: rank[name] for name in HostCpu.model_fields if rank.get(name) is not None}
    host.topology.append(HostCpu.model_validate(known))


def libraries_of(
    launches: Sequence[LaunchLine], records: Iterable[Record | EffectRecord], names: Sequence[str]
) -> list[MpiLibrary]:
    """Every MPI, `name` being the word of the records; of those in `names` without a launch, the name only."""
    words = {record.launch: record.mpi for record in records}
    groups: dict[tuple[str, ...], list[LaunchLine]] = {}
    for launch in launches:
        mpi = launch.get("mpi")
        if mpi:
            groups.setdefault(tuple(str(mpi.get(name, "")) for name in _MPI_FIELDS), []).append(launch)
    libraries = [
        MpiLibrary(
            # A launch that failed has no record to name its MPI.
            name=next(filter(None, (words.get(str(launch.get("id"))) for launch in group)), ""),
            **dict(zip(_MPI_FIELDS, fields, strict=True)),
            settings=_common([_settings(launch) for launch in group]),
        )
        for fields, group in groups.items()
    ]
    named = {library.name for library in libraries}
    return libraries + [MpiLibrary(name=name) for name in names if name not in named]


_MPI_FIELDS = ("kind", "version", "standard", "library", "wrapper", "launcher", "compiler")


def launches_of(launches: Sequence[LaunchLine], used: set[str]) -> list[LaunchProvenance]:
    """Provenance of the launches in `used`; settings that all of them share stand with the library instead."""
    selected = [launch for launch in launches if str(launch.get("id", "")) in used]
    shared: dict[str, dict[str, str]] = {}
    for launch in launches:
        kind = str(launch.get("mpi"))
        shared[kind] = _common([shared[kind], _settings(launch)]) if kind in shared else _settings(launch)
    return [
        LaunchProvenance(
            id=str(launch["id"]),
            time=str(launch.get("time", "")),
            argv=[str(word) for word in launch.get("argv") or []],
            environment={str(k): str(v) for k, v in (launch.get("environment") or {}).items()},
            variant=str(launch.get("variant", "")),
            settings={
                name: value
                for name, value in _settings(launch).items()
                if name not in shared[str(launch.get("mpi"))]
            },
            imported=str(launch.get("imported", "")),
            tool=str(launch.get("tool", "")),
            warnings=[str(text) for text in launch.get("warnings") or []],
        )
        for launch in selected
    ]


def _settings(launch: LaunchLine) -> dict[str, str]:
    return {str(name): str(value) for name, value in (launch.get("settings") or {}).items()}


def _common(settings: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What all have with the same value."""
    return {
        name: value
        for name, value in settings[0].items()
        if all(other.get(name) == value for other in settings[1:])
    }
