"""The MPI library's own algorithms: found, selected, and proved to be the ones that run.

The proof is who sends how much to whom, compared with what each algorithm is defined to send: counted by Open MPI
where it counts, and by the kernel, connection by connection, in launches where every message travels by TCP.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.runner.library.messages import (
    RANKS,
    ROOT,
    SIZE_B,
    agrees,
    around,
    binary_by_levels,
    binomial_by_doubling,
    chains,
    expectations,
    knomial,
    linear,
    whole,
)
from tests.runner.library.probe import Probe, build, through_tcp

from hockney.runner.library import INTEL_PRESETS, launch_variants
from hockney.runner.mpi import Mpi

OPERATIONS = sorted(INTEL_PRESETS)


TRIES = 3
"""The kernel counts bytes when they are acknowledged: on a busy machine some after the answer."""


@pytest.mark.parametrize("kind", ["openmpi", "mpich", "intel"])
def test_the_expectations_tell_algorithms_apart(kind: str) -> None:
    """Else a selection without any effect could pass: no operation has one pattern twice."""
    entries = list(expectations(kind).items())
    for i, (key, expected) in enumerate(entries):
        for other_key, other in entries[:i]:
            assert key[0] != other_key[0] or not agrees(expected, other), (key, other_key)


def test_the_messages_are_those_of_the_selected_algorithm(probe: Probe) -> None:
    if probe.mpi.kind not in ("openmpi", "mpich"):
        pytest.skip("selects at launch, if at all")
    with probe.talk(RANKS, through_tcp(probe.mpi)) as conversation:
        known = {(a["operation"], a["name"]) for a in conversation.algorithms()}
        before = np.array(conversation.run("bcast", "default", SIZE_B, root=ROOT)["sockets_B"])
        tried = 0
        for (operation, algorithm, segment_B, radix), expected in expectations(probe.mpi.kind).items():
            if (operation, algorithm) not in known:
                continue
            tried += 1
            count = SIZE_B // 4 if "reduce" in operation else SIZE_B
            for _ in range(TRIES):
                answer = conversation.run(
                    operation, algorithm, count, segment_B=segment_B, radix=radix, root=ROOT
                )
                assert answer["type"] == "run", answer
                assert answer["right"]
                sent = np.array(answer["sockets_B"])
                if agrees(sent, expected):
                    break
            else:
                pytest.fail(f"{operation} {algorithm} sends\n{sent}\nand not\n{expected}")
        assert tried >= 2, "nothing was proved"
        after = np.array(conversation.run("bcast", "default", SIZE_B, root=ROOT)["sockets_B"])
        assert agrees(after, before), "a selection has outlived its communicator"


def test_open_mpi_counts_the_messages_of_the_selected_algorithm(probe: Probe) -> None:
    """To the message and the byte."""
    if probe.mpi.kind != "openmpi":
        pytest.skip("only Open MPI counts messages")
    size_B, segment_B = 40_000, 8192
    cases = {
        ("bcast", "tuned:basic_linear", 0, 0): (linear(RANKS), 1),
        ("bcast", "tuned:pipeline", segment_B, 0): (chains(RANKS, 1), math.ceil(size_B / segment_B)),
        ("bcast", "tuned:chain", segment_B, 2): (chains(RANKS, 2), math.ceil(size_B / segment_B)),
        ("bcast", "tuned:binomial", 0, 0): (binomial_by_doubling(RANKS), 1),
        ("bcast", "tuned:binary_tree", 0, 0): (binary_by_levels(RANKS), 1),
        ("bcast", "tuned:knomial", 0, 3): (knomial(RANKS, 3), 1),
        ("bcast", "sm:default", 0, 0): ([], 1),
    }
    with probe.talk(RANKS, {"OMPI_MCA_pml_monitoring_enable": "1"}) as conversation:
        if "messages" not in conversation.run("bcast", "default", size_B):
            pytest.skip("this Open MPI does not offer its message counters")
        for (operation, algorithm, segment, radix), (tree, messages) in cases.items():
            answer = conversation.run(operation, algorithm, size_B, segment_B=segment, radix=radix, root=ROOT)
            np.testing.assert_array_equal(answer["messages"], whole(tree, RANKS, ROOT, messages), algorithm)
            np.testing.assert_array_equal(answer["bytes"], whole(tree, RANKS, ROOT, size_B), algorithm)
        # A barrier has no bytes, but it has messages: to rank 0 and back, or twice around.
        star = whole(linear(RANKS), RANKS, 0, 1)
        np.testing.assert_array_equal(conversation.run("barrier", "tuned:linear", 0)["messages"], star + star.T)
        double_ring = conversation.run("barrier", "tuned:double_ring", 0)["messages"]
        np.testing.assert_array_equal(double_ring, around(RANKS, 2))


@pytest.mark.parametrize("ranks", [2, pytest.param(5, marks=pytest.mark.one_mpi)])
def test_every_algorithm_delivers_or_says_that_it_does_not(probe: Probe, ranks: int) -> None:
    with probe.talk(ranks) as conversation:
        worked: set[str] = set()
        for entry in conversation.algorithms():
            operation, name = entry["operation"], entry["name"]
            for segment_B in (0, 256) if entry["segmented"] else (0,):
                answer = conversation.run(operation, name, 4096, segment_B=segment_B, root=1, repetitions=2)
                if answer["type"] == "refused":
                    assert answer["message"].startswith(name)
                    continue
                assert answer["right"] or answer["failed"], f"{operation} {name} gives wrong data"
                if answer["right"]:
                    worked.add(operation)
        if probe.mpi.kind in ("openmpi", "mpich"):
            assert sorted(worked) == OPERATIONS


def test_an_algorithm_is_refused_where_another_would_run(probe: Probe) -> None:
    refusals = {
        "openmpi": {
            ("allgather", "tuned:neighbor", 64): "an even number of ranks, not 5",
            ("allgather", "tuned:two_proc", 64): "exactly 2 ranks, not 5",
            ("allreduce", "tuned:ring", 4): "at least 20 bytes on 5 ranks",
            ("bcast", "tuned:scatter_allgather", 4): "at least 5 bytes on 5 ranks",
            ("bcast", "tuned:split_binary_tree", 1): "a vector of at least two elements and two segments",
        },
        "mpich": {
            ("allgather", "mpir:recursive_doubling", 64): "a power of two of ranks, not 5",
            ("allreduce", "mpir:reduce_scatter_allgather", 3): "at least 16 bytes on 5 ranks",
        },
    }
    if probe.mpi.kind not in refusals:
        pytest.skip("no algorithm of this library is selected while it runs")
    with probe.talk(5) as conversation:
        for (operation, name, elements), reason in refusals[probe.mpi.kind].items():
            answer = conversation.run(operation, name, elements)
            assert answer == {"type": "refused", "message": f"{name} needs {reason}"}


def test_small_segments_are_messages_of_their_own(probe: Probe) -> None:
    """64 KiB in messages of 16 B or in one: 4,095 further headers, of 8 B at least (`adapt` hangs)."""
    size_B, segment_B, least_header_B = 65536, 16, 8
    with probe.talk(2, through_tcp(probe.mpi)) as conversation:
        known = {a["name"] for a in conversation.algorithms() if a["operation"] == "bcast"}
        segmented = known & {"tuned:chain", "tuned:pipeline", "tuned:binomial", "mpir:pipelined_tree"}
        if not segmented:
            pytest.skip("no algorithm of this library takes segments")
        for name in sorted(segmented):
            in_one_B, in_many_B = (
                conversation.run("bcast", name, size_B, segment_B=segment)["sockets_B"][0][1]
                for segment in (0, segment_B)
            )
            assert in_one_B >= size_B, name
            assert in_many_B - in_one_B >= least_header_B * (size_B // segment_B - 1), name


def test_shared_memory_algorithms_use_shared_memory(probe: Probe) -> None:
    """They send no messages to be counted; they map memory that message passing does not need.

    Twenty calls, because MPICH's own choice takes to shared memory after a few: to keep it from doing so is part
    of a selection. A library that passes messages within a node all the same (Debian's MPICH) says so.
    """
    with probe.talk(2) as conversation:
        known = [(a["operation"], a["name"]) for a in conversation.algorithms()]
        through_memory = [x for x in known if x[1] in ("posix:release_gather", "sm:default")]
        if not through_memory:
            pytest.skip("this library has none")
        for operation, name in through_memory:
            nothing = {
                "mpir:binomial",
                "mpir:recursive_doubling",
                "mpir:nb",
                "tuned:linear",
                "tuned:basic_linear",
            }
            for plain in [n for o, n in known if o == operation and n in nothing]:
                conversation.run(
                    operation, plain, 64, repetitions=2
                )  # what message passing maps is mapped by now
                answer = conversation.run(operation, plain, 64, repetitions=20)
                assert answer["shared_more_B"] <= 0, (operation, plain)
            answer = conversation.run(operation, name, 64, repetitions=20)
            if answer["type"] == "refused" and probe.mpi.kind == "mpich":
                assert answer["message"].endswith("this library passes messages all the same")
            else:
                assert answer["shared_more_B"] > 0, (operation, name)


@pytest.mark.one_mpi
def test_without_mpi_t_there_is_the_default_alone(mpi: Mpi, tmp_path: Path) -> None:
    program = build(mpi, tmp_path / "probe", "-DHOCKNEY_NO_MPI_T")
    with Probe(mpi, program).talk(2) as conversation:
        assert conversation.algorithms() == []
        assert conversation.run("allreduce", "default", 100)["right"]


def test_intels_presets_are_those_that_run(probe: Probe) -> None:
    if probe.mpi.kind != "intel":
        pytest.skip("of Intel MPI alone")
    variants = {(v.operation, v.algorithm): v.environment for v in launch_variants(probe.mpi, OPERATIONS)}
    for (operation, preset, _, _), expected in expectations("intel").items():
        environment = through_tcp(probe.mpi) | dict(variants[operation, f"adjust:{preset}"])
        with probe.talk(RANKS, environment) as conversation:
            answer = conversation.run(operation, "default", SIZE_B, root=ROOT)
        assert answer["right"]
        assert agrees(np.array(answer["sockets_B"]), expected), (operation, preset)
