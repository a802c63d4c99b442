"""A node as the kernel's files describe it: processors, caches, NUMA domains, frequencies, network devices.

The runner's first rank on each host reads these files (`cpp/runner/placement.cpp`, `devices.cpp`), and so does
`hockney.runner.inventory` without MPI. What they mean is said here, once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from pydantic import BaseModel, ConfigDict, Field

from hockney.records.answers import ReportedNode
from hockney.units import format_bytes, in_ranges

_KIND_OF_TYPE = {"1": "Ethernet", "32": "InfiniBand", "772": "loopback"}
"""`ARPHRD_…` of Linux's if_arp.h."""
_RATE = re.compile(r"([\d.]+) Gb/sec(?: \((\d+X?) ?(\w*)\))?")
_DATA_SHARE = {"SDR": 0.8, "DDR": 0.8, "QDR": 0.8, "FDR": 14.0625 * 64 / 66 / 14}
"""Data per bit that the kernel names: up to QDR 8 of 10 bits; a lane of FDR signals 14.0625 Gbit/s, 64 of 66 are
data, and the kernel says 14. From EDR on the name is the rate of data (InfiniBand Architecture, vol. 2)."""


class _Described(BaseModel):
    model_config = ConfigDict(defer_build=True, frozen=True)


class Interface(_Described):
    """A network interface. `kind`: Ethernet, InfiniBand (IP over it), bridge, bond, wireless, loopback, virtual.

    `rate_bit_per_s` is None where the driver tells none, `master` the bridge or bond that it is a port of.
    """

    name: str
    kind: str
    state: str = ""
    rate_bit_per_s: float | None = None
    mtu_B: int | None = None
    driver: str = ""
    device: str = Field(default="", description="address on its bus")
    numa: int | None = None
    master: str = ""


class AdapterPort(_Described):
    """A port of an RDMA adapter. `rate` as the kernel names it, `rate_bit_per_s` what is left for data."""

    adapter: str
    port: int
    link_layer: str = ""
    state: str = ""
    rate: str = ""
    rate_bit_per_s: float | None = None
    model: str = ""
    driver: str = ""
    device: str = Field(default="", description="address on its bus")
    numa: int | None = None
    interfaces: list[str] = Field(default_factory=list, description="network interfaces of the same device")


class CacheGroups(_Described):
    """The caches of one kind: for each the CPUs that share it, as `0-3,8`."""

    level: int
    type: str
    size_B: int
    cpus: list[str]


class NodeDescription(_Described):
    """One node, or several that are alike. CPUs are written as `0-3,8`."""

    hosts: list[str]
    packages: dict[str, str] = Field(default_factory=dict, description="package → its CPUs")
    numa: dict[str, str] = Field(default_factory=dict, description="NUMA domain → its CPUs")
    cores: list[str] = Field(default_factory=list, description="the hardware threads of each core")
    caches: list[CacheGroups] = Field(default_factory=list)
    min_MHz: float | None = None
    max_MHz: float | None = None
    interfaces: list[Interface] = Field(default_factory=list)
    adapters: list[AdapterPort] = Field(default_factory=list)


class Link(_Described):
    """A link of a node that other nodes can be reached by, with its nominal rate in one direction."""

    name: str
    rate_bit_per_s: float


def parse_cpu_list(text: str) -> frozenset[int]:
    """`0-3,8` → {0, 1, 2, 3, 8}; parts that are no numbers are left out, as the files of /sys have none."""
    cpus: set[int] = set()
    for part in text.strip().split(","):
        if match := re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part):
            cpus.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(cpus)


def describe(hosts: Sequence[str], node: ReportedNode) -> NodeDescription:
    """What the files of a node say; whatever is damaged in them is left out."""
    caches: dict[tuple[int, str, int], list[str]] = {}
    for cache in sorted(node.caches, key=lambda cache: (cache.level, cache.type, cache.shared)):
        caches.setdefault((cache.level, cache.type, cache.size_B), []).append(in_ranges(cache.shared))
    low, high = ([_number(text) for text in _values(node.files, name)] for name in _FREQUENCIES)
    interfaces = list(_interfaces(node.files))
    return NodeDescription(
        hosts=list(hosts),
        packages=_grouped((cpu.package, cpu.cpu) for cpu in node.processors),
        numa=_grouped((cpu.numa, cpu.cpu) for cpu in node.processors),
        cores=list(_grouped((cpu.core, cpu.cpu) for cpu in node.processors).values()),
        caches=[
            CacheGroups(level=level, type=kind, size_B=size_B, cpus=cpus)
            for (level, kind, size_B), cpus in caches.items()
        ],
        # In kHz.
        min_MHz=min((kHz / 1e3 for kHz in low if kHz), default=None),
        max_MHz=max((kHz / 1e3 for kHz in high if kHz), default=None),
        interfaces=interfaces,
        adapters=list(_adapters(node.files, interfaces)),
    )


_FREQUENCIES = ("cpuinfo_min_freq", "cpuinfo_max_freq")


MOST_GROUPS = 8
"""Lists of CPUs that are written out."""


def groups_written(lists: Sequence[str]) -> str:
    """`0-11 | 12-23`, of many the first."""
    more = len(lists) - MOST_GROUPS
    return " | ".join(lists[:MOST_GROUPS]) + (f" | and {more} more" if more > 0 else "")


def node_facts(node: NodeDescription) -> list[tuple[str, str]]:
    """The description in words: what part, and what is known of it."""
    rows = [(f"package {name}", f"CPUs {cpus}") for name, cpus in node.packages.items()]
    rows += [(f"NUMA domain {name}", f"CPUs {cpus}") for name, cpus in node.numa.items()]
    for cache in node.caches:
        name = f"{cache_name(cache.level, cache.type)} cache, {format_bytes(cache.size_B)}"
        rows.append((name, f"CPUs {groups_written(cache.cpus)}"))
    if node.cores:
        rows.append(("cores", f"CPUs {groups_written(node.cores)}"))
    if node.min_MHz or node.max_MHz:
        rows.append(("frequency", f"{_known(node.min_MHz)} to {_known(node.max_MHz)} MHz"))
    rows += [(f"interface {part.name}", _written_interface(part)) for part in node.interfaces]
    return rows + [(f"adapter {port.adapter}, port {port.port}", _written_port(port)) for port in node.adapters]


def cache_name(level: int, kind: str) -> str:
    """`L1d`, `L1i`, `L3`."""
    return f"L{level}" + {"Data": "d", "Instruction": "i"}.get(kind, "") * (level == 1)


def format_bits(rate_bit_per_s: float) -> str:
    """`100 Gbit/s`, as link rates are named."""
    return f"{rate_bit_per_s / 1e9:.4g} Gbit/s"


def _known(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"


def _joined(*words: str | None) -> str:
    """The words that are known."""
    return ", ".join(filter(None, words))


def _if_known(name: str, value: object) -> str:
    return "" if value in (None, "") else f"{name} {value}"


def _written_interface(interface: Interface) -> str:
    rate_bit_per_s = interface.rate_bit_per_s
    return _joined(
        interface.kind,
        interface.state or "state unknown",
        "rate unknown" if rate_bit_per_s is None else format_bits(rate_bit_per_s),
        _if_known("MTU", interface.mtu_B),
        _if_known("driver", interface.driver),
        _if_known("NUMA domain", interface.numa),
        _if_known("port of", interface.master),
    )


def _written_port(port: AdapterPort) -> str:
    return _joined(
        port.link_layer or "link layer unknown",
        port.rate or "rate unknown",
        port.state or "state unknown",
        port.model,
        _if_known("driver", port.driver),
        _if_known("NUMA domain", port.numa),
        _if_known("interfaces", ", ".join(port.interfaces)),
    )


def links(node: NodeDescription) -> list[Link]:
    """Links that are up and whose rate is known, the fastest first; of several that are alike one.

    An interface on an adapter's device is the adapter's link; bridges and bonds are made of other interfaces.
    """
    active = [port for port in node.adapters if port.state == "active"]
    of_adapters = {name for port in active for name in port.interfaces}
    up = [
        interface
        for interface in node.interfaces
        if interface.kind in ("Ethernet", "InfiniBand") and interface.device and interface.state == "up"
    ]
    # Omni-Path's driver says InfiniBand.
    rates: list[tuple[str, AdapterPort | Interface]] = [
        ("Omni-Path" if port.driver == "hfi1" else port.link_layer or "RDMA", port) for port in active
    ]
    rates += [(interface.kind, interface) for interface in up if interface.name not in of_adapters]
    known = {Link(name=name, rate_bit_per_s=rate) for name, part in rates if (rate := part.rate_bit_per_s)}
    return sorted(known, key=lambda link: (-link.rate_bit_per_s, link.name))


def _grouped(pairs: Iterable[tuple[int, int]]) -> dict[str, str]:
    known = sorted((unit, cpu) for unit, cpu in pairs if unit >= 0)
    return {str(unit): in_ranges(cpu for _, cpu in group) for unit, group in groupby(known, itemgetter(0))}


def _values(files: Mapping[str, str], name: str) -> Iterator[str]:
    return (text for path, text in files.items() if path.endswith(f"/{name}"))


def _number(text: str) -> int | None:
    """A whole number from 0 on; -1 is how drivers say that they do not know."""
    return int(text) if re.fullmatch(r"\d{1,15}", text.strip()) else None


def _folders(files: Mapping[str, str], kind: str) -> dict[str, dict[str, str]]:
    """`class/KIND/NAME/rest` → text, as NAME → rest → text."""
    devices: dict[str, dict[str, str]] = {}
    for path, text in sorted(files.items()):
        if path.startswith(f"class/{kind}/"):
            name, _, rest = path.removeprefix(f"class/{kind}/").partition("/")
            devices.setdefault(name, {})[rest] = text
    return devices


def _interfaces(files: Mapping[str, str]) -> Iterator[Interface]:
    for name, said in _folders(files, "net").items():
        mbit_per_s = _number(said.get("speed", ""))
        yield Interface(
            name=name,
            kind=_interface_kind(said),
            state=said.get("operstate", ""),
            # What is down says 2**32 - 1 on some drivers.
            rate_bit_per_s=mbit_per_s * 1e6 if mbit_per_s and mbit_per_s < 2**32 - 1 else None,
            mtu_B=_number(said.get("mtu", "")),
            driver=said.get("device/driver", ""),
            device=said.get("device", ""),
            numa=_number(said.get("device/numa_node", "")),
            master=said.get("master", ""),
        )


def _interface_kind(said: Mapping[str, str]) -> str:
    for folder, kind in (("bridge", "bridge"), ("bonding", "bond"), ("wireless", "wireless")):
        if folder in said:
            return kind
    kind = _KIND_OF_TYPE.get(said.get("type", ""), "virtual")
    return kind if kind == "loopback" or "device" in said else "virtual"


def _adapters(files: Mapping[str, str], interfaces: Sequence[Interface]) -> Iterator[AdapterPort]:
    for name, said in _folders(files, "infiniband").items():
        device = said.get("device", "")
        ports = sorted({int(match[1]) for path in said if (match := re.match(r"ports/(\d{1,4})/", path))})
        for port in ports:
            here = {part: said.get(f"ports/{port}/{part}", "") for part in ("rate", "link_layer", "state")}
            yield AdapterPort(
                adapter=name,
                port=port,
                link_layer=here["link_layer"],
                # `4: ACTIVE`
                state=here["state"].rpartition(" ")[2].lower(),
                rate=here["rate"],
                rate_bit_per_s=_data_rate_bit_per_s(here["rate"]),
                model=said.get("hca_type", ""),
                driver=said.get("device/driver", ""),
                device=device,
                numa=_number(said.get("device/numa_node", "")),
                interfaces=[part.name for part in interfaces if device and part.device == device],
            )


def _data_rate_bit_per_s(text: str) -> float | None:
    """`100 Gb/sec (4X EDR)` → 100e9; None for what has another form, and for no rate."""
    match = _RATE.match(text)
    try:
        return float(match[1]) * 1e9 * _DATA_SHARE.get(match[3] or "", 1.0) or None if match else None
    except ValueError:
        return None
