"""The topology of a node from this machine, a text, or a file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from hockney import reading
from hockney.errors import RequestError
from hockney.machine.node_topology import LEVELS, Level, NodeCpu, NodeTopology
from hockney.machine.system import load_system
from hockney.runner.inventory import last_cache, placements

MOST_CPUS = 1 << 16

_LEVEL_OF_WORD: dict[str, Level | Literal["thread"]] = {
    "package": "package",
    "socket": "package",
    "numa": "numa",
    "cache": "cache",
    "l3": "cache",
    "core": "core",
    "thread": "thread",
}
_PART = re.compile(r"(\d{1,6})\s*([a-z]+\d?)\s*(?:[x×]\s*)?")
_HWLOC = re.compile(r"\[(numa)(?:node)?\b[^]]*\]|([a-z]+?\d?)[di]?(?:node|cache)?:(\d{1,6})(?:\(([^)]*)\))?")
_HWLOC_WORDS = {"pack": "package", "pu": "thread"}
_HINT = "write for example '2 packages x 2 numa x 4 cores x 2 threads', or give a file of `lscpu -p`"


def here() -> NodeTopology:
    """The CPUs of this machine that this process may use."""
    return NodeTopology(
        tuple(
            NodeCpu(place.cpu, min(place.siblings), last_cache(place), place.numa, place.package)
            for place in placements()
            if place.cpu is not None
        )
    )


def parse(text: str) -> NodeTopology:
    """`2 packages x 2 numa x 4 cores x 2 threads`, or hwloc's `lstopo --of synthetic`; RequestError else.

    CPUs of a core have successive numbers, unless hwloc's `indexes` number them.
    """
    counts: dict[str, int] = {}
    rest, indexes = _of_hwloc(text.lower().strip())
    order = [*LEVELS, "thread"]
    while rest:
        match = _PART.match(rest)
        if not match:
            raise RequestError(f"topology {text!r} is not understood at {rest!r}", _HINT)
        rest = rest[match.end() :]
        level = _LEVEL_OF_WORD.get(match[2].removesuffix("s"))
        if level is None or int(match[1]) < 1:
            raise RequestError(f"topology {text!r}: '{match[1]} {match[2]}' is no number of known parts", _HINT)
        if any(order.index(other) >= order.index(level) for other in counts):
            raise RequestError(f"topology {text!r}: {match[2]} stands inside of what it holds", _HINT)
        counts[level] = int(match[1])
    if "core" not in counts:
        raise RequestError(f"topology {text!r} has no cores", _HINT)
    node = regular(*(counts.get(level, 1) for level in order))
    return _numbered(node, indexes, text) if indexes else node


def _of_hwloc(text: str) -> tuple[str, str]:
    """A synthetic topology of hwloc (its manual, "Synthetic topologies") in our words, and the CPUs' `indexes`.

    Levels that are none of ours (groups, L2) multiply the next; memory at each of them, or at caches, is a
    domain.
    """
    if not _HWLOC.match(text) or _HWLOC.sub("", text).strip():
        return text, ""
    parts: list[str] = []
    between, indexes = 1, ""
    for attached, name, count, attributes in _HWLOC.findall(text):
        word = _HWLOC_WORDS.get(name, name)
        if attached and between == 1:
            parts[-1:] = [part.replace("l3", "numa") for part in parts[-1:]]
        elif attached:
            parts.append(f"{between} numa")
            between = 1
        elif word in _LEVEL_OF_WORD:
            parts.append(f"{between * int(count)} {word}")
            between = 1
            indexes = attributes.partition("indexes=")[2].split(" ")[0]
        else:
            between *= int(count)
    return " ".join(parts), indexes


def _numbered(node: NodeTopology, indexes: str, text: str) -> NodeTopology:
    """The CPUs with the operating system's numbers: a list in hwloc's order, or loops `step*count:…`."""
    total, positions = len(node.cpus), [0]
    if re.fullmatch(r"\d+(,\d+)*", indexes):
        numbers = [int(number) for number in indexes.split(",")]
    else:
        for step, count in re.findall(r"(\d{1,6})\*(\d{1,6})", indexes):
            positions = [p + i * int(step) for i in range(min(int(count), total)) for p in positions][:total]
        places = {position: number for number, position in reversed([*enumerate(positions)])}
        numbers = [places.get(position, -1) for position in range(total)]
    if len(numbers) != total or len({*numbers} - {-1}) != total:
        raise RequestError(f"topology {text!r}: indexes={indexes} do not number its {total} CPUs", _HINT)
    return NodeTopology(tuple(replace(cpu, cpu=n) for cpu, n in zip(node.cpus, numbers, strict=True)))


def regular(packages: int, numa: int, caches: int, cores: int, threads: int = 1) -> NodeTopology:
    """Each count is inside of one unit of the level before; RequestError where there are too many."""
    total = packages * numa * caches * cores * threads
    if not 0 < total <= MOST_CPUS:
        raise RequestError(f"a node of {total} CPUs is none that is known", f"at most {MOST_CPUS}")
    cpus = []
    for cpu in range(total):
        core = cpu // threads
        cache = core // cores
        domain = cache // caches
        cpus.append(NodeCpu(cpu, core, cache, domain, domain // numa))
    return NodeTopology(tuple(cpus))


def read(given: str) -> NodeTopology:
    """From a file (`lscpu -p`, or a system file of this project) or the text itself; RequestError else."""
    path = Path(given)
    if not reading.is_file(path):
        if "/" in given or given.endswith((".json", ".txt", ".csv")):
            raise RequestError(f"{given} is no file", _HINT)
        return parse(given)
    text = reading.text(path, _HINT)
    if text.lstrip().startswith("{"):
        node = load_system(path).node
        return regular(node.packages, node.numa_per_package, node.caches_per_numa, node.cores_per_cache)
    return _lscpu(text, given) if "," in text else parse(text)


def _lscpu(text: str, name: str) -> NodeTopology:
    """`lscpu -p`: CPU, core, socket, node, then caches (lscpu(1)); the header says which columns there are."""
    columns = ["cpu", "core", "socket", "node"]
    rows: list[NodeCpu] = []
    for line in text.splitlines():
        if line.lower().startswith("# cpu,"):
            columns = re.split("[,:]", line.removeprefix("# ").lower())
        if line.startswith("#") or not line.strip():
            continue
        values = dict(zip(columns, re.split("[,:]", line.strip()), strict=False))
        numbers = {key: int(value) for key, value in values.items() if value.isdecimal()}
        if not {"cpu", "core"} <= set(numbers):
            raise RequestError(f"{name}: {line!r} is no line of `lscpu -p`", "make it with `lscpu -p`")
        numa = numbers.get("node", 0)
        cache = numbers.get("l3", numbers.get("l2", numa))
        rows.append(NodeCpu(numbers["cpu"], numbers["core"], cache, numa, numbers.get("socket", 0)))
    if not rows or len({row.cpu for row in rows}) < len(rows):
        raise RequestError(f"{name} has no CPUs, or one of them twice", "make it with `lscpu -p`")
    return NodeTopology(tuple(rows))
