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
