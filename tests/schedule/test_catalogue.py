"""Algorithms that make the same schedule have the same signature."""

from __future__ import annotations

from hockney.schedule.catalogue import by_name_alone, find, offered, signature


def bcast(name: str, ranks: int, size_B: int = 64, segment_B: int = 0, radix: int = 0) -> int | None:
    return signature("bcast", name, ranks=ranks, size_B=size_B, segment_B=segment_B, radix=radix)


def test_a_tree_of_two_ranks_is_one_message() -> None:
    trees = [bcast(name, 2) for name in ("linear", "chain", "binary", "binomial", "knomial")]
    assert len(set(trees)) == 1
    assert trees[0] is not None
    assert bcast("scatter_allgather", 2) not in trees
    assert bcast("linear", 2, size_B=65) not in trees


def test_schedules_differ_where_their_messages_do() -> None:
    assert bcast("linear", 4) == bcast("knomial", 4, radix=4)
    assert bcast("linear", 4) != bcast("knomial", 4, radix=3)
    assert bcast("chain", 8) != bcast("chain", 8, segment_B=32)
    assert bcast("chain", 8) == bcast("chain", 8, segment_B=64)


def test_what_is_not_known_is_like_nothing() -> None:
    assert bcast("tuned:chain", 2) is None
    assert bcast("linear", 0) is None
    assert bcast("linear", 2**20) is None


def test_what_never_wins_is_known_but_no_choice() -> None:
    assert by_name_alone() == {("bcast", "blocking_pipeline")}
    names = {algorithm.name for algorithm in offered("bcast")}
    assert "pipeline" in names
    assert "blocking_pipeline" not in names
    assert find("bcast", "blocking_pipeline").name == "blocking_pipeline"
