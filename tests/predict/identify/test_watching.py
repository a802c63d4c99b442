"""Sets and switches by what calls send, of a library whose messages are planted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from hockney.predict.identify.watching import Sent, Unsteady, Watch, WatchedCall, WatchedSize, turns
from hockney.records.answers import Candidate as Offered

RANKS = 4
MPI = "Open MPI 5.0.11"


def star(size_B: int, messages: int = 1) -> Sent:
    """The root sends to everybody."""
    return edges([(0, child) for child in range(1, RANKS)], size_B, messages)


def chain(size_B: int, messages: int = 1) -> Sent:
    """Each rank sends to the next one."""
    return edges([(rank, rank + 1) for rank in range(RANKS - 1)], size_B, messages)


def edges(pairs: Sequence[tuple[int, int]], size_B: int, messages: int) -> Sent:
    count, total_B = np.zeros((2, RANKS, RANKS), dtype=np.int64)
    for pair in pairs:
        count[pair], total_B[pair] = messages, size_B
    return Sent(total_B, count)


def offered(*names: str, priority: int = 30, segmented: bool = False) -> list[Offered]:
    return [
        Offered(
            operation="bcast", algorithm=name, kind="library", segmented=segmented, radix=0, priority=priority
        )
        for name in names
    ]


def planted(default: Callable[[int], Sent | None], known: Sequence[Offered]) -> Watch:
    """`basic_linear` is a star, `pipeline` a chain in its segments, all others a star in two halves."""

    def count(asked: WatchedCall, size_B: int) -> Sent | None:
        name = asked.algorithm.partition(":")[2] or asked.algorithm
        if name == "default":
            return default(size_B)
        if name == "basic_linear":
            return star(size_B)
        if name == "pipeline":
            return chain(size_B, -(-size_B // asked.segment_B) if asked.segment_B else 1)
        return None if name == "two_proc" else star(size_B, 2)

    return Watch("bcast", MPI, RANKS, known, count)


def names(found: WatchedSize) -> set[str] | None:
    return None if found.names is None else {candidate.name for candidate in found.names}


KNOWN = offered("tuned:basic_linear", "tuned:pipeline", "tuned:binomial")


@pytest.mark.parametrize("threshold_B", [3, 1000, 4096, 65_535])
def test_a_switch_is_found_to_the_byte(threshold_B: int) -> None:
    watch = planted(lambda size_B: (star if size_B < threshold_B else chain)(size_B), KNOWN)
    found = list(watch.over([2**power for power in range(17)]))
    (turn,) = turns(found)
    assert (turn.last.size_B, turn.first.size_B) == (threshold_B - 1, threshold_B)
    assert names(turn.last) == {"linear"}
    assert names(turn.first) == {"pipeline"}


def test_two_switches_between_two_sizes_of_the_ladder_are_both_found() -> None:
    def default(size_B: int) -> Sent:
        return star(size_B, 2) if 1500 <= size_B < 1900 else (star if size_B < 1500 else chain)(size_B)

    found = list(planted(default, KNOWN).over([1024, 2048]))
    # The halving meets 1536, which is neither of both: else the middle one would go unseen.
    assert [(turn.last.size_B, turn.first.size_B) for turn in turns(found)] == [(1499, 1500), (1899, 1900)]


def test_reductions_are_watched_at_whole_elements() -> None:
    watch = planted(lambda size_B: (star if size_B < 4096 else chain)(size_B), KNOWN)
    watch.element_B = 4
    found = list(watch.over([1024, 16_384]))
    assert all(one.size_B % 4 == 0 for one in found)
    (turn,) = turns(found)
    assert (turn.last.size_B, turn.first.size_B) == (4092, 4096)


def test_what_cannot_be_told_says_why() -> None:
    alone = offered("tuned:binomial", "tuned:binary_tree")
    assert planted(lambda size_B: star(size_B, 2), alone).at(64).why == "all algorithms send the same messages"
    assert planted(lambda _: None, KNOWN).at(64).why == "the default itself failed"
    silent = planted(lambda size_B: star(size_B, 0), KNOWN).at(64)
    assert (silent.names, silent.why) == (None, "the default sends no message that is counted")
    strange = planted(lambda size_B: star(size_B, 3), KNOWN).at(64)
    assert (strange.names, strange.why) == (None, "no algorithm that can be named sends what the default sends")
    assert (silent.fits_none, strange.fits_none) == (False, True)


@pytest.mark.parametrize("unsteady", ["default", "tuned:binomial"])
def test_counts_that_do_not_repeat_say_nothing(unsteady: str) -> None:
    """Of a candidate, too: it may be the one that ran."""
    watch = planted(star, KNOWN)
    count = watch.count

    def restless(asked: WatchedCall, size_B: int) -> Sent | None:
        if asked.algorithm == unsteady and size_B == 64:
            raise Unsteady(f"{unsteady} differs")
        return count(asked, size_B)

    watch.count = restless
    assert watch.at(64) == WatchedSize(64, None, f"{unsteady} differs")
    assert names(watch.at(128)) == {"linear"}


def test_algorithms_that_send_the_same_are_a_set_and_a_component_of_lower_priority_is_not_in_it() -> None:
    known = [*KNOWN, *offered("tuned:binary_tree"), *offered("adapt:binomial", "adapt:other", priority=0)]
    assert names(planted(lambda size_B: star(size_B, 2), known).at(64)) == {"binomial", "binary"}
    # Of the higher one nothing fits: the lower one serves.
    alone = [*offered("tuned:pipeline"), *offered("adapt:binomial", "adapt:basic_linear", priority=0)]
    assert names(planted(lambda size_B: star(size_B, 2), alone).at(64)) == {"adapt:binomial"}


def test_a_component_whose_algorithms_are_alike_is_named_where_others_are_not() -> None:
    """As Open MPI's `han` below the size of its segments: that it ran is told, which of its ways is not."""
    two = offered("han:intra", "han:simple", priority=35)
    assert names(planted(lambda size_B: star(size_B, 2), [*two, *KNOWN]).at(64)) == {"han:intra", "han:simple"}
    # Where all others send that too, nothing is told.
    same = [*two, *offered("tuned:binomial", "tuned:binary_tree")]
    found = planted(lambda size_B: star(size_B, 2), same).at(64)
    assert (found.names, found.why) == (None, "all algorithms send the same messages")


def test_a_component_that_is_not_counted_the_same_twice_takes_no_name_from_another() -> None:
    watch = planted(lambda size_B: star(size_B, 2), [*offered("han:simple", priority=35), *KNOWN])
    count = watch.count

    def unsteady_below(asked: WatchedCall, size_B: int) -> Sent | None:
        if asked.algorithm not in ("default", "han:simple"):
            raise Unsteady(asked.algorithm)
        return count(asked, size_B)

    watch.count = unsteady_below
    assert names(watch.at(64)) == {"han:simple"}


def test_segments_that_the_library_has_set_are_asked_for_where_messages_are_not_counted() -> None:
    """The kernel counts bytes with headers, from which no size of segments follows."""
    size_B = 8 * 4096
    known = [one.model_copy(update={"segment_B": 4096}) for one in offered("tuned:pipeline", segmented=True)]
    watch = planted(lambda size_B: chain(size_B, 8), [*offered("tuned:basic_linear"), *known])
    count = watch.count

    def by_kernel(asked: WatchedCall, size_B: int) -> Sent | None:
        sent = count(asked, size_B)
        return None if sent is None or sent.messages is None else Sent(sent.bytes + 32 * sent.messages)

    watch.count = by_kernel
    assert names(watch.at(size_B)) == {"pipeline, segments of 4 KiB"}


def test_more_than_three_names_say_nothing() -> None:
    many = [*KNOWN, *offered("tuned:chain", "tuned:knomial", "tuned:binary_tree")]
    found = planted(lambda size_B: star(size_B, 2), many).at(64)
    assert (found.names, found.why) == (None, "4 algorithms send the same messages")


def test_a_segment_size_follows_from_the_number_of_messages() -> None:
    known = [*offered("tuned:basic_linear"), *offered("tuned:pipeline", segmented=True)]
    found = planted(lambda size_B: chain(size_B, 8), known).at(8 * 4096)
    assert names(found) == {"pipeline, segments of 4 KiB"}


def test_a_byte_or_a_message_more_is_another_algorithm() -> None:
    assert star(1000).is_like(star(1000))
    assert not star(1000).is_like(star(1001))
    assert not star(1000).is_like(star(1000, 2))
    # The kernel counts bytes alone.
    assert Sent(star(1000).bytes).is_like(Sent(star(1000, 2).bytes))
    assert not Sent(star(1000).bytes).is_like(Sent(star(1001).bytes))
    assert Sent(star(0).bytes).is_nothing


def test_a_size_that_fits_both_sides_leaves_the_switch_open() -> None:
    watch = planted(lambda size_B: star(size_B), KNOWN)
    one, other = watch.at(8), planted(lambda size_B: chain(size_B), KNOWN).at(32)
    both = WatchedSize(16, {**(one.names or {}), **(other.names or {})})
    (turn,) = turns([one, both, other])
    assert (turn.last.size_B, turn.first.size_B) == (8, 32)
