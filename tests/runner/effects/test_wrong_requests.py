"""A wrong request of an effect is refused in words, and the next is answered."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runner.sessions import LIMIT_S, UNTIL, session_of

from hockney.errors import RequestError
from hockney.runner.session import Session

session = session_of(6, bind_to="none")
GOOD: dict[str, dict[str, Any]] = {
    "datatypes": {
        "members": (0, 1), "way": "send", "layout": "vector", "blocks": 4, "block_B": 8, "stride_B": 16,
        "planted_block_s": 0, "planted_line_s": 0,
    },
    "matching": {
        "members": (0, 1), "queue": "posted", "ahead": 3, "behind": 0, "by": "tag", "source": "named",
        "planted_entry_s": 0,
    },
    "congestion": {"members": (0, 1, 2, 3), "pairs": "0,1", "bytes": 4096, "window": 4, "sample_s": 0},
    "subsets": {
        "members": range(6), "of": "alltoall", "algorithm": "default", "ranks": 3, "bytes": 64, "segment_B": 0,
        "radix": 0, "arrangement": "blocks", "part": "together",
    },
}  # fmt: skip


def ask(session: Session, effect: str, wrong: dict[str, Any]) -> dict[str, Any]:
    asked = {**GOOD[effect], "repetitions": 2, **UNTIL, **wrong}
    return session.effect(LIMIT_S, operation=effect, **asked).as_said()


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    ("effect", "wrong", "words"),
    [
        ("datatypes", {"way": "fly"}, "fly"),
        ("datatypes", {"layout": "sphere"}, "sphere"),
        ("datatypes", {"stride_B": 3}, "stride_B"),
        ("datatypes", {"blocks": 0}, "blocks must be at least 1"),
        ("datatypes", {"blocks": 2**30}, "1 GiB"),
        ("datatypes", {"layout": "face_x", "side": 0}, "side"),
        ("matching", {"queue": "late"}, "posted or unexpected"),
        ("matching", {"by": "source"}, "three"),
        ("matching", {"by": "colour"}, "tag or source"),
        ("matching", {"source": "some"}, "named or any"),
        ("matching", {"ahead": -1}, "ahead"),
        ("matching", {"ahead": 10**6}, "16384"),
        ("matching", {"members": (0, 1, 2)}, "two members"),
        ("matching", {"members": (0, 1, 2), "by": "source", "source": "any"}, "any source"),
        ("congestion", {"pairs": "0,1,2"}, "pairs"),
        ("congestion", {"pairs": "0,0"}, "pairs"),
        ("congestion", {"pairs": "0,4"}, "pairs"),
        ("congestion", {"window": 0}, "window"),
        ("congestion", {"bytes": -1}, "bytes must be"),
        ("congestion", {"sample_s": -1}, "sample_s must be"),
        ("subsets", {"ranks": 4}, "ranks"),
        ("subsets", {"ranks": 1}, "ranks"),
        ("subsets", {"of": "pingpong"}, "operation"),
        ("subsets", {"algorithm": "guess"}, "algorithm"),
        ("subsets", {"bytes": -1}, "bytes"),
        ("subsets", {"repetitions": -1}, "repetitions"),
    ],
)
def test_it_is_refused_and_the_next_is_answered(
    session: Session, effect: str, wrong: dict[str, Any], words: str
) -> None:
    with pytest.raises(RequestError, match=words):
        ask(session, effect, wrong)
    assert ask(session, effect, {})["verified"] is True
