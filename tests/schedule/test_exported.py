"""Exported schedules, against text written by hand."""

from __future__ import annotations

from hockney.schedule import goal
from hockney.schedule.catalogue import ask


def exported(*schedule: str, reduce_ns_per_B: float = 0.0) -> list[str]:
    """Lines of a text for two ranks and 100 B."""
    blocks = goal.goal(ask(*schedule, ranks=2, size_B=100), reduce_ns_per_B)
    return "\n".join(blocks).split("\n")


def test_goal_of_one_message_is_a_send_and_a_receive() -> None:
    assert exported("bcast", "linear") == [
        "num_ranks 2",
        "rank 0 {", "l0: send 100b to 1 tag 0", "}",
        "rank 1 {", "l0: recv 100b from 0 tag 0", "}",
    ]  # fmt: skip


def test_goal_of_a_reduction_waits_for_what_it_adds() -> None:
    # 100 B at half a nanosecond each; the root's own block of a gather is copied, which costs nothing.
    assert exported("reduce", "linear", reduce_ns_per_B=0.5) == [
        "num_ranks 2",
        "rank 0 {", "l0: recv 100b from 1 tag 0", "l1: calc 50", "l1 requires l0", "}",
        "rank 1 {", "l0: send 100b to 0 tag 0", "}",
    ]  # fmt: skip
    assert exported("gather", "linear", reduce_ns_per_B=0.5)[1:5] == [
        "rank 0 {",
        "l0: calc 0",
        "l1: recv 100b from 1 tag 0",
        "}",
    ]
