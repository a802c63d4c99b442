"""Provenance of a report: first lines, launches, placement of ranks, hosts, libraries, settings, imports."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hockney.machine.file import Machine
from hockney.records.nodes import cpu_ranges, described, node_facts
from hockney.report.tables import NONE, Table
from hockney.runner.transports import OFFERED
from hockney.units import counted, format_bytes, format_time

Launch = Mapping[str, Any]
_KINDS = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI", "unknown": ""}


def tables(launches: Sequence[Launch]) -> list[Table]:
    """All tables of the section, empty ones left out."""
    measured = [launch for launch in launches if not launch.get("imported")]
    imported = [launch for launch in launches if launch.get("imported")]
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


def lead(machine: Machine, launches: Sequence[Launch]) -> list[str]:
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
    imported = [launch for launch in launches if launch.get("imported")]
    if imported:
        tools = dict.fromkeys(str(launch.get("tool") or "unknown program") for launch in imported)
        lines.append(f"imported from {counted(len(imported), 'file')} ({', '.join(tools)})")
    if times := [str(launch["time"]) for launch in launches if launch.get("time") and launch not in imported]:
        lines.append(_span(times))
    return lines


def plain_lead(libraries: Collection[str], launches: Sequence[Launch]) -> list[str]:
    """MPI libraries, hosts and time, of a campaign without any fit."""
    lines = [", ".join(sorted({str(name) for name in libraries if name}))]
    for launch in launches[:1]:
        hosts = [
            " · ".join(str(host.get(k, "")) for k in ("host", "cpu_model")) for host in launch.get("hosts", ())
        ]
        lines += [*hosts[:4], str(launch.get("time", ""))]
    return [line for line in lines if line]


def command_line(launch: Launch) -> str:
    """The command that measured, as a shell would read it; for an import the command that its file names."""
    argv = launch.get("argv") or []
    if argv:
        return shlex.join(str(word) for word in argv)
    metadata = launch.get("metadata") or {}
    return str(metadata.get("command_line") or metadata.get("command") or "")


def hosts(launches: Sequence[Launch]) -> list[str]:
    """The nodes whose ranks took part, in order of rank."""
    names = [str(rank.get("host", "")) for launch in launches for rank in launch.get("ranks") or ()]
    return list(dict.fromkeys(name for name in names if name))


def _text(value: object) -> str:
    return NONE if value is None or value == "" else str(value)


def _libraries(launches: Sequence[Launch]) -> Table:
    names = ("kind", "version", "standard", "library", "wrapper", "launcher", "compiler")
    rows = dict.fromkeys(
        tuple(_text((launch.get("mpi") or {}).get(name)) for name in names) for launch in launches
    )
    headings = ["MPI", "version", "standard", "library", "wrapper", "launcher", "compiler"]
    known = [row for row in rows if any(cell != NONE for cell in row)]
    return Table("MPI library", headings, known, frozenset(range(7)))


def _transports(launches: Sequence[Launch]) -> Table:
    """What the library's tools list, as `hockney doctor` prints it; each library once."""
    rows: dict[tuple[str, str], None] = {}
    for launch in launches:
        try:
            said = OFFERED.validate_python(launch.get("transports") or {})
        except ValueError:
            continue
        library = " ".join(_text((launch.get("mpi") or {}).get(name)) for name in ("kind", "version"))
        rows |= dict.fromkeys((library, line) for line in said.lines)
    return Table("Transports that the library's tools list", ["MPI", "transports"], list(rows), frozenset({0, 1}))


def _hosts(launches: Sequence[Launch]) -> Table:
    rows: dict[tuple[str, ...], None] = {}
    for launch in launches:
        for host in launch.get("hosts") or ():
            memory = host.get("memory_B")
            row = [
                *(_text(host.get(name)) for name in ("host", "cpu_model", "cpus")),
                NONE if memory is None else f"{memory / 2**30:.3g} GiB",
                *(_text(host.get(name)) for name in ("kernel", "governor")),
                _caches(launch, host.get("host")),
            ]
            rows[tuple(row)] = None
    columns = ["host", "CPU", "CPUs", "memory", "kernel", "governor", "caches"]
    return Table("Hosts", columns, list(rows), frozenset({0, 1, 4, 5, 6}))


def _nodes(launches: Sequence[Launch]) -> list[Table]:
    """Each description once, with all hosts that it is of."""
    hosts: dict[tuple[tuple[str, str], ...], dict[str, None]] = {}
    for launch in launches:
        for node in described(launch):
            hosts.setdefault(tuple(node_facts(node)), {}).update(dict.fromkeys(node.hosts))
    columns = ["part", "as the kernel's files say"]
    return [Table(f"Node {', '.join(of)}", columns, rows, frozenset({0, 1})) for rows, of in hosts.items()]


def _caches(launch: Launch, host: object) -> str:
    sizes: dict[str, None] = {}
    for rank in launch.get("ranks") or ():
        for cache in rank.get("caches") or () if rank.get("host") == host else ():
            if str(cache.get("type", "")).lower().startswith("instr"):
                continue
            shared = cache.get("shared") or ()
            among = f" shared by {len(shared)}" if len(shared) > 1 else ""
            letter = "d" if cache.get("type") == "Data" else ""
            sizes[f"L{cache.get('level')}{letter} {format_bytes(cache.get('size_B', 0))}{among}"] = None
    return ", ".join(sizes) or NONE


def _launches(launches: Sequence[Launch]) -> Table:
    """One row for each kind of launch: those that differ in their time and clock alone share one."""
    alike: dict[tuple[str, ...], list[Launch]] = {}
    for launch in launches:
        environment = " ".join(f"{k}={v}" for k, v in (launch.get("environment") or {}).items())
        kind = (
            _text(launch.get("index")),
            _text(launch.get("variant")),
            _text(launch.get("hockney")),
            f"{_text(launch.get('mapping'))} / {_text(launch.get('bind_to'))}",
            f"{environment} {command_line(launch)}".strip() or NONE,
        )
        alike.setdefault(kind, []).append(launch)
    rows = []
    for (index, variant, hockney, mapping, line), starts in alike.items():
        steps_s = [step_s for launch in starts if (step_s := launch.get("clock_granularity_s")) is not None]
        step = format_time(statistics.median(steps_s)) if steps_s else NONE
        time = _span([str(launch["time"]) for launch in starts if launch.get("time")])
        rows.append([index, variant, str(len(starts)), time, hockney, mapping, step, line])
    columns = ["launch", "variant", "starts", "time (UTC)", "hockney", "map / bind", "clock step", "command line"]
    return Table("Launches", columns, rows, frozenset({1, 3, 4, 5, 7}))


def _span(times: Sequence[str]) -> str:
    """The first and the last of some times; `NONE` where there are none."""
    if not times:
        return NONE
    first, last = min(times), max(times)
    return first if first == last else f"{first} to {last}"


def _placements(launches: Sequence[Launch]) -> list[Table]:
    """Placement of every rank; launches with the same placement share a table."""
    same: dict[tuple[tuple[str, ...], ...], list[Launch]] = {}
    for launch in launches:
        rows = tuple(_rank(rank) for rank in launch.get("ranks") or ())
        same.setdefault(rows, []).append(launch)
    columns = ["rank", "host", "CPU", "may run on", "core", "SMT siblings", "NUMA domain", "package"]
    result = []
    for rows, group in same.items():
        where = "" if len(same) == 1 else f" in launch {', '.join(dict.fromkeys(map(_name, group)))}"
        result.append(Table(f"Placement of the ranks{where}", columns, rows, frozenset({1})))
    return result


def _name(launch: Launch) -> str:
    return f"{launch.get('index', '')} {launch.get('variant', '')}".strip() or str(launch.get("id", ""))


def _rank(rank: Mapping[str, Any]) -> tuple[str, ...]:
    cells = {name: _text(rank.get(name)) for name in ("rank", "host", "cpu", "core", "numa", "package")}
    cells |= {name: cpu_ranges(rank.get(name) or ()) or NONE for name in ("affinity", "siblings")}
    return tuple(cells[n] for n in ("rank", "host", "cpu", "affinity", "core", "siblings", "numa", "package"))


def _settings(launches: Sequence[Launch]) -> list[Table]:
    """Settings as the library reports them; launches with the same settings share a table."""
    same: dict[tuple[tuple[str, str], ...], list[Launch]] = {}
    for launch in launches:
        values = {str(k): _text(v) for k, v in (launch.get("settings") or {}).items()}
        limits = launch.get("eager_limit_B") or {}
        values |= {
            f"eager limit, {k.replace('_', ' ')}": format_bytes(v) for k, v in limits.items() if v is not None
        }
        same.setdefault(tuple(sorted(values.items())), []).append(launch)
    result = []
    for rows, group in same.items():
        variants = dict.fromkeys(str(launch.get("variant", "")) for launch in group)
        where = "" if len(same) == 1 else f", variant {', '.join(variants)}"
        result.append(Table(f"Settings of the library{where}", ["setting", "value"], rows, frozenset({0, 1})))
    return result


def _imports(launches: Sequence[Launch]) -> Table:
    rows = [
        [
            _text(launch.get("imported")),
            _text(launch.get("tool")),
            _text(launch.get("records")),
            "; ".join(f"{k}: {_text(v)}" for k, v in (launch.get("metadata") or {}).items()) or NONE,
        ]
        for launch in launches
    ]
    columns = ["file", "program", "values", "what its header says"]
    return Table("Imported files", columns, rows, frozenset({0, 1, 3}))
