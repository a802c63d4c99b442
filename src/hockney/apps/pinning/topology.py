"""The topology of a node from this machine, a text, or a file."""

from __future__ import annotations

import re
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
    """`2 packages x 2 numa x 4 cores x 2 threads`; RequestError else. CPUs of a core have successive numbers."""
    counts: dict[str, int] = {}
    rest = text.lower().strip()
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
    return regular(*(counts.get(level, 1) for level in order))


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
