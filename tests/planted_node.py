"""Trees of /sys as the kernel lays them out, for nodes that nobody has here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

NODE_WITH_ADAPTER = {
    # interface: (type, device's address, driver, files)
    "br0": ("1", "", "", {"mtu": "1500", "operstate": "up", "speed": "25000", "bridge/bridge_id": "8000"}),
    "bond0": ("1", "", "", {"mtu": "1500", "operstate": "up", "speed": "50000", "bonding/mode": "balance-rr 0"}),
    "em1": ("1", "0000:19:00.0", "qede", {"mtu": "1500", "operstate": "up", "speed": "25000"}),
    "em2": ("1", "0000:19:00.1", "qede", {"mtu": "1500", "operstate": "up", "speed": "25000"}),
    "ib0": ("32", "0000:3b:00.0", "mlx5_core", {"mtu": "2044", "operstate": "up", "speed": "100000"}),
    "lo": ("772", "", "", {"mtu": "65536", "operstate": "unknown"}),
}
"""Two Ethernet ports in a bridge, a bond, IP over InfiniBand: a node of two sockets, 24 cores, one adapter."""


def write(path: Path, text: str) -> None:
    """A line, as the kernel ends each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def plant_interface(
    root: Path, name: str, kind: str, address: str, driver: str, files: Mapping[str, str]
) -> None:
    """An interface with the link to its device."""
    folder = root / "sys/class/net" / name
    write(folder / "type", kind)
    for file, text in files.items():
        write(folder / file, text)
    if address:
        _link(root, folder / "device", address, driver)


def plant_adapter(
    root: Path,
    name: str,
    address: str,
    numa: str,
    ports: Mapping[int, tuple[str, str, str]],
    driver: str = "mlx5_core",
) -> None:
    """An adapter; `ports`: (rate, link layer, state)."""
    folder = root / "sys/class/infiniband" / name
    write(folder / "hca_type", "MT4119")
    _link(root, folder / "device", address, driver)
    write(root / "sys/devices" / address / "numa_node", numa)
    for port, (rate, layer, state) in ports.items():
        for file, text in (("rate", rate), ("link_layer", layer), ("state", state)):
            write(folder / f"ports/{port}/{file}", text)


def _link(root: Path, link: Path, address: str, driver: str) -> None:
    device, drivers = root / "sys/devices" / address, root / "sys/bus/drivers" / driver
    for folder in (link.parent, device, drivers):
        folder.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(device, link.parent))
    if not (device / "driver").exists():
        (device / "driver").symlink_to(os.path.relpath(drivers, device))


def plant_processors(root: Path, packages: int, cores: int, threads: int) -> None:
    """CPUs dealt to packages in turn, the second threads after all cores: 0 and 24 are one core of 2 × 12."""
    system, half = root / "sys/devices/system", packages * cores
    write(system / "cpu/online", f"0-{half * threads - 1}")
    for cpu in range(half * threads):
        folder, core = system / f"cpu/cpu{cpu}", cpu % half
        siblings = ",".join(str(core + half * thread) for thread in range(threads))
        package = ",".join(str(one) for one in range(core % packages, half * threads, packages))
        write(folder / "topology/physical_package_id", str(core % packages))
        write(folder / "topology/core_id", str(core // packages))
        write(folder / "topology/thread_siblings_list", siblings)
        for index, (level, kind, size, shared) in enumerate(
            (
                ("1", "Data", "32K", siblings),
                ("2", "Unified", "1024K", siblings),
                ("3", "Unified", "19712K", package),
            )
        ):
            for name, text in (("level", level), ("type", kind), ("size", size), ("shared_cpu_list", shared)):
                write(folder / f"cache/index{index}/{name}", text)
        write(system / f"cpu/cpufreq/policy{cpu}/cpuinfo_min_freq", "1000000")
        write(system / f"cpu/cpufreq/policy{cpu}/cpuinfo_max_freq", "3700000")
    for domain in range(packages):
        cpus = ",".join(str(one) for one in range(domain, half * threads, packages))
        write(system / f"node/node{domain}/cpulist", cpus)


def plant_node(root: Path, *, threads: int = 1, adapter_numa: str = "1", speed: str = "") -> Path:
    """The node of `NODE_WITH_ADAPTER`; `speed`: what every interface says in place of its own."""
    plant_processors(root, 2, 12, threads)
    for name, (kind, address, driver, files) in NODE_WITH_ADAPTER.items():
        plant_interface(root, name, kind, address, driver, {**files, **({"speed": speed} if speed else {})})
    for name in ("em1", "em2"):
        (root / f"sys/class/net/{name}/master").symlink_to("../br0")
    plant_adapter(
        root, "mlx5_0", "0000:3b:00.0", adapter_numa, {1: ("100 Gb/sec (4X EDR)", "InfiniBand", "4: ACTIVE")}
    )
    return root
