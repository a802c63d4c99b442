"""Rules from cells, and their way through each target's form and back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hockney.errors import RequestError
from hockney.models.over_ranks.choice import Time
from hockney.tune.cells import CallTimes
from hockney.tune.choose import choose, choose_whole
from hockney.tune.rules import Method, Rule, find
from hockney.tune.targets.base import Reader, targets

A, B = Method("tuned:binomial"), Method("tuned:chain", 8192, 4)


def time(seconds: float) -> Time:
    return Time(seconds, seconds * 0.95, seconds * 1.05)


def cell(size_B: int, default: float, a: float, b: float) -> CallTimes:
    return CallTimes("bcast", 8, size_B, time(default), {A: time(a), B: time(b)})


def test_a_rule_is_only_where_the_gain_is_beyond_its_interval() -> None:
    # 5 % on each side: 1.05 is within, 2 beyond.
    chosen = choose([cell(100, 1.05, 1.0, 3.0), cell(400, 2.0, 1.0, 3.0), cell(1600, 2.0, 3.0, 1.0)])
    assert chosen.rules == [Rule("bcast", 8, 8, 201, 800, *A), Rule("bcast", 8, 8, 801, 1600, *B)]
    assert [one.algorithm for one in chosen.decisions] == [None, A, B]
    assert find(chosen.rules, "bcast", 8, 1601) is None


def test_neighbours_share_a_rule_where_nothing_is_faster() -> None:
    chosen = choose([cell(100, 2.0, 1.0, 1.01), cell(400, 2.0, 1.05, 1.0), cell(1600, 2.0, 1.0, 0.5)])
    assert [one.algorithm for one in chosen.decisions] == [A, A, B]
    assert [(rule.least_bytes, rule.most_bytes) for rule in chosen.rules] == [(100, 800), (801, 1600)]


def test_what_knows_no_bounds_takes_only_what_is_slower_nowhere() -> None:
    assert choose_whole([cell(1, 2.0, 1.0, 0.5), cell(9, 2.0, 2.0, 4.0)]).rules == [
        Rule("bcast", 1, None, 0, None, *A)
    ]
    assert choose_whole([cell(1, 2.0, 1.0, 0.5), cell(9, 2.0, 4.0, 4.0)]).rules == []


NAMES = {
    **dict.fromkeys(("openmpi_classic", "openmpi_v2", "openmpi_json"), ("tuned:linear", "tuned:pairwise")),
    "intel_env": ("adjust:1", "adjust:3"),
    "hockney": ("linear", "pairwise"),
}
LIBRARY = Reader("Open MPI 5.0.11", (5, 0, 11))


@pytest.mark.parametrize("name", sorted(NAMES))
def test_rules_come_back_from_their_form(name: str) -> None:
    first, second = (Method(word) for word in NAMES[name])
    rules = [
        Rule("alltoall", 4, 5, 8, 100, *first),
        Rule("alltoall", 4, 5, 101, 4096, *second),
        Rule("alltoall", 8, 8, 0, 64, *second),
    ]
    target = targets.get(name)
    assert target.read(target.write(rules, LIBRARY, "a comment"), LIBRARY) == rules


def test_our_rules_are_of_algorithms_that_are_a_choice() -> None:
    knows = targets.get("hockney").knows
    assert knows("bcast", "pipeline", LIBRARY)
    assert not knows("bcast", "blocking_pipeline", LIBRARY)


def test_variables_of_mpich_come_back() -> None:
    target, rules = targets.get("mpich_cvars"), [Rule("bcast", 1, None, 0, None, "mpir:binomial")]
    assert target.read(target.write(rules, LIBRARY, ""), LIBRARY) == rules
    assert target.refuses(replace(rules[0], most_bytes=9), LIBRARY)


def test_open_mpi_counts_the_blocks_of_all_ranks() -> None:
    rules = [Rule("alltoall", 4, 4, 8, 100, "tuned:pairwise")]
    text = targets.get("openmpi_classic").write(rules, LIBRARY, "")
    assert "\n32 2 0 0 " in text
    assert "\n401 0 0 0 " in text


def test_ranks_or_bytes_in_two_entries_of_json_are_refused() -> None:
    """Open MPI takes the first entry that fits, and nothing of the second."""
    rule = {"msg_size_min": 0, "msg_size_max": 8, "alg": "chain", "faninout": 4}
    entry = {"comm_size_min": 4, "comm_size_max": 8, "rules": [rule]}
    target, library = targets.get("openmpi_json"), Reader("Open MPI 6.0.0", (6, 0, 0))
    for entries, said in (
        ([entry, {**entry, "comm_size_min": 8, "comm_size_max": "inf"}], "two entries for 8 ranks"),
        ([{**entry, "rules": [rule, {**rule, "msg_size_max": 4}]}], "two entries for 0 bytes"),
    ):
        text = json.dumps({"rule_file_version": 3, "module": "tuned", "collectives": {"bcast": entries}})
        with pytest.raises(RequestError, match=said):
            target.read(text, library)


@pytest.mark.parametrize(
    ("operation", "number", "six", "five"),
    [
        ("allgather", 2, Method("tuned:bruck-k-fanout", 0, 3), "tuned:bruck"),
        ("allgather", 8, Method("tuned:direct-messaging"), ""),
        ("allreduce", 7, Method("tuned:allgather_reduce"), ""),
        ("reduce", 8, Method("tuned:knomial"), ""),
        ("reduce", 7, Method("tuned:rabenseifner"), "tuned:rabenseifner"),
    ],
)
def test_open_mpi_6_has_names_of_its_own(operation: str, number: int, six: Method, five: str) -> None:
    """As in the table of its documentation; a number stands for the name."""
    target, library = targets.get("openmpi_json"), Reader("Open MPI 6.0.0", (6, 0, 0))
    assert target.knows(operation, six.algorithm, library)
    assert targets.get("openmpi_v2").knows(operation, six.algorithm, LIBRARY) == (six.algorithm == five)
    assert not five or target.knows(operation, five, library) == (six.algorithm == five)
    message = {"alg": number, "faninout": six.radix}
    entry = {"comm_size_min": 4, "comm_size_max": 4, "rules": [message]}
    collectives = {operation: [entry]}
    text = json.dumps({"rule_file_version": 3, "module": "tuned", "collectives": collectives})
    assert [rule.method for rule in target.read(text, library)] == [six]


def test_bruck_of_open_mpi_6_needs_its_radix() -> None:
    rule = Rule("allgather", 4, 4, 0, 8, "tuned:bruck-k-fanout")
    target, library = targets.get("openmpi_json"), Reader("Open MPI 6.0.0", (6, 0, 0))
    assert "needs a radix" in target.refuses(rule, library)
    assert target.refuses(replace(rule, radix=2), library) == ""
