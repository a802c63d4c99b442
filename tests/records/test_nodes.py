"""Nodes described from planted files: those of the exercises' thin and GPU nodes, many adapters, none, damage."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.planted_node import plant_adapter, plant_interface, plant_node, write

from hockney.records.answers import ReportedNode
from hockney.records.nodes import Link, NodeDescription, describe, links, node_facts
from hockney.runner.inventory import node

EVEN = ",".join(str(cpu) for cpu in range(0, 24, 2))
ODD = ",".join(str(cpu) for cpu in range(1, 24, 2))


def test_a_node_of_two_sockets_as_lscpu_and_lstopo_show_it(tmp_path: Path) -> None:
    seen = node(plant_node(tmp_path))
    assert seen.packages == seen.numa == {"0": EVEN, "1": ODD}
    assert seen.cores == [str(cpu) for cpu in range(24)]
    assert [(one.level, one.type, one.size_B) for one in seen.caches] == [
        (1, "Data", 32 << 10),
        (2, "Unified", 1 << 20),
        (3, "Unified", 19712 << 10),
    ]
    assert seen.caches[0].cpus == [str(cpu) for cpu in range(24)]
    assert seen.caches[2].cpus == [EVEN, ODD]
    assert (seen.min_MHz, seen.max_MHz) == (1000, 3700)


def test_hardware_threads_of_a_core_stand_together(tmp_path: Path) -> None:
    """The cache groups that are printed of the GPU node: (0 24)(1 25) … and two of 24."""
    seen = node(plant_node(tmp_path, threads=2))
    assert seen.cores == [f"{cpu},{cpu + 24}" for cpu in range(24)]
    assert seen.caches[0].cpus == seen.caches[1].cpus == seen.cores
    assert [len(cpus.split(",")) for cpus in seen.caches[2].cpus] == [24, 24]


def test_interfaces_bridges_and_the_adapter(tmp_path: Path) -> None:
    seen = node(plant_node(tmp_path))
    kinds = {one.name: one.kind for one in seen.interfaces}
    assert kinds == {
        "bond0": "bond",
        "br0": "bridge",
        "em1": "Ethernet",
        "em2": "Ethernet",
        "ib0": "InfiniBand",
        "lo": "loopback",
    }
    em1 = next(one for one in seen.interfaces if one.name == "em1")
    assert (em1.rate_bit_per_s, em1.mtu_B, em1.driver, em1.state) == (25e9, 1500, "qede", "up")
    assert (em1.master, em1.device) == ("br0", "0000:19:00.0")
    (port,) = seen.adapters
    assert (port.adapter, port.port, port.numa, port.state) == ("mlx5_0", 1, 1, "active")
    assert (port.link_layer, port.rate_bit_per_s, port.interfaces) == ("InfiniBand", 100e9, ["ib0"])
    # The bridge is made of em1 and em2, the bond of nothing that is plugged in, ib0 is the adapter's.
    assert links(seen) == [
        Link(name="InfiniBand", rate_bit_per_s=100e9),
        Link(name="Ethernet", rate_bit_per_s=25e9),
    ]


def test_several_adapters(tmp_path: Path) -> None:
    """One port is down; RDMA over Ethernet is one link, not that of its interface besides."""
    plant_adapter(
        tmp_path, "mlx5_0", "0000:3b:00.0", "0", {1: ("200 Gb/sec (4X HDR)", "InfiniBand", "4: ACTIVE")}
    )
    plant_adapter(tmp_path, "mlx5_1", "0000:5e:00.0", "1", {1: ("10 Gb/sec (4X SDR)", "InfiniBand", "1: DOWN")})
    roce = {1: ("100 Gb/sec (4X EDR)", "Ethernet", "4: ACTIVE"), 2: ("40 Gb/sec (4X QDR)", "Ethernet", "1: DOWN")}
    plant_adapter(tmp_path, "mlx5_2", "0000:86:00.0", "1", roce)
    up = {"operstate": "up", "speed": "100000"}
    plant_interface(tmp_path, "eth2", "1", "0000:86:00.0", "mlx5_core", up)
    seen = node(tmp_path)
    assert [(one.adapter, one.port, one.numa) for one in seen.adapters] == [
        ("mlx5_0", 1, 0),
        ("mlx5_1", 1, 1),
        ("mlx5_2", 1, 1),
        ("mlx5_2", 2, 1),
    ]
    assert [(link.name, link.rate_bit_per_s) for link in links(seen)] == [
        ("InfiniBand", 200e9),
        ("Ethernet", 100e9),
    ]


def test_omni_path_says_infiniband(tmp_path: Path) -> None:
    port = {1: ("100 Gb/sec (4X EDR)", "InfiniBand", "4: ACTIVE")}
    plant_adapter(tmp_path, "hfi1_0", "0000:18:00.0", "0", port, driver="hfi1")
    assert links(node(tmp_path)) == [Link(name="Omni-Path", rate_bit_per_s=100e9)]


@pytest.mark.parametrize("speed", ["-1", "4294967295", "fast", "", "1e4"])
def test_a_speed_that_is_not_told(tmp_path: Path, speed: str) -> None:
    seen = node(plant_node(tmp_path, speed=speed or " "))
    assert {one.rate_bit_per_s for one in seen.interfaces} == {None}
    assert [link.name for link in links(seen)] == ["InfiniBand"]
    assert all("rate unknown" in text for part, text in node_facts(seen) if part.startswith("interface"))


@pytest.mark.parametrize(
    ("rate", "data"),
    [
        ("100 Gb/sec (4X EDR)", 100e9),
        ("400 Gb/sec (4X NDR)", 400e9),
        # 8 of 10 bits are data.
        ("40 Gb/sec (4X QDR)", 32e9),
        ("2.5 Gb/sec (1X SDR)", 2e9),
        # 4 lanes of 14.0625 Gbit/s, 64 of 66 bits.
        ("56 Gb/sec (4X FDR)", 4 * 14.0625e9 * 64 / 66),
        ("100 Gb/sec", 100e9),
        ("0 Gb/sec (4X)", None),
        ("?", None),
        ("1.2.3 Gb/sec (4X EDR)", None),
    ],
)
def test_rates_of_data(tmp_path: Path, rate: str, data: float | None) -> None:
    plant_adapter(tmp_path, "mlx5_0", "0000:3b:00.0", "-1", {1: (rate, "InfiniBand", "4: ACTIVE")})
    (port,) = node(tmp_path).adapters
    assert port.rate_bit_per_s == (None if data is None else pytest.approx(data, rel=1e-12))
    assert port.numa is None, "-1 is not known"


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    seen = node(tmp_path)
    assert (seen.interfaces, seen.adapters, links(seen), seen.min_MHz) == ([], [], [], None)


def test_damaged_files_are_left_out(tmp_path: Path) -> None:
    plant_node(tmp_path, adapter_numa="one")
    (tmp_path / "sys/class/net/em1/mtu").write_bytes(b"\xff\xfe")
    (tmp_path / "sys/class/net/em2/operstate").unlink()
    write(tmp_path / "sys/class/infiniband/mlx5_0/ports/1/state", "")
    (tmp_path / "sys/class/net/ib0/device").unlink()
    (tmp_path / "sys/class/net/ib0/device").symlink_to("nowhere")
    seen = node(tmp_path)
    assert {one.name: one.mtu_B for one in seen.interfaces}["em1"] is None
    assert {one.name: one.state for one in seen.interfaces}["em2"] == ""
    (port,) = seen.adapters
    assert (port.state, port.numa, port.interfaces) == ("", None, [])
    # ib0 has a device, if none that is known, and is up.
    assert [link.name for link in links(seen)] == ["InfiniBand", "Ethernet"]


_WORDS = st.sampled_from(
    ["class", "net", "infiniband", "eth0", "ports", "1", "rate", "speed", "mtu", "", "device"]
)


@given(st.dictionaries(st.lists(_WORDS, max_size=6).map("/".join), st.text(max_size=12), max_size=12))
def test_no_file_of_any_content_is_a_defect(files: dict[str, str]) -> None:
    seen = describe(["n1"], ReportedNode(processors=[], caches=[], files=files))
    assert NodeDescription.model_validate(seen.model_dump(exclude_defaults=True)) == seen
    assert len(node_facts(seen)) == len(seen.interfaces) + len(seen.adapters)
