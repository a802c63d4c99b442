"""Exported schedules, against text written by hand."""

from __future__ import annotations

from hockney.schedule.catalogue import ask
from hockney.schedule.formats import formats


def test_goal_of_one_message_is_a_send_and_a_receive() -> None:
    lines = list(formats.get("goal")(ask("bcast", "linear", ranks=2, size_B=100), 0.0))
    assert lines == [
        "num_ranks 2",
        "rank 0 {", "l0: send 100b to 1 tag 0", "}",
        "rank 1 {", "l0: recv 100b from 0 tag 0", "}",
    ]  # fmt: skip


def test_goal_of_a_reduction_waits_for_what_it_adds() -> None:
    # 100 B at half a nanosecond each; the root's own block of a gather is copied, which costs nothing.
    lines = list(formats.get("goal")(ask("reduce", "linear", ranks=2, size_B=100), 0.5))
    assert lines == [
        "num_ranks 2",
        "rank 0 {", "l0: recv 100b from 1 tag 0", "l1: calc 50", "l1 requires l0", "}",
        "rank 1 {", "l0: send 100b to 0 tag 0", "}",
    ]  # fmt: skip
    gathered = list(formats.get("goal")(ask("gather", "linear", ranks=2, size_B=100), 0.5))
    assert gathered[1:5] == ["rank 0 {", "l0: calc 0", "l1: recv 100b from 1 tag 0", "}"]
