"""The parts of this machine, read from /proc and /sys: cores, caches, NUMA domains, memory, governor."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from hockney import reading
from hockney.errors import RequestError
from hockney.records import answers
from hockney.records.answers import NodeProcessor, RankPlace, ReportedNode
from hockney.records.nodes import NodeDescription, describe, parse_cpu_list
from hockney.records.record import LOCALITIES, Locality
from hockney.runner.topology import localities

ROOT = Path("/")


@dataclass(frozen=True)
class Inventory:
    """Counts of what this process may use (its affinity); None or empty where the system does not report it."""

    host: str
    kernel: str
    cpu_model: str
    cpus: int
    cores: int
    packages: int
    numa_domains: int
    threads_per_core: int
    localities: tuple[Locality, ...]
    """Those that pairs of CPUs of this machine have, nearest first."""
    memory_B: int | None
    governor: str
    cpu_quota: float | None
    """CPUs that a container may use in the long run; None: no limit."""


def _text(path: Path) -> str:
    try:
        return reading.content(path).decode("utf-8", errors="replace").strip()
    except RequestError:
        return ""


def _size_B(text: str) -> int:
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
    digits = text.rstrip("KMG")
    return int(digits) * unit if digits.isdigit() else 0


def _number(text: str) -> int:
    return int(text) if text.lstrip("-").isdigit() else -1


def placements(root: Path = ROOT, cpus: frozenset[int] | None = None) -> list[RankPlace]:
    """One placement per CPU (default: those this process may use), as a rank pinned to it would report it."""
    cpus = frozenset(os.sched_getaffinity(0)) if cpus is None else cpus
    system = root / "sys/devices/system"
    numa = {
        cpu: _number(path.parent.name.removeprefix("node"))
        for path in system.glob("node/node*/cpulist")
        for cpu in parse_cpu_list(_text(path))
    }
    places: list[RankPlace] = []
    for rank, cpu in enumerate(sorted(cpus)):
        folder = system / "cpu" / f"cpu{cpu}"
        topology = folder / "topology"
        caches = [
            answers.ProcessorCache(
                level=_number(_text(index / "level")),
                type=_text(index / "type"),
                size_B=_size_B(_text(index / "size")),
                shared=sorted(parse_cpu_list(_text(index / "shared_cpu_list"))),
            )
            for index in sorted(folder.glob("cache/index*"))
        ]
        places.append(
            RankPlace(
                rank=rank,
                cpu=cpu,
                affinity=[cpu],
                package=_number(_text(topology / "physical_package_id")),
                numa=numa.get(cpu, -1),
                core=_number(_text(topology / "core_id")),
                siblings=sorted(parse_cpu_list(_text(topology / "thread_siblings_list")) or {cpu}),
                caches=caches,
            )
        )
    return places


def node(root: Path = ROOT) -> NodeDescription:
    """The whole machine with its network devices, whatever this process may use of it."""
    cpus = parse_cpu_list(_text(root / "sys/devices/system/cpu/online")) or frozenset(os.sched_getaffinity(0))
    places = placements(root, cpus)
    caches = {(cache.level, cache.type, *cache.shared): cache for place in places for cache in place.caches}
    processors = [
        NodeProcessor(
            cpu=place.cpu, package=place.package, numa=place.numa, cache=last_cache(place), core=place.siblings[0]
        )
        for place in places
        if place.cpu is not None
    ]
    reported = ReportedNode(processors=processors, caches=list(caches.values()), files=device_files(root))
    return describe([platform.node()], reported)


def last_cache(place: RankPlace) -> int:
    """The lowest CPU that shares the last-level cache; the NUMA domain where no cache is known."""
    data = [cache for cache in place.caches if cache.type != "Instruction" and cache.shared]
    return min(max(data, key=lambda cache: cache.level).shared) if data else place.numa


def device_files(root: Path = ROOT) -> dict[str, str]:
    """Files of network devices and frequencies by their path below /sys, as cpp/runner/devices.cpp reads them."""
    top = root / "sys"
    files: dict[str, str] = {}
    for pattern, names in _FILES.items():
        folders = sorted(top.glob(pattern))
        for name in names:
            frequencies: set[str] = set()
            for path in (folder / name for folder in folders):
                text = path.readlink().name if path.is_symlink() else _text(path).partition("\n")[0]
                # Hundreds of processors have one or two frequencies.
                if (text or path.is_dir()) and text not in frequencies:
                    files[path.relative_to(top).as_posix()] = text
                if name.startswith("cpuinfo"):
                    frequencies.add(text)
    return files


_NETWORK = "type speed mtu operstate device/numa_node device device/driver master bridge bonding wireless"
_FILES = {
    "class/net/*": _NETWORK.split(),
    "class/infiniband/*": ["hca_type", "device/numa_node", "device", "device/driver"],
    "class/infiniband/*/ports/*": ["rate", "link_layer", "state"],
    "devices/system/cpu/cpufreq/*": ["cpuinfo_min_freq", "cpuinfo_max_freq"],
}


def _field(text: str, name: str) -> str:
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def _quota(root: Path) -> float | None:
    """CPU limit of the control group (cgroup v2, then v1)."""
    words = _text(root / "sys/fs/cgroup/cpu.max").split()
    if not words:
        v1 = root / "sys/fs/cgroup/cpu"
        words = [_text(v1 / "cpu.cfs_quota_us"), _text(v1 / "cpu.cfs_period_us")]
    if len(words) == 2 and all(w.isdigit() for w in words) and int(words[1]) > 0:
        return int(words[0]) / int(words[1])
    return None


def inventory(root: Path = ROOT, cpus: frozenset[int] | None = None) -> Inventory:
    """Read the machine; `root` and `cpus` (default: the affinity of this process) can be set for tests."""
    ranks = placements(root, cpus)
    cpuinfo, meminfo = _text(root / "proc/cpuinfo"), _text(root / "proc/meminfo")
    memory = _field(meminfo, "MemTotal").removesuffix("kB").strip()
    cores = {tuple(rank.siblings) for rank in ranks}
    governors = {_text(root / f"sys/devices/system/cpu/cpu{r.cpu}/cpufreq/scaling_governor") for r in ranks}
    return Inventory(
        host=platform.node(),
        kernel=platform.release(),
        cpu_model=_field(cpuinfo, "model name") or platform.machine(),
        cpus=len(ranks),
        cores=len(cores),
        packages=len({rank.package for rank in ranks}),
        numa_domains=len({rank.numa for rank in ranks}),
        threads_per_core=max(map(len, cores), default=1),
        localities=tuple(level for level in LOCALITIES if level in set(localities(ranks).values())),
        memory_B=int(memory) * 1024 if memory.isdigit() else None,
        governor=", ".join(sorted(governors - {""})),
        cpu_quota=_quota(root),
    )
