"""The best segment of an algorithm, against every power of two and against the pipeline's own formula."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from hockney.predict.collective import UNSHARED, AlgorithmTime, combined, predict_one, verdict
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import SIZES_B, Messages
from hockney.predict.place import NETWORK
from hockney.predict.segments import best_segment, in_segments
from hockney.schedule.catalogue import ScheduleRequest, algorithms, ask

ALPHA_S, BETA_S_PER_B = 1e-5, 1e-9
HOCKNEY = MachineCosts(
    {NETWORK: Messages(ALPHA_S + BETA_S_PER_B * SIZES_B, 0.0, 0.0, ALPHA_S + BETA_S_PER_B * SIZES_B)}, "planted"
)
"""Messages that take α + βn, one after another."""


def predict(request: ScheduleRequest) -> AlgorithmTime:
    return predict_one(request, HOCKNEY, None)


@pytest.mark.parametrize("algorithm", ["pipeline", "binary", "circulant", "chain"])
def test_as_good_as_any_power_of_two(algorithm: str) -> None:
    asked = partial(ask, "bcast", algorithm, ranks=16, size_B=2**20)
    found = best_segment(asked, predict, HOCKNEY)
    sizes_B = [0, *(2**k for k in range(12, 20))]
    every = {size_B: predict(asked(segment_B=size_B)).time_s or math.inf for size_B in sizes_B}
    assert found.time_s == pytest.approx(min(every.values()))
    assert found.segment_B is not None
    assert every[found.segment_B] == pytest.approx(min(every.values()))
    low_B, high_B = found.flat_B or (0, 0)
    assert low_B <= found.segment_B <= high_B
    for size_B, time_s in every.items():
        if low_B <= size_B <= high_B:
            assert time_s <= 1.05 * min(every.values()) * (1 + 1e-12)


def test_the_pipeline_has_the_segment_of_its_formula() -> None:
    """T(s) = (P − 2 + n/s)(α + βs) is least at s = √(nα/((P − 2)β)): a power of two lies near it."""
    ranks, size_B = 18, 2**24
    found = best_segment(
        partial(ask, "bcast", "pipeline", ranks=ranks, size_B=size_B),
        predict,
        HOCKNEY,
    )
    best_B = math.sqrt(size_B * ALPHA_S / ((ranks - 2) * BETA_S_PER_B))
    assert found.segment_B is not None
    assert abs(math.log2(found.segment_B / best_B)) <= 1


@pytest.mark.parametrize("algorithm", ["pipeline", "binary", "circulant"])
def test_many_segments_lie_on_a_line(algorithm: str) -> None:
    request = ask("bcast", algorithm, ranks=9, size_B=2**20, segment_B=512)
    along, whole = in_segments(request, predict), predict(request)
    assert whole.method != along.method == "closed_form"
    assert along.time_s == pytest.approx(whole.time_s, rel=1e-9)
    assert along.messages == whole.messages


def test_without_segments_there_is_nothing_to_choose() -> None:
    name = next(each.name for each in algorithms("bcast") if not each.is_segmented)
    row = best_segment(partial(ask, "bcast", name, ranks=8, size_B=4096), predict, HOCKNEY)
    assert row.segment_B is None
    assert np.isfinite(row.time_s or math.inf)


def test_a_line_with_an_unknown_end_gives_no_time() -> None:
    """Segments whose simulation would be too long are no candidates, however quick a part of them was."""

    def few_alone(request: ScheduleRequest) -> AlgorithmTime:
        known = predict(request)
        return known if request.problem.bytes <= 32 * 512 else AlgorithmTime(known.algorithm, "none", None)

    request = ask("bcast", "binary", ranks=9, size_B=2**20, segment_B=512)
    assert in_segments(request, few_alone).time_s is None


def test_critical_paths_of_two_kinds_give_no_formula() -> None:
    """7 messages, then 5: beyond four times the distance, −1; the time goes on, what it is made of does not."""
    few = AlgorithmTime("a", "simulated", 1.0, messages=7, overheads=2, gaps=2, bytes=8, reduced_bytes=0)
    few = replace(few, terms_s={"latency": 1.0})
    more = replace(few, time_s=2.0, messages=5, terms_s={"latency": 2.0})
    row = combined([few, more], (-3.0, 4.0))
    assert (row.method, row.time_s, row.formula, row.messages) == ("extrapolated", 5.0, "", None)
    assert "critical path" in row.note
    assert combined([few, row], (-1.0, 2.0)).time_s == 9.0
    near = combined([few, more], (-2.0, 3.0))
    assert (near.method, near.messages) == ("closed_form", 1)


def test_bounds_are_no_candidates() -> None:
    """Where small segments are only bounded, the best is among the others; where all are, none is named."""

    def bounded(request: ScheduleRequest, most: int) -> AlgorithmTime:
        row = predict(request)
        pieces = request.problem.bytes / (request.problem.segment_B or request.problem.bytes)
        return row if pieces <= most else AlgorithmTime(row.algorithm, UNSHARED, None, low_s=row.time_s)

    asked = partial(ask, "bcast", "pipeline", ranks=16, size_B=2**20)
    free = best_segment(asked, predict, HOCKNEY)
    assert free.segment_B is not None
    assert free.segment_B < 2**18
    few = best_segment(asked, lambda request: bounded(request, 4), HOCKNEY)
    assert (few.segment_B, few.method) == (2**18, predict(asked(segment_B=2**18)).method)
    # What is only bounded may be quicker, and so may the algorithm beside another one.
    assert few.low_s == pytest.approx(free.time_s, rel=0.05)
    assert few.time_s is not None
    assert few.low_s is not None
    between = AlgorithmTime("other", "simulated", (few.time_s + few.low_s) / 2)
    assert verdict([few, between]).not_told_apart_from == ["pipeline"]
    none = best_segment(asked, lambda request: bounded(request, 0), HOCKNEY)
    assert (none.time_s, none.segment_B, none.flat_B) == (None, None, None)
