"""fat_tree, torus, dragonfly, hypercube, single_switch, edge_list: their graphs, their specs, their mistakes."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import refusing, written

from hockney.errors import RequestError
from hockney.network.topologies.base import Network, parse_spec, topologies


def degrees(network: Network) -> Counter[int]:
    """Links, parallel ones each, of the vertices: how many have so many."""
    used = np.bincount(network.ends.ravel(), np.repeat(network.parallel, 2), minlength=network.vertices)
    return Counter(used.astype(int).tolist())


@pytest.mark.parametrize(
    ("spec", "nodes", "switches", "links", "degree"),
    [
        ("torus:8x8x4", 256, 0, 768, {6: 256}),
        # Around an extent of 2 is the way straight on: one link.
        ("torus:4x2", 8, 0, 12, {3: 8}),
        ("torus:5x1", 5, 0, 5, {2: 5}),
        ("hypercube:5", 32, 0, 80, {5: 32}),
        ("complete:16", 16, 0, 120, {15: 16}),
        ("single-switch:6,links-per-node=2", 6, 1, 12, {2: 6, 12: 1}),
        # 148 nodes; leaf switches 48 and 24, spines 10 · 4.
        (
            "fat-tree:nodes=148,links-per-node=2,leaf-ports=32:16,spines=4,spine-ports=48",
            148,
            14,
            456,
            {2: 148, 48: 9, 24: 1, 40: 4},
        ),
        # The k-ary fat tree with k = 6: k³/4 nodes, 5k²/4 switches, all with k ports.
        (
            "fat-tree:nodes=54,leaf-ports=3:3,spines=3,spine-ports=3:3,cores=9,core-ports=6",
            54,
            45,
            162,
            {1: 54, 6: 45},
        ),
        # a = 4, p = 2, h = 2: a·h + 1 = 9 groups, routers of p + a − 1 + h = 7 ports (Kim et al. 2008, figure 5).
        ("dragonfly:routers=4,nodes-per-router=2,global-links=2", 72, 36, 162, {1: 72, 7: 36}),
        # Three groups of eight global ports: four links between any two.
        (
            "dragonfly:routers=4,nodes-per-router=1,global-links=2,groups=3,arrangement=relative",
            12,
            12,
            12 + 18 + 12,
            {1: 12, 6: 12},
        ),
        ("dragonfly:routers=2,nodes-per-router=3,global-links=1,groups=1", 6, 2, 7, {1: 6, 4: 2}),
    ],
)
def test_the_graph(spec: str, nodes: int, switches: int, links: int, degree: dict[int, int]) -> None:
    network = parse_spec(spec)
    assert (network.nodes, network.switches, int(network.parallel.sum())) == (nodes, switches, links)
    assert degrees(network) == degree
    assert len(network.names) == len(set(network.names)) == len(network.level) == network.vertices


def test_neighbours_in_a_torus_differ_by_one_in_one_coordinate() -> None:
    shape = (5, 4, 3)
    network = parse_spec("torus:5x4x3")
    a, b = (np.stack(np.unravel_index(ends, shape), -1) for ends in network.ends.T)
    apart = np.minimum((a - b) % shape, (b - a) % shape)
    assert (apart.sum(1) == 1).all()
    assert len({tuple(sorted(pair)) for pair in network.ends.tolist()}) == 3 * 60


@pytest.mark.parametrize("arrangement", ["absolute", "relative"])
@pytest.mark.parametrize(("groups", "each"), [(9, 1), (5, 2), (3, 4), (2, 8), (4, 2)])
def test_any_two_groups_of_a_dragonfly_have_as_many_links(arrangement: str, groups: int, each: int) -> None:
    network = parse_spec(
        f"dragonfly:routers=4,nodes-per-router=2,global-links=2,groups={groups},arrangement={arrangement}"
    )
    group = (network.ends - network.nodes) // 4
    between = (network.ends >= network.nodes).all(1) & (group[:, 0] != group[:, 1])
    links: Counter[tuple[int, ...]] = Counter()
    for pair, parallel in zip(group[between], network.parallel[between], strict=True):
        links[tuple(sorted(pair.tolist()))] += int(parallel)
    assert links == dict.fromkeys(itertools.combinations(range(groups), 2), each)
    assert network.attributes["global_ports_free_per_group"] == 8 - each * (groups - 1)


def test_planes_of_cores() -> None:
    # The spines of a pod reach different cores, equal spines of two pods the same ones.
    network = parse_spec("fat-tree:nodes=8,leaf-ports=2:2,spines=2,spine-ports=2:2,cores=4,core-ports=2")
    reached: dict[str, set[str]] = {}
    for a, b in network.ends.tolist():
        if network.names[b].startswith("core"):
            reached.setdefault(network.names[a], set()).add(network.names[b])
    assert reached["spine 0.0"] == reached["spine 1.0"] == {"core 0", "core 1"}
    assert reached["spine 0.1"] == reached["spine 1.1"] == {"core 2", "core 3"}


def test_slurms_topology_is_an_edge_list(tmp_path: Path) -> None:
    """topology.conf(5): leaf switches name nodes, others name switches."""
    path = tmp_path / "topology.conf"
    path.write_text(
        "# a tree\nSwitchName=s0 Nodes=n[0-1]\nswitchname=s1 nodes=n[2-3],login LinkSpeed=900\n"
        "SwitchName=top Switches=s[0-1]\n",
        encoding="utf-8",
    )
    network = parse_spec(f"edges:{path},link=100Gbit/s")
    assert (network.nodes, network.switches, len(network.ends)) == (5, 3, 7)
    ends = {tuple(sorted((network.names[a], network.names[b]))) for a, b in network.ends}
    assert {("n3", "s1"), ("login", "s1"), ("s0", "top"), ("s1", "top")} <= ends
    assert set(network.bandwidth_bit_per_s) == {1e11}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BlockName=b Nodes=n[0-3]", "no switch of a topology.conf"),
        ("SwitchName=s", "no switch of a topology.conf"),
        ("SwitchName=s Nodes=n[a-b]", ":1: .*are no hosts"),
        ("SwitchName=s Nodes=n[0-99999999]", "more than"),
        ("SwitchName=s Switches=s", "linked to itself"),
        ("SwitchName=s Nodes=t\nSwitchName=t Nodes=a", ":2: 't' is a node and a switch"),
    ],
)
def test_what_is_no_topology_of_slurm(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "topology.conf", text)
    with pytest.raises(RequestError, match=message):
        parse_spec(f"edges:{path}")


def test_an_edge_list(tmp_path: Path) -> None:
    path = tmp_path / "a, b=c.txt"
    path.write_text(
        "# two islands\nswitch s t\nnode z\na s x2\nb s 10Gbit/s # slow\n\nz t\ns t x4 400Gbit/s\n",
        encoding="utf-8",
    )
    network = parse_spec(f"edges:{path},link=100Gbit/s")
    assert network.names == ("z", "a", "b", "s", "t")
    assert (network.nodes, network.switches) == (3, 2)
    bundles = zip(network.ends.tolist(), network.parallel, network.bandwidth_bit_per_s, strict=True)
    found = {frozenset(network.names[i] for i in ends): (int(n), float(rate)) for ends, n, rate in bundles}
    assert found == {
        frozenset("as"): (2, 100e9),
        frozenset("bs"): (1, 10e9),
        frozenset("zt"): (1, 100e9),
        frozenset("st"): (4, 400e9),
    }
    assert parse_spec(network.spec).names == network.names


SPECS = st.one_of(
    st.builds(
        lambda shape: "torus:" + "x".join(map(str, shape)), st.lists(st.integers(1, 5), min_size=1, max_size=3)
    ),
    st.builds("hypercube:{}".format, st.integers(1, 7)),
    st.builds("single-switch:{},links-per-node={}".format, st.integers(1, 50), st.integers(1, 4)),
    st.builds("single-switch:nodes={},ports=64,link={}Gbit/s".format, st.integers(1, 64), st.integers(1, 400)),
    st.builds(
        "fat-tree:spines={0},leaf-ports=8:{0},spine-ports=64,nodes={1}".format,
        st.integers(1, 8),
        st.integers(1, 300),
    ),
    st.builds("dragonfly:routers={},nodes-per-router={},global-links={}".format, *[st.integers(1, 3)] * 3),
)


@given(SPECS)
def test_a_spec_is_written_as_it_is_read(spec: str) -> None:
    network = parse_spec(spec)
    again = parse_spec(network.spec)
    assert again.spec == network.spec
    for name in ("ends", "parallel", "bandwidth_bit_per_s", "level"):
        assert np.array_equal(
            getattr(again, name), getattr(network, name), equal_nan=name.startswith("bandwidth")
        )
    assert again.names == network.names
    assert dict(again.attributes) == dict(network.attributes)


@given(st.text(max_size=40), st.sampled_from(["", *(f"{one.word}:" for _, one in topologies)]))
def test_any_text_is_a_network_or_a_clear_mistake(text: str, word: str) -> None:
    with contextlib.suppress(RequestError):
        assert parse_spec(word + text).nodes >= 1


TREE = "fat-tree:nodes=148,links-per-node=2,leaf-ports=32:16,spines=4,spine-ports=48"
THREE = "fat-tree:nodes=16,leaf-ports=2:2,spines=2,spine-ports=2:2,cores=4,core-ports=4"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ring:4", "names no topology"),
        ("torus", "torus needs shape"),
        ("torus:", "torus needs shape"),
        ("torus:4x0x2", "'4x0x2' has a direction without nodes"),
        ("torus:4x-2", "'4x-2' is not a list of extents"),
        ("torus:4x4,colour=red", "no option 'colour'"),
        ("torus:4x4,shape=4x4", "shape is given twice"),
        ("torus:4x4,link=1Gbit/s,link=2Gbit/s", "link is given twice"),
        ("torus:4x4,link=0Gbit/s", "link: '0Gbit/s' is no rate of a link: those are from 1 bit/s to 1e+18 bit/s"),
        # Loads divided by such rates are no finite number.
        ("torus:4x4,link=1e-300bit/s", "'1e-300bit/s' is too little"),
        ("torus:4x4,link=1e308bit/s", "'1e308bit/s' is too large for a rate"),
        # No array has so many dimensions.
        ("torus:1" + "x1" * 70, "is not a list of extents"),
        ("torus:4096x4096x4096", "more than 1048576"),
        ("hypercube:0", "dimension: '0' is not a whole number from 1 on"),
        ("hypercube:64", "dimension 64 has 2^64 nodes, more than 1048576"),
        ("hypercube:999999999", "more than 1048576"),
        # Few enough vertices, and more links than memory holds.
        ("dragonfly:routers=500000,nodes-per-router=1,global-links=1,groups=1", "links is more than 16777216"),
        ("dragonfly:routers=2,nodes-per-router=1,global-links=99999,groups=99999", "links is more than 16777216"),
        (
            "fat-tree:nodes=300000,leaf-ports=1:300000,spines=300000,spine-ports=300000",
            "a fat tree of 90000300000 links is more than 16777216",
        ),
        ("single-switch:-3", "nodes: '-3' is not a whole number"),
        ("single-switch:40,links-per-node=2,ports=48", "40 nodes × 2 links need 80"),
        (TREE.replace("leaf-ports=32:16", "leaf-ports=1:16"), "1 down ports hold no node of 2 links"),
        (TREE.replace("leaf-ports=32:16", "leaf-ports=32"), "0 up ports of a leaf switch do not reach 4 spines"),
        (
            TREE.replace("leaf-ports=32:16", "leaf-ports=32:18"),
            "do not divide evenly among 4 spines (2 left over)",
        ),
        (TREE.replace("leaf-ports=32:16", "leaf-ports=0:16"), "leaf-ports: '0:16' is not a number of ports"),
        (TREE.replace("spine-ports=48", "spine-ports=36"), "need 40 ports of every spine, it has 36"),
        (TREE.replace("spine-ports=48", "spine-ports=48:8"), "8 ports up, and there are no cores"),
        (TREE + ",core-ports=4", "core-ports needs a tree of three levels"),
        (TREE + ",cores=4,core-ports=4", "spine-ports gives no up ports"),
        (THREE.replace(",core-ports=4", ""), "core-ports are missing"),
        (THREE.replace("core-ports=4", "core-ports=3"), "4 pods need 4 ports of every core, it has 3"),
        (THREE.replace("cores=4", "cores=3"), "3 cores do not make 2 equal planes"),
        (THREE.replace("cores=4", "cores=6"), "2 up ports of a spine do not reach 3 cores of its plane"),
        (THREE + ",pod-leaves=3", "3 leaf switches × 1 links need 3 down ports of every spine, it has 2"),
        ("dragonfly:routers=4,nodes-per-router=2,global-links=2,groups=10", "9 groups at most"),
        ("dragonfly:routers=4,nodes-per-router=2", "dragonfly needs global-links"),
        ("dragonfly:routers=4,nodes-per-router=2,global-links=2,arrangement=palm", "unknown arrangement 'palm'"),
        ("dragonfly:4,routers=4,nodes-per-router=2,global-links=2", "no option '4'"),
        ("edges:/none/such.txt", "does not exist"),
    ],
)
def test_a_network_that_cannot_be_built_says_which_number_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(RequestError) as wrong:
        parse_spec(spec)
    assert message in wrong.value.message
    assert wrong.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b\nc\n", ":2: 'c' is linked to nothing"),
        ("a a\n", ":1: 'a' is linked to itself"),
        ("a b x0\n", ":1: '0' is not a whole number from 1 on"),
        ("a b x-2\n", ":1: '-2' is not a whole number from 1 on"),
        ("a b x999999999999999999999\n", ":1: 999999999999999999999 is too large: 999999999 is the most"),
        ("a b y2\n", ":1: 'y2' is not a rate"),
        ("a b x2 1Gbit/s more\n", ":1: 'more' does not belong here"),
        ("a b\n\nb a\n", ":3: the link of 'b' and 'a' is here a second time"),
        ("a s\nswitch s\n", ":2: 's' appears before it is declared"),
        ("switch\n", ":1: switch without a name"),
        ("switch a b\na b\n", "has no nodes"),
        ("# nothing\n", "has no nodes"),
        ("a b\nc d\nd e\n", "cannot be reached from a: c, d, e"),
        ("node a b\n", "cannot be reached from a: b"),
    ],
)
def test_a_line_that_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path / "network.txt", text)
    with pytest.raises(RequestError) as wrong:
        parse_spec(f"edges:{path}")
    assert message in wrong.value.message
    if message.startswith(":"):
        assert wrong.value.message.startswith(str(path))


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "network.txt"
    path.write_bytes(b"a b\n\xff\xfe")
    with pytest.raises(RequestError, match="is not text"):
        parse_spec(f"edges:{path}")


@pytest.mark.parametrize(
    "spec",
    [
        "single-switch:1000000000",
        "torus:1000000000000x1000000000000",
        "fat-tree:nodes=8,leaf-ports=4:1000000000,spines=2,spine-ports=4",
        # More digits than int() reads.
        f"hypercube:1{'0' * 5000}",
    ],
)
def test_too_large_is_not_called_no_number(spec: str) -> None:
    with pytest.raises(RequestError, match=r"0 is too large: 999999999 is the most|at most 999999999 nodes"):
        parse_spec(spec)


def test_links_of_one_pair_with_rates_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path / "network.txt", "a b\nb a 5Gbit/s\n")
    assert parse_spec(f"edges:{path},link=1Gbit/s").bandwidth_bit_per_s.tolist() == [1e9, 5e9]
    with pytest.raises(RequestError) as wrong:
        parse_spec(f"edges:{path},link=5Gbit/s")
    assert "xN for parallel links of one rate" in wrong.value.hint


def test_a_number_of_nodes_taken_for_the_dimension_is_hinted_at() -> None:
    with refusing("", "hypercube:6 has 64 nodes"):
        parse_spec("hypercube:64")


@pytest.mark.parametrize("spec", ["single-switch:64", "fat-tree:nodes=8,leaf-ports=4:4,spines=2,spine-ports=4"])
def test_both_spellings_of_a_topology(spec: str) -> None:
    word, _, rest = spec.partition(":")
    assert parse_spec(f"{word.replace('-', '_')}:{rest}").spec == parse_spec(spec).spec == spec
