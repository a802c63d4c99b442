"""Rules loaded by the library itself: absurd ones show in what is sent, where they hold and nowhere else.

What an algorithm sends is what the same library sends when the algorithm is selected by its own variables, which
other tests prove; who sends how much to whom is counted by the kernel, as every message travels by TCP.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.processes import captured
from tests.runner.library.messages import ROOT, SIZE_B, TOLERANCE_B, Matrix
from tests.runner.library.probe import Conversation, Probe, through_tcp

from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.library import INTEL_PRESETS
from hockney.runner.mpi import Mpi
from hockney.tune.rules import Method, Rule, in_order
from hockney.tune.targets.base import Reader, targets
from hockney.units import version_in

RANKS = 6 if "HOCKNEY_TEST_ALL" in os.environ else 4
"""Waiting takes as many processors as there are ranks."""
NEAR_B = 4
"""How far off the sizes are to which no rule applies: one element."""
BARRIER_TOLERANCE_B = 5
"""A message of a barrier takes 13 B or more."""
MOST_COUNTS = 8
"""Of one call, until two agree: a library that waits for a processor has messages of its own in between, as the
rest of its connecting, which a single count would take for the algorithm's."""

ABSURD: dict[str, dict[str, list[Method]]] = {
    "openmpi": {
        "barrier": [Method("tuned:double_ring")],
        "bcast": [Method("tuned:chain", 8192, 2)],
        "reduce": [Method("tuned:pipeline", 8192)],
        "allreduce": [Method("tuned:basic_linear")],
        "gather": [Method("tuned:binomial")],
        "scatter": [Method("tuned:binomial")],
        "allgather": [Method("tuned:neighbor")],
        "alltoall": [Method("tuned:modified_bruck")],
        "reduce_scatter": [Method("tuned:non-overlapping")],
    },
    "mpich": {
        "barrier": [Method("mpir:recexch")],
        "bcast": [Method("mpir:pipelined_tree", 65536, 5), Method("mpir:scatter_ring_allgather")],
        "reduce": [Method("mpir:binomial")],
        "allreduce": [Method("mpir:tree", 65536, 3), Method("mpir:recursive_doubling")],
        "allgather": [Method("mpir:recexch_halving"), Method("mpir:brucks")],
        "alltoall": [Method("mpir:brucks")],
        "reduce_scatter": [Method("mpir:recursive_doubling")],
    },
}
"""Of each the first that the version has; none that calls another operation, for which a rule holds too.

MPICH's gather and scatter have one pattern: `binomial`, also as `nb`.
"""
UNSEEN = {"mpich": {"gather": "mpir:nb", "scatter": "mpir:nb"}}
"""Rules that change nothing that can be counted, and must be loaded all the same."""
NOT_YET: dict[tuple[str, tuple[int, ...]], set[str]] = {("mpich", (4, 0)): {"barrier"}}
"""Operations with an absurd rule in later versions only: on one node all of its algorithms send the same."""


@dataclass(frozen=True)
class Loaded:
    """A form of rules that this library reads."""

    probe: Probe
    name: str

    @property
    def library(self) -> Reader:
        mpi = self.probe.mpi
        return Reader(mpi.describe(), version_in(mpi.version), mpi.wrapper)

    @property
    def of_version(self) -> tuple[str, tuple[int, ...]]:
        return self.probe.mpi.kind, self.library.version[:2]

    def environment(self, rules: list[Rule], path: Path) -> Mapping[str, str]:
        """Write the rules, and give what a launch needs to load them."""
        target = targets.get(self.name)
        rules = in_order(target.complete(rule) for rule in rules)
        assert not [why for rule in rules if (why := target.refuses(rule, self.library))]
        text = target.write(rules, self.library, "absurd")
        assert target.read(text, self.library) == rules
        path.write_text(text, encoding="utf-8")
        return target.settings(path, rules)


READERS = {
    "openmpi_classic": "openmpi",
    "openmpi_v2": "openmpi",
    "mpich_json": "mpich",
    "mpich_cvars": "mpich",
}
QUICK = ("openmpi_classic", "mpich_json")
"""The others are loaded where all is tested: they share what writes these."""
NEAR = {
    "bcast": ("bcast",),
    "all": tuple(INTEL_PRESETS),
}
"""Operations whose rules are tried one element off, and on one rank less; all where all is tested: what writes
the bounds of a rule is the same for each."""
FORMS = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.thorough) for name in sorted(READERS)]


@pytest.fixture(params=FORMS)
def loaded(probe: Probe, request: pytest.FixtureRequest) -> Loaded:
    """Each form that this library reads; skips the others."""
    target = targets.get(request.param)
    version = version_in(probe.mpi.version)
    first, end = target.versions
    if READERS[request.param] != probe.mpi.kind or version < first or (end and version >= end):
        pytest.skip(f"{probe.mpi.describe()} does not read it")
    return Loaded(probe, request.param)


def sent(conversation: Conversation, operation: str, size_B: int, algorithm: Method | None = None) -> Matrix:
    """Bytes that each rank sends to each in one call: the first count that agrees with one before it."""
    elements = size_B // 4 if "reduce" in operation else size_B
    counts: list[Matrix] = []
    for _ in range(MOST_COUNTS):
        answer = conversation.run(
            operation,
            algorithm.algorithm if algorithm else "default",
            0 if operation == "barrier" else elements,
            segment_B=algorithm.segment_bytes if algorithm else 0,
            radix=algorithm.radix if algorithm else 0,
            root=ROOT,
        )
        assert answer["type"] == "run", answer
        assert answer["right"], (operation, algorithm)
        now = np.array(answer["sockets_B"])
        if any(agree(before, now, operation) for before in counts):
            return now
        counts.append(now)
    pytest.fail(f"{operation} {algorithm}: no two of {MOST_COUNTS} counts agree: {counts}")


def agree(one: Matrix, other: Matrix, operation: str) -> bool:
    tolerance_B = BARRIER_TOLERANCE_B if operation == "barrier" else TOLERANCE_B
    return bool(np.abs(one - other).max() <= tolerance_B)


def becomes(conversation: Conversation, operation: str, size_B: int, expected: Matrix) -> bool:
    """Whether the library's own choice sends this."""
    return agree(sent(conversation, operation, size_B), expected, operation)


def absurd(probe: Probe, conversation: Conversation) -> dict[str, Method]:
    """For each operation an algorithm that nobody would choose there, and that this version has."""
    known = {(one["operation"], one["name"]) for one in conversation.algorithms()}
    chosen = {
        operation: next((one for one in choices if (operation, one.algorithm) in known), None)
        for operation, choices in ABSURD[probe.mpi.kind].items()
    }
    return {operation: one for operation, one in chosen.items() if one is not None}


def rule_of(operation: str, algorithm: Method, *, whole: bool) -> Rule:
    if whole:
        return Rule(operation, 1, None, 0, None, *algorithm)
    size_B = 0 if operation == "barrier" else SIZE_B
    return Rule(operation, RANKS, RANKS, size_B, size_B, *algorithm)


@pytest.mark.parametrize("near", ["bcast", pytest.param("all", marks=pytest.mark.thorough)])
def test_an_absurd_rule_shows_where_it_holds_and_nowhere_else(loaded: Loaded, near: str, tmp_path: Path) -> None:
    """At its ranks and its very size, not one element off; and it is gone without the file."""
    probe, whole = loaded.probe, targets.get(loaded.name).whole
    tcp = through_tcp(probe.mpi)
    sizes = {
        name: [SIZE_B - NEAR_B, SIZE_B, SIZE_B + NEAR_B] if name in NEAR[near] and name != "barrier" else [SIZE_B]
        for name in ABSURD[probe.mpi.kind]
    }
    with probe.talk(RANKS, tcp) as conversation:
        chosen = absurd(probe, conversation)
        assert chosen.keys() == ABSURD[probe.mpi.kind].keys() - NOT_YET.get(loaded.of_version, set())
        own = {(name, size): sent(conversation, name, size) for name in chosen for size in sizes[name]}
        other = {name: sent(conversation, name, SIZE_B, algorithm) for name, algorithm in chosen.items()}
    for name in chosen:
        assert not agree(own[name, SIZE_B], other[name], name), f"{name}: nothing would show"

    rules = [rule_of(name, algorithm, whole=whole) for name, algorithm in chosen.items()]
    environment = dict(loaded.environment(rules, tmp_path / "rules"))
    with probe.talk(RANKS, tcp | environment) as conversation:
        for name in chosen:
            assert becomes(conversation, name, SIZE_B, other[name]), name
            for size_B in sizes[name]:
                if size_B != SIZE_B and not whole:
                    assert becomes(conversation, name, size_B, own[name, size_B]), (name, size_B)
    with probe.talk(RANKS - 1, tcp) as before, probe.talk(RANKS - 1, tcp | environment) as conversation:
        for name in chosen.keys() & NEAR[near] if not whole else []:
            assert becomes(conversation, name, SIZE_B, sent(before, name, SIZE_B)), name
    with probe.talk(RANKS, tcp) as conversation:
        for name in chosen.keys() & NEAR[near]:
            assert becomes(conversation, name, SIZE_B, own[name, SIZE_B]), f"{name} has outlived the file"


def test_segments_of_a_rule_are_messages_of_their_own(loaded: Loaded, tmp_path: Path) -> None:
    """64 KiB in messages of 16 B: 4,095 further headers, of 8 B at least."""
    size_B, segment_B, least_header_B = 65536, 16, 8
    probe, whole = loaded.probe, targets.get(loaded.name).whole
    tcp = through_tcp(probe.mpi)
    name = {"openmpi": "tuned:pipeline", "mpich": "mpir:pipelined_tree"}[probe.mpi.kind]
    with probe.talk(2, tcp) as conversation:
        if name not in {one["name"] for one in conversation.algorithms() if one["operation"] == "bcast"}:
            pytest.skip(f"{probe.mpi.describe()} has no {name}")
        plain_B = sent(conversation, "bcast", size_B)[ROOT, 0]
    least, most = (0, None) if whole else (size_B, size_B)
    rule = Rule("bcast", 1 if whole else 2, None if whole else 2, least, most, name, segment_B)
    environment = dict(loaded.environment([rule], tmp_path / "rules"))
    with probe.talk(2, tcp | environment) as conversation:
        cut_B = sent(conversation, "bcast", size_B)[ROOT, 0]
    assert cut_B - plain_B >= least_header_B * (size_B // segment_B - 1)


def test_the_usual_radix_is_the_librarys(probe: Probe) -> None:
    if probe.mpi.kind not in ("openmpi", "mpich"):
        pytest.skip("no radix is known")
    target = targets.get({"openmpi": "openmpi_classic", "mpich": "mpich_cvars"}[probe.mpi.kind])
    library = Reader(probe.mpi.describe(), version_in(probe.mpi.version), probe.mpi.wrapper)
    with probe.talk(2) as conversation:
        known = [
            one
            for one in conversation.algorithms()
            if target.knows(one["operation"], one["name"], library) and one["name"] != "tuned:knomial"
        ]
    assert known
    # MPICH 4.0 gives none of these a radix.
    assert any(one["radix"] for one in known) == (library.version[:2] != (4, 0))
    for one in known:
        rule = target.complete(Rule(one["operation"], 1, None, 0, None, one["name"]))
        assert rule.radix == one["radix"], one


@pytest.fixture(scope="module")
def odd_calls(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("odd") / "odd_calls"
    source = Path(__file__).with_name("odd_calls.c")
    subprocess.run([str(mpi.wrapper), str(source), "-o", str(program)], env=mpi.full_environment(), check=True)
    return program


@pytest.mark.parametrize("with_rules", [False, True])
def test_calls_that_an_algorithm_cannot_do_are_right_all_the_same(
    loaded: Loaded, odd_calls: Path, tmp_path: Path, *, with_rules: bool
) -> None:
    """Under absurd rules for all sizes. Of Open MPI's only in place: its rules do not know operators."""
    probe, ranks = loaded.probe, 4
    if loaded.name == "mpich_cvars" and with_rules:
        pytest.skip("variables hold for every call, and MPICH itself looks whether they can")
    with probe.talk(2) as conversation:
        chosen = absurd(probe, conversation) if with_rules else {}
    rules = [Rule(name, 1, ranks, 0, None, *algorithm) for name, algorithm in chosen.items()]
    if loaded.name == "mpich_json":
        more = {name: Method(word) for name, word in UNSEEN["mpich"].items()} if with_rules else {}
        rules += [Rule(name, 1, ranks, 0, None, *algorithm) for name, algorithm in more.items()]
    environment = loaded.environment(rules, tmp_path / "rules")
    crowded = ranks > len(os.sched_getaffinity(0))
    argv, variables = command(
        probe.mpi, LaunchRequest(ranks, oversubscribe=crowded, environment=dict(environment))
    )
    words = ["in-place-only"] if probe.mpi.kind == "openmpi" and with_rules else []
    done = captured(
        [*argv, str(odd_calls), *words], env={**probe.mpi.full_environment(), **variables}, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_open_mpi_drops_rules_without_a_size_of_0_and_says_nothing(loaded: Loaded, tmp_path: Path) -> None:
    """Why the reader refuses such a file."""
    if loaded.name != "openmpi_classic":
        pytest.skip("of Open MPI's rows of numbers")
    probe, tcp = loaded.probe, through_tcp(loaded.probe.mpi)
    tree = Rule("bcast", RANKS, RANKS, SIZE_B, SIZE_B, "tuned:chain", 0, 2)
    environment = dict(loaded.environment([tree], tmp_path / "rules"))
    (tmp_path / "rules").write_text(f"1 7 1 {RANKS} 1 {SIZE_B} 2 2 0\n", encoding="utf-8")
    with probe.talk(RANKS, tcp) as conversation:
        own = sent(conversation, "bcast", SIZE_B)
        other = sent(conversation, "bcast", SIZE_B, tree.method)
    assert not agree(own, other, "bcast")
    with probe.talk(RANKS, tcp | environment) as conversation:
        assert becomes(conversation, "bcast", SIZE_B, own)


def test_each_operation_has_an_absurd_rule_or_a_reason() -> None:
    for kind, of_kind in ABSURD.items():
        assert sorted({*of_kind, *UNSEEN.get(kind, {})}) == sorted(INTEL_PRESETS)
