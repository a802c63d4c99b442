"""Lines to compare the curves with: cache sizes, the library's eager limit, and the given peak rates."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.machine.file import Machine
from hockney.machine.provenance import system_of
from hockney.machine.system import System
from hockney.records.journal import LaunchLine
from hockney.records.nodes import links
from hockney.records.record import LOCALITIES
from hockney.units import format_bytes, format_rate, listed, parse_bytes, parse_rate
from hockney.units import percent as percent

_SIZE = r"(\d[\d.]*\s*\w*)"
_SIZES = re.compile(rf"(?:\s+above\s+{_SIZE})?(?:\s+up to\s+{_SIZE})?\s*$")


@dataclass(frozen=True)
class Peak:
    """The nominal rate of the hardware in one direction, and the localities that it limits (none named: all).

    `is_found`: nobody said that messages go this way, the nodes only have such a link. `above_B`, `up_to_B`: the
    sizes of the messages that go this way, where others go another (the processor may send short ones).
    """

    name: str
    rate_B_per_s: float
    localities: tuple[str, ...] = ()
    is_found: bool = False
    above_B: float = -math.inf
    up_to_B: float = math.inf

    @classmethod
    def parse(cls, text: str) -> Peak:
        """`InfiniBand=12.5GB/s`, `memory@cache,numa=20GB/s`, `PIO up to 16KiB=10.6GB/s`.

        RequestError where it has another form.
        """
        named, equals, rate = text.rpartition("=")
        hint = (
            "write NAME=RATE, NAME@LOCALITY=RATE or NAME above SIZE up to SIZE=RATE, for example "
            "--peak 'HDR=100Gbit/s', --peak 'memory@cache,numa=20GB/s' or --peak 'PIO up to 16KiB=10.6GB/s'"
        )
        named, *ends, _ = _SIZES.split(named, maxsplit=1)
        name, at, where = named.partition("@")
        if re.search(r"\s(above|up to)\s", f" {named} "):
            raise RequestError(f"--peak {text!r}: the sizes cannot be read", hint)
        if not equals or not name.strip() or not rate.strip():
            raise RequestError(f"--peak {text!r} is not of the form NAME=RATE", hint)
        localities = tuple(word.strip() for word in where.split(",")) if at else ()
        if unknown := [word for word in localities if word not in LOCALITIES]:
            raise RequestError(
                f"--peak {text!r}: {unknown[0]!r} is no locality", f"known: {', '.join(LOCALITIES)}; {hint}"
            )
        try:
            value = parse_rate(rate)
            above, up_to = (parse_bytes(end) if end else None for end in ends)
        except RequestError as error:
            raise RequestError(f"--peak {text!r}: {error.message}", hint) from error
        if not value > 0:
            raise RequestError(f"--peak {text!r}: the rate is not positive", hint)
        if above is not None and up_to is not None and above >= up_to:
            raise RequestError(f"--peak {text!r}: no size is above {above} and up to {up_to} B", hint)
        return cls(
            name.strip(),
            value,
            localities,
            above_B=-math.inf if above is None else above,
            up_to_B=math.inf if up_to is None else up_to,
        )

    def carries(self, size_B: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which messages go this way by their size."""
        return np.asarray((size_B > self.above_B) & (size_B <= self.up_to_B))

    def may_carry(self, rate_B_per_s: float, directions: int) -> bool:
        """Whether messages of that rate may have gone this way: nothing exceeds a link that it uses."""
        return not self.is_found or self.share(rate_B_per_s, directions) <= 1

    def limits(self, locality: str | None) -> bool:
        """Whether messages of this locality go this way."""
        return not self.localities or locality in self.localities

    def label(self, directions: int) -> str:
        """Name and rate; twice the rate if both directions count, for a full-duplex link."""
        rate = format_rate(self.rate_B_per_s)
        return f"{self.title} {rate}" if directions == 1 else f"{self.title} {directions} × {rate}"

    @property
    def title(self) -> str:
        """The name, with the sizes."""
        above = f" above {format_bytes(self.above_B)}" if math.isfinite(self.above_B) else ""
        return self.name + above + (f" up to {format_bytes(self.up_to_B)}" if math.isfinite(self.up_to_B) else "")

    def share(self, rate_B_per_s: float, directions: int) -> float:
        """The share of the peak that a rate reaches."""
        return rate_B_per_s / (directions * self.rate_B_per_s)


def placed(peaks: Sequence[Peak], localities: Collection[str | None]) -> list[Peak]:
    """Peaks without a locality are of links: where a page has messages between nodes, they limit those alone."""
    return [
        replace(peak, localities=("network",)) if "network" in localities and not peak.localities else peak
        for peak in peaks
    ]


def peaks_of(texts: Iterable[str]) -> list[Peak]:
    """Of options."""
    return [Peak.parse(text) for text in texts]


def adapter_peaks(systems: Iterable[System]) -> list[Peak]:
    """The adapters that described systems have, the fastest first."""
    found = {
        Peak(adapter.name, adapter.bandwidth_B_per_s, ("network",), is_found=True): None
        for system in systems
        for adapter in system.network.adapters
    }
    return sorted(found, key=lambda peak: (-peak.rate_B_per_s, peak.name))


def unmatched(peaks: Sequence[Peak], messages: Iterable[tuple[str | None, NDArray[np.float64]]]) -> list[str]:
    """A sentence on each peak that no message goes by; `messages`: locality and sizes in bytes of each curve."""
    curves = list(messages)
    places = ", ".join(sorted({locality or "unknown" for locality, _ in curves})) or "none measured"
    return [
        f"--peak {peak.title}: no message of this page goes that way "
        f"({f'{listed(peak.localities)} is meant; ' if peak.localities else ''}localities here: {places})."
        for peak in peaks
        if not any(peak.limits(locality) and peak.carries(size_B).any() for locality, size_B in curves)
    ]


def found_peaks(launches: Iterable[LaunchLine]) -> list[Peak]:
    """The links of the nodes between which ranks sent messages, as far as their kernels tell; the fastest first.

    None where all ranks were on one machine, even under several names: nothing then goes over its links.
    """
    rates: dict[str, set[float]] = {}
    for launch in launches:
        if len({rank.machine or rank.host for rank in launch.ranks}) > 1:
            for link in (link for node in launch.nodes for link in links(node)):
                rates.setdefault(link.name, set()).add(link.rate_bit_per_s / 8)
    found = [Peak(name, rate, ("network",), is_found=True) for name, of in rates.items() for rate in of]
    return sorted(found, key=lambda peak: (-peak.rate_B_per_s, peak.name))


@dataclass(frozen=True)
class SizeMark:
    """A size worth a vertical line; `label` is a word or two. `inside`: of messages inside of a node only.

    `system`: whose it is, empty on a page of one system.
    """

    size_B: float
    label: str
    inside: bool = False
    system: str = ""


def marks_of_caches(
    machine: Machine, launches: Sequence[LaunchLine], systems: Iterable[System] = ()
) -> list[SizeMark]:
    """The `cache_marks` of the hosts of each system's launches, else of its description."""
    entries = machine.point_to_point
    names = {entry.other.get("system", "") for entry in entries}
    system_of_launch = {
        launch: entry.other.get("system", "") for entry in entries for launch in entry.measurements.launches
    }
    hosts = [(system_of_launch.get(launch.id), system_of([launch], ()).hosts) for launch in launches]
    caches: dict[str, dict[tuple[int, str], list[int]]] = {}
    for name, of_launch in hosts or [(None, machine.system.hosts)]:
        for host in of_launch if len(names) == 1 or name is not None else ():
            for cache in host.caches:
                of_system = caches.setdefault((name or "") if len(names) > 1 else "", {})
                of_system.setdefault((cache.level, cache.type), []).append(cache.size_B)
    measured = set(caches)
    for described in systems:
        name = described.name if len(names) > 1 else ""
        for of_node in described.node.caches if name not in measured else ():
            kind = of_node.level, "Data" if of_node.level == 1 else ""
            caches.setdefault(name, {}).setdefault(kind, []).append(of_node.size_B)
    return [replace(mark, system=name) for name, own in caches.items() for mark in cache_marks(own)]


def cache_marks(caches: Mapping[tuple[int, str], Sequence[int]]) -> list[SizeMark]:
    """One mark for each distinct size of a data cache; `caches` is (level, type) → sizes in bytes."""
    marks = []
    for (level, kind), sizes in sorted(caches.items()):
        if kind.lower().startswith("instr"):
            continue
        name = f"L{level}d" if kind.lower() == "data" and level == 1 else f"L{level}"
        marks += [SizeMark(float(size), name, inside=True) for size in sorted(np.unique(np.asarray(sizes)))]
    return marks
