"""Peaks as people write them, and the marks of caches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import refusing
from tests.planted_node import plant_node

from hockney.errors import RequestError
from hockney.machine.system import find_system
from hockney.records.journal import LaunchLine
from hockney.report.marks import Peak, adapter_peaks, cache_marks, found_peaks, percent, placed, unmatched
from hockney.runner.inventory import node


@pytest.mark.parametrize(
    ("text", "name", "rate"),
    [
        ("InfiniBand=12.5GB/s", "InfiniBand", 12.5e9),
        ("HDR 100=100Gbit/s", "HDR 100", 12.5e9),
        ("a=b=1MB/s", "a=b", 1e6),
        (" RoCE = 25Gbit/s ", "RoCE", 3.125e9),
    ],
)
def test_parse(text: str, name: str, rate: float) -> None:
    assert Peak.parse(text) == Peak(name, rate)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "InfiniBand",
        "=12GB/s",
        "@node=12GB/s",
        "x@=1GB/s",
        "InfiniBand=",
        "InfiniBand=fast",
        "x=12",
        "x=0GB/s",
    ],
)
def test_a_bad_peak_says_the_form(text: str) -> None:
    with refusing(re.escape("--peak"), "NAME=RATE"):
        Peak.parse(text)


def test_a_peak_may_say_what_it_limits() -> None:
    peak = Peak.parse("memory@cache,numa=20GB/s")
    assert peak == Peak("memory", 20e9, ("cache", "numa"))
    assert peak.limits("cache")
    assert not peak.limits("network")
    assert not peak.limits(None)
    with refusing("'moon' is no locality", "network"):
        Peak.parse("memory@moon=20GB/s")


def test_a_peak_may_be_of_some_sizes() -> None:
    short, long = Peak.parse("PIO@network up to 16KiB=10.6GB/s"), Peak.parse("SDMA above 16KiB=12.5GB/s")
    assert short == Peak("PIO", 10.6e9, ("network",), up_to_B=16384)
    assert long == Peak("SDMA", 12.5e9, above_B=16384)
    sizes_B = np.array([0.0, 16384.0, 16385.0])
    assert short.carries(sizes_B).tolist() == [True, True, False]
    assert long.carries(sizes_B).tolist() == [False, False, True]
    assert long.label(2) == "SDMA above 16 KiB 2 × 12.5 GB/s"
    between = Peak.parse("x above 1KiB up to 2KiB=1GB/s")
    assert between.carries(np.array([1024.0, 1025.0, 2048.0, 2049.0])).tolist() == [False, True, True, False]
    assert Peak.parse("PIO up to 16 KiB=1GB/s") == Peak("PIO", 1e9, up_to_B=16384)
    for text in (
        *("x up to much=1GB/s", "x above 2KiB up to 1KiB=1GB/s", " up to 1KiB=1GB/s"),
        *("x up to 2KiB above 1KiB=1GB/s", "x up to 2KiB@network=1GB/s"),
    ):
        with pytest.raises(RequestError, match="--peak"):
            Peak.parse(text)


def test_a_peak_without_a_locality_is_a_links_where_there_are_messages_between_nodes() -> None:
    link, memory = Peak("IB", 12.5e9), Peak("memory", 20e9, ("node",))
    assert placed([link, memory], {"cache", "network"}) == [Peak("IB", 12.5e9, ("network",)), memory]
    assert placed([link, memory], {"cache", "node"}) == [link, memory]
    assert placed([link], {None}) == [link]


def _launch(root: Path, machines: Sequence[str]) -> LaunchLine:
    of_node = node(plant_node(root)).model_copy(update={"hosts": ["n1", "n2"]})
    ranks = [{"rank": rank, "host": f"n{rank + 1}", "machine": name} for rank, name in enumerate(machines)]
    return LaunchLine.model_validate({"nodes": [of_node], "ranks": ranks})


def test_links_of_nodes_are_peaks_of_messages_between_them(tmp_path: Path) -> None:
    assert found_peaks([_launch(tmp_path, ("a", "b"))]) == [
        Peak("InfiniBand", 12.5e9, ("network",), is_found=True),
        Peak("Ethernet", 3.125e9, ("network",), is_found=True),
    ]


def test_what_exceeds_a_link_that_was_found_did_not_use_it() -> None:
    found = Peak("Ethernet", 3e9, ("network",), is_found=True)
    assert found.may_carry(2.9e9, 1)
    assert not found.may_carry(3.1e9, 1)
    assert found.may_carry(5.9e9, 2), "both directions at once"
    assert Peak("Ethernet", 3e9).may_carry(12e9, 1), "who gives a peak wants the share"


def test_ranks_of_one_machine_use_no_link(tmp_path: Path) -> None:
    """Two names, one boot id: namespaces, or containers."""
    assert found_peaks([_launch(tmp_path, ("a", "a"))]) == []
    assert found_peaks([LaunchLine()]) == []


@given(st.text(max_size=30))
def test_any_text_is_a_peak_or_a_request_error(text: str) -> None:
    try:
        peak = Peak.parse(text)
    except RequestError:
        return
    assert peak.name
    assert peak.rate_B_per_s > 0


def test_both_directions_are_held_against_twice_the_peak() -> None:
    peak = Peak("Link", 10e9)
    assert peak.share(15e9, 1) == 1.5
    assert peak.share(15e9, 2) == 0.75
    assert peak.label(2) == "Link 2 × 10 GB/s"


@pytest.mark.parametrize(("share", "text"), [(0.873, "87 %"), (0.0042, "0.42 %"), (12.3, "1230 %"), (0.0, "0 %")])
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text


def test_one_mark_for_each_size_and_none_for_instructions() -> None:
    caches = {(2, "Unified"): [2**20, 2**20], (1, "Data"): [32768, 49152], (1, "Instruction"): [65536]}
    assert [(mark.label, mark.size_B) for mark in cache_marks(caches)] == [
        ("L1d", 32768),
        ("L1d", 49152),
        ("L2", 2**20),
    ]


def test_a_peak_that_no_message_goes_by_says_so() -> None:
    sizes_B = np.array([1.0, 1e6])
    peaks = [Peak.parse(text) for text in ("IB@network=12.5GB/s", "PIO up to 16KiB=1GB/s", "A above 1GiB=1GB/s")]
    said = unmatched(peaks, [("cache", sizes_B), (None, sizes_B)])
    assert [text.split(":")[0] for text in said] == ["--peak IB", "--peak A above 1 GiB"]
    assert "network is meant; localities here: cache, unknown" in said[0]
    assert unmatched(peaks[:1], [("network", sizes_B)]) == []


def test_a_known_system_has_the_peaks_of_its_adapters() -> None:
    """Document 001: 100 Gbit/s InfiniBand and 25 Gbit/s Ethernet."""
    found = adapter_peaks([find_system("orfeo-thin"), find_system("orfeo-gpu")])
    assert [(peak.name, peak.rate_B_per_s, peak.limits("network")) for peak in found] == [
        ("InfiniBand", 100e9 / 8, True),
        ("Ethernet", 25e9 / 8, True),
    ]
    assert not any(peak.limits("cache") for peak in found)
