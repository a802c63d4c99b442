"""What the launches of a campaign say about the system, its MPI and themselves, in the machine file's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import BaseModel

from hockney.machine.file import Host, HostCache, HostCpu, LaunchProvenance, MeasuredSystem, MpiLibrary
from hockney.records.answers import RankPlace
from hockney.records.effect_record import EffectRecord
from hockney.records.journal import HostLine, LaunchLine
from hockney.records.record import Record
from hockney.words import grouped


def system_of(launches: Iterable[LaunchLine], names: Sequence[str]) -> MeasuredSystem:
    """Hosts with the caches and CPUs that their ranks reported; `names` are the systems the records name."""
    hosts: dict[str, Host] = {}
    for launch in launches:
        for line in launch.hosts:
            hosts.setdefault(line.host, Host.model_validate(_said(line, Host)))
        for rank in launch.ranks:
            _add_rank(hosts.setdefault(rank.host, Host(host=rank.host)), rank)
    for host in hosts.values():
        host.topology.sort(key=lambda cpu: cpu.cpu)
        host.caches.sort(key=lambda cache: (cache.level, cache.type, cache.shared))
    return MeasuredSystem(name=", ".join(names), hosts=[hosts[name] for name in sorted(hosts)])


def _said(line: HostLine | RankPlace, kind: type[BaseModel]) -> dict[str, object]:
    """What a line says of the fields of a model."""
    return {
        name: value for name, value in line.as_said().items() if name in kind.model_fields and value is not None
    }


def _add_rank(host: Host, rank: RankPlace) -> None:
    for line in rank.caches:
        cache = HostCache.model_validate(line, from_attributes=True)
        if cache not in host.caches:
            host.caches.append(cache)
    if rank.cpu is not None and all(cpu.cpu != rank.cpu for cpu in host.topology):
        host.topology.append(HostCpu.model_validate(_said(rank, HostCpu)))


def libraries_of(
    launches: Sequence[LaunchLine], records: Iterable[Record | EffectRecord], names: Sequence[str]
) -> list[MpiLibrary]:
    """Every MPI, `name` being the word of the records; of those in `names` without a launch, the name only."""
    words = {record.launch: record.mpi for record in records}
    groups = grouped(
        [launch for launch in launches if launch.mpi],
        lambda launch: tuple(str(launch.mpi.get(name, "")) for name in _MPI_FIELDS),
    )
    libraries = [
        MpiLibrary(
            # A launch that failed has no record to name its MPI.
            name=next(filter(None, (words.get(launch.id) for launch in group)), ""),
            **dict(zip(_MPI_FIELDS, fields, strict=True)),
            settings=_common([launch.settings for launch in group]),
        )
        for fields, group in groups.items()
    ]
    named = {library.name for library in libraries}
    return libraries + [MpiLibrary(name=name) for name in names if name not in named]


_MPI_FIELDS = ("kind", "version", "standard", "library", "wrapper", "launcher", "compiler")


def launches_of(launches: Sequence[LaunchLine], used: set[str]) -> list[LaunchProvenance]:
    """Provenance of the launches in `used`; settings that all of them share stand with the library instead."""
    shared: dict[str, dict[str, str]] = {}
    for launch in launches:
        kind = str(launch.mpi)
        shared[kind] = _common([shared.get(kind, launch.settings), launch.settings])
    own = []
    for launch in launches:
        settings = {name: word for name, word in launch.settings.items() if name not in shared[str(launch.mpi)]}
        own.append(launch.model_copy(update={"settings": settings}))
    return [LaunchProvenance.model_validate(each, from_attributes=True) for each in own if each.id in used]


def _common(settings: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What all have with the same value."""
    return {
        name: value
        for name, value in settings[0].items()
        if all(other.get(name) == value for other in settings[1:])
    }
