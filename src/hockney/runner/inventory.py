"""What this machine is made of, read from /proc and /sys: cores, packages, NUMA domains, caches, memory, governor."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")


@dataclass(frozen=True)
class Cache:
    """`count` caches of this level and type, each shared by `cpus_per_cache` CPUs."""

    level: int
    type: str
    size_B: int
    count: int
    cpus_per_cache: int


@dataclass(frozen=True)
class Inventory:
    """Counts are of what this process may use (its affinity); None or empty where the system does not tell."""

    host: str
    kernel: str
    cpu_model: str
    cpus: int
    cores: int
    packages: int
    numa_domains: int
    threads_per_core: int
    caches: tuple[Cache, ...]
    memory_B: int | None
    governor: str
    cpu_quota: float | None
    """CPUs that a container may use in the long run; None: no limit."""


def parse_cpu_list(text: str) -> frozenset[int]:
    """`0-3,8` → {0, 1, 2, 3, 8}, as the files of /sys write it."""
    found: set[int] = set()
    for part in text.strip().split(","):
        low, _, high = part.partition("-")
        if low.strip():
            found.update(range(int(low), int(high or low) + 1))
    return frozenset(found)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _size_B(text: str) -> int:
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
    digits = text.rstrip("KMG")
    return int(digits) * unit if digits.isdigit() else 0


def _caches(cpus: frozenset[int], system: Path) -> tuple[Cache, ...]:
    found: dict[tuple[int, str, int], set[frozenset[int]]] = {}
    for cpu in cpus:
        for index in (system / f"cpu{cpu}" / "cache").glob("index*"):
            shared = parse_cpu_list(_text(index / "shared_cpu_list")) & cpus
            level, kind = _text(index / "level"), _text(index / "type")
            if level.isdigit() and kind != "Instruction":
                found.setdefault((int(level), kind, _size_B(_text(index / "size"))), set()).add(shared)
    return tuple(
        Cache(level, kind, size_B, len(groups), max(map(len, groups)))
        for (level, kind, size_B), groups in sorted(found.items())
    )


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
    cpus = frozenset(os.sched_getaffinity(0)) if cpus is None else cpus
    system = root / "sys/devices/system/cpu"
    cores: set[frozenset[int]] = set()
    packages: set[str] = set()
    width = 1
    for cpu in cpus:
        topology = system / f"cpu{cpu}" / "topology"
        siblings = parse_cpu_list(_text(topology / "thread_siblings_list")) or frozenset({cpu})
        cores.add(siblings)
        width = max(width, len(siblings))
        packages.add(_text(topology / "physical_package_id"))
    nodes = [parse_cpu_list(_text(p)) for p in root.glob("sys/devices/system/node/node*/cpulist")]
    cpuinfo, meminfo = _text(root / "proc/cpuinfo"), _text(root / "proc/meminfo")
    memory = _field(meminfo, "MemTotal").removesuffix("kB").strip()
    return Inventory(
        host=platform.node(),
        kernel=platform.release(),
        cpu_model=_field(cpuinfo, "model name") or _field(cpuinfo, "CPU part") or platform.machine(),
        cpus=len(cpus),
        cores=len(cores),
        packages=max(1, len(packages)),
        numa_domains=max(1, sum(1 for node in nodes if node & cpus)),
        threads_per_core=width,
        caches=_caches(cpus, system),
        memory_B=int(memory) * 1024 if memory.isdigit() else None,
        governor=_text(system / f"cpu{min(cpus)}" / "cpufreq/scaling_governor") if cpus else "",
        cpu_quota=_quota(root),
    )
