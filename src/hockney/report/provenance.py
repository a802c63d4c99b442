"""Provenance of a report: first lines, launches, placement of ranks, hosts, libraries, settings, imports."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Collection, Iterator, Sequence

from hockney.machine.file import Host, Machine
from hockney.records.answers import RankPlace
from hockney.records.journal import LaunchLine
from hockney.records.nodes import node_facts
from hockney.report.tables import NONE, Table
from hockney.runner.transports import OFFERED
from hockney.units import counted, format_bytes, format_time, grouped, in_ranges

_KINDS = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI", "unknown": ""}
MOST_HOSTS = 4
"""Hosts that the page begins with."""


def tables(launches: Sequence[LaunchLine]) -> list[Table]:
    """All tables of the section, empty ones left out."""
    measured = [launch for launch in launches if not launch.imported]
    imported = [launch for launch in launches if launch.imported]
    result = [
        _libraries(measured),
        _transports(measured),
        _hosts(measured),
        *_nodes(measured),
        _launches(measured),
        *_placements(measured),
        *_settings(measured),
        _imports(imported),
    ]
    return [table for table in result if table.rows]


def lead(libraries: Collection[str], hosts: Sequence[Host], launches: Sequence[LaunchLine]) -> list[str]:
    """MPI libraries, hosts and times of measurement, as lines."""
    lines = [", ".join(dict.fromkeys(filter(None, libraries)))]
    for host in hosts[:MOST_HOSTS]:
        parts = [host.host, host.cpu_model, f"{host.cpus} CPUs" if host.cpus else "", host.kernel]
        lines.append(" · ".join(filter(None, parts)))
    if len(hosts) > MOST_HOSTS:
        lines.append(f"and {len(hosts) - MOST_HOSTS} more hosts")
    if imported := [launch for launch in launches if launch.imported]:
        tools = dict.fromkeys(launch.tool or "unknown program" for launch in imported)
        lines.append(f"imported from {counted(len(imported), 'file')} ({', '.join(tools)})")
    lines.append(_span([launch.time for launch in launches if launch.time and not launch.imported]))
    return [line for line in lines if line]


def libraries_of(machine: Machine) -> list[str]:
    """The names of its libraries, as their makers write them."""
    return [f"{_KINDS.get(mpi.kind, mpi.kind)} {mpi.version}".strip() or mpi.name for mpi in machine.mpi]


def command_line(launch: LaunchLine) -> str:
    """The command that measured, as a shell would read it; for an import the command that its file names."""
    if launch.argv:
        return shlex.join(launch.argv)
    return str(launch.metadata.get("command_line") or launch.metadata.get("command") or "")


def hosts(launches: Sequence[LaunchLine]) -> list[str]:
    """The nodes whose ranks took part, in order of rank."""
    return list(dict.fromkeys(rank.host for launch in launches for rank in launch.ranks if rank.host))


def _text(value: object) -> str:
    return NONE if value is None or value == "" else str(value)


def _libraries(launches: Sequence[LaunchLine]) -> Table:
    names = ("kind", "version", "standard", "library", "wrapper", "launcher", "compiler")
    rows = dict.fromkeys(tuple(_text(launch.mpi.get(name)) for name in names) for launch in launches)
    headings = ["MPI", "version", "standard", "library", "wrapper", "launcher", "compiler"]
    known = [row for row in rows if any(cell != NONE for cell in row)]
    return Table("MPI library", headings, known, frozenset(range(7)))


def _transports(launches: Sequence[LaunchLine]) -> Table:
    """What the library's tools list, as `hockney doctor` prints it; each library once."""
    rows: dict[tuple[str, str], None] = {}
    for launch in (launch for launch in launches if launch.transports):
        try:
            said = OFFERED.validate_python(launch.transports)
        except ValueError:
            continue
        library = " ".join(_text(launch.mpi.get(name)) for name in ("kind", "version"))
        rows |= dict.fromkeys((library, line) for line in said.lines)
    return Table("Transports that the library's tools list", ["MPI", "transports"], list(rows), frozenset({0, 1}))


def _hosts(launches: Sequence[LaunchLine]) -> Table:
    rows: dict[tuple[str, ...], None] = {}
    for launch in launches:
        for host in launch.hosts:
            memory = NONE if host.memory_B is None else f"{host.memory_B / 2**30:.3g} GiB"
            cells = (host.host, host.cpu_model, host.cpus, memory, host.kernel, host.governor)
            rows[*map(_text, cells), _caches(launch, host.host)] = None
    columns = ["host", "CPU", "CPUs", "memory", "kernel", "governor", "caches"]
    return Table("Hosts", columns, list(rows), frozenset({0, 1, 4, 5, 6}))


def _nodes(launches: Sequence[LaunchLine]) -> list[Table]:
    """Each description once, with all hosts that it is of."""
    nodes = [node for launch in launches for node in launch.nodes]
    return [
        Table(
            f"Node {', '.join(dict.fromkeys(host for node in alike for host in node.hosts))}",
            ["part", "as the kernel's files say"],
            facts,
            frozenset({0, 1}),
        )
        for facts, alike in grouped(nodes, lambda node: tuple(node_facts(node))).items()
    ]


def _caches(launch: LaunchLine, host: object) -> str:
    sizes: dict[str, None] = {}
    for cache in (cache for rank in launch.ranks if rank.host == host for cache in rank.caches):
        if not cache.type.lower().startswith("instr"):
            among = f" shared by {len(cache.shared)}" if len(cache.shared) > 1 else ""
            letter = "d" if cache.type == "Data" else ""
            sizes[f"L{cache.level}{letter} {format_bytes(cache.size_B)}{among}"] = None
    return ", ".join(sizes) or NONE


def _launches(launches: Sequence[LaunchLine]) -> Table:
    """One row for each kind of launch: those that differ in their time and clock alone share one."""
    rows = []
    for (index, variant, hockney, mapping, line), starts in grouped(launches, _kind).items():
        steps_s = [step_s for launch in starts if (step_s := launch.clock_granularity_s) is not None]
        step = format_time(statistics.median(steps_s)) if steps_s else NONE
        time = _span([launch.time for launch in starts if launch.time]) or NONE
        rows.append([index, variant, str(len(starts)), time, hockney, mapping, step, line])
    columns = ["launch", "variant", "starts", "time (UTC)", "hockney", "map / bind", "clock step", "command line"]
    return Table("Launches", columns, rows, frozenset({1, 3, 4, 5, 7}))


def _kind(launch: LaunchLine) -> tuple[str, ...]:
    environment = [f"{name}={value}" for name, value in launch.environment.items()]
    return (
        _text(launch.index),
        _text(launch.variant),
        _text(launch.hockney),
        f"{_text(launch.mapping)} / {_text(launch.bind_to)}",
        " ".join(filter(None, [*environment, command_line(launch)])) or NONE,
    )


def _span(times: Sequence[str]) -> str:
    """The first and the last of some times; empty where there are none."""
    return " to ".join(dict.fromkeys((min(times), max(times)))) if times else ""


def _placements(launches: Sequence[LaunchLine]) -> Iterator[Table]:
    """Placement of every rank; launches with the same placement share a table."""
    columns = ["rank", "host", "CPU", "may run on", "core", "SMT siblings", "NUMA domain", "package"]
    groups = grouped(launches, lambda launch: tuple(map(_rank, launch.ranks)))
    for rows, alike in groups.items():
        yield Table(f"Placement of the ranks{_where(alike, groups.values())}", columns, rows, frozenset({1}))


def _where(alike: Sequence[LaunchLine], groups: Collection[Sequence[LaunchLine]]) -> str:
    """The launches of one of several groups."""
    has_several = len({launch.mapping for group in groups for launch in group}) > 1
    names = []
    for launch in alike:
        index = "" if launch.index is None else str(launch.index)
        by = f"by {launch.mapping}" if has_several and launch.mapping else ""
        names.append(" ".join(filter(None, (index, launch.variant, by))) or launch.id)
    return f" in launch {', '.join(dict.fromkeys(names))}" if len(groups) > 1 else ""


def _rank(rank: RankPlace) -> tuple[str, ...]:
    affinity, siblings = in_ranges(rank.affinity), in_ranges(rank.siblings)
    cells = (rank.rank, rank.host, rank.cpu, affinity, rank.core, siblings, rank.numa, rank.package)
    return tuple(NONE if cell == -1 else _text(cell) for cell in cells)


def _settings(launches: Sequence[LaunchLine]) -> Iterator[Table]:
    """Settings as the library reports them; launches with the same settings share a table."""
    groups = grouped(launches, _setting_rows)
    for rows, alike in groups.items():
        caption = f"Settings of the library{_where(alike, groups.values())}"
        yield Table(caption, ["setting", "value"], rows, frozenset({0, 1}))


def _setting_rows(launch: LaunchLine) -> tuple[tuple[str, str], ...]:
    values = {name: _text(value) for name, value in launch.settings.items()}
    values |= {
        f"eager limit, {channel.replace('_', ' ')}": format_bytes(limit_B)
        for channel, limit_B in launch.eager_limit_B.items()
        if limit_B is not None
    }
    return tuple(sorted(values.items()))


def _imports(launches: Sequence[LaunchLine]) -> Table:
    rows = [
        [
            launch.imported,
            _text(launch.tool),
            _text(launch.records),
            "; ".join(f"{k}: {_text(v)}" for k, v in launch.metadata.items()) or NONE,
        ]
        for launch in launches
    ]
    columns = ["file", "program", "values", "what its header says"]
    return Table("Imported files", columns, rows, frozenset({0, 1, 3}))
