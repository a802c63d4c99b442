"""Provenance of a report: first lines, launches, placement of ranks, hosts, libraries, settings, imports."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Collection, Sequence

from hockney.machine.file import Machine
from hockney.records.answers import RankPlace
from hockney.records.journal import LaunchLine
from hockney.records.nodes import cpu_ranges, node_facts
from hockney.report.tables import NONE, Table
from hockney.runner.transports import OFFERED
from hockney.units import counted, format_bytes, format_time

_KINDS = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI", "unknown": ""}


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


def lead(machine: Machine, launches: Sequence[LaunchLine]) -> list[str]:
    """MPI libraries, hosts and times of measurement, as lines."""
    lines = []
    names = [f"{_KINDS.get(mpi.kind, mpi.kind)} {mpi.version}".strip() or mpi.name for mpi in machine.mpi]
    known = list(dict.fromkeys(name for name in names if name))
    if known:
        lines.append(", ".join(known))
    for host in machine.system.hosts[:4]:
        parts = [host.host, host.cpu_model, f"{host.cpus} CPUs" if host.cpus else "", host.kernel]
        lines.append(" · ".join(part for part in parts if part))
    if len(machine.system.hosts) > 4:
        lines.append(f"and {len(machine.system.hosts) - 4} more hosts")
    if imported := [launch for launch in launches if launch.imported]:
        tools = dict.fromkeys(launch.tool or "unknown program" for launch in imported)
        lines.append(f"imported from {counted(len(imported), 'file')} ({', '.join(tools)})")
    if times := [launch.time for launch in launches if launch.time and not launch.imported]:
        lines.append(_span(times))
    return lines


def plain_lead(libraries: Collection[str], launches: Sequence[LaunchLine]) -> list[str]:
    """MPI libraries, hosts and time, of a campaign without any fit."""
    lines = [", ".join(sorted({str(name) for name in libraries if name}))]
    for launch in launches[:1]:
        lines += [*(f"{host.host} · {host.cpu_model or ''}" for host in launch.hosts[:4]), launch.time]
    return [line for line in lines if line]


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
    for launch in launches:
        try:
            said = OFFERED.validate_python(launch.transports or {})
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
    hosts: dict[tuple[tuple[str, str], ...], dict[str, None]] = {}
    for launch in launches:
        for node in launch.nodes:
            hosts.setdefault(tuple(node_facts(node)), {}).update(dict.fromkeys(node.hosts))
    columns = ["part", "as the kernel's files say"]
    return [Table(f"Node {', '.join(of)}", columns, rows, frozenset({0, 1})) for rows, of in hosts.items()]


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
    alike: dict[tuple[str, ...], list[LaunchLine]] = {}
    for launch in launches:
        environment = " ".join(f"{k}={v}" for k, v in launch.environment.items())
        kind = (
            _text(launch.index),
            _text(launch.variant),
            _text(launch.hockney),
            f"{_text(launch.mapping)} / {_text(launch.bind_to)}",
            f"{environment} {command_line(launch)}".strip() or NONE,
        )
        alike.setdefault(kind, []).append(launch)
    rows = []
    for (index, variant, hockney, mapping, line), starts in alike.items():
        steps_s = [step_s for launch in starts if (step_s := launch.clock_granularity_s) is not None]
        step = format_time(statistics.median(steps_s)) if steps_s else NONE
        time = _span([launch.time for launch in starts if launch.time])
        rows.append([index, variant, str(len(starts)), time, hockney, mapping, step, line])
    columns = ["launch", "variant", "starts", "time (UTC)", "hockney", "map / bind", "clock step", "command line"]
    return Table("Launches", columns, rows, frozenset({1, 3, 4, 5, 7}))


def _span(times: Sequence[str]) -> str:
    """The first and the last of some times; `NONE` where there are none."""
    if not times:
        return NONE
    first, last = min(times), max(times)
    return first if first == last else f"{first} to {last}"


def _placements(launches: Sequence[LaunchLine]) -> list[Table]:
    """Placement of every rank; launches with the same placement share a table."""
    same: dict[tuple[tuple[str, ...], ...], list[LaunchLine]] = {}
    for launch in launches:
        rows = tuple(map(_rank, launch.ranks))
        same.setdefault(rows, []).append(launch)
    columns = ["rank", "host", "CPU", "may run on", "core", "SMT siblings", "NUMA domain", "package"]
    result = []
    for rows, group in same.items():
        where = "" if len(same) == 1 else f" in launch {', '.join(dict.fromkeys(map(_name, group)))}"
        result.append(Table(f"Placement of the ranks{where}", columns, rows, frozenset({1})))
    return result


def _name(launch: LaunchLine) -> str:
    return f"{'' if launch.index is None else launch.index} {launch.variant}".strip() or launch.id


def _rank(rank: RankPlace) -> tuple[str, ...]:
    affinity, siblings = cpu_ranges(rank.affinity), cpu_ranges(rank.siblings)
    cells = (rank.rank, rank.host, rank.cpu, affinity, rank.core, siblings, rank.numa, rank.package)
    return tuple(NONE if cell == -1 else _text(cell) for cell in cells)


def _settings(launches: Sequence[LaunchLine]) -> list[Table]:
    """Settings as the library reports them; launches with the same settings share a table."""
    same: dict[tuple[tuple[str, str], ...], list[LaunchLine]] = {}
    for launch in launches:
        values = {name: _text(value) for name, value in launch.settings.items()}
        values |= {
            f"eager limit, {channel.replace('_', ' ')}": format_bytes(limit_B)
            for channel, limit_B in launch.eager_limit_B.items()
            if limit_B is not None
        }
        same.setdefault(tuple(sorted(values.items())), []).append(launch)
    result = []
    for rows, group in same.items():
        variants = dict.fromkeys(launch.variant for launch in group)
        where = "" if len(same) == 1 else f", variant {', '.join(variants)}"
        result.append(Table(f"Settings of the library{where}", ["setting", "value"], rows, frozenset({0, 1})))
    return result


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
