"""The best size of a segment of each algorithm: simulated, from where the closed form has its optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from hockney._core import Growth
from hockney.errors import RequestError
from hockney.models.collectives.closed_form import closed_form
from hockney.models.collectives.expression import FormulaCall
from hockney.predict.collective import UNSHARED, AlgorithmTime, combined
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import SIZES_B
from hockney.schedule.catalogue import ScheduleRequest

FLAT = 0.05
"""Segments by which a time is longer by no more than this are as good as the best."""
MOST_TRIED = 16
"""Segment sizes that are simulated; a search that starts at the closed form's optimum needs some five."""
PIECES = {Growth.per_rank: (128, 256)}
"""Numbers of segments through which a line goes, more than the ranks of a line of them (48 and 96) are deep."""
PIECES_OF_TREES = (32, 64)
"""The same for trees, which are as deep as they have levels: beyond them each further segment adds the same."""


class Ask(Protocol):
    """An algorithm's request with segments of so many bytes; 0: none."""

    def __call__(self, *, segment_B: int) -> ScheduleRequest: ...


Predict = Callable[[ScheduleRequest], AlgorithmTime]


def best_segment(ask: Ask, predict: Predict, costs: MachineCosts) -> AlgorithmTime:
    """The row of the fastest segment size, powers of two and the whole vector; with `segment_B` and `flat_B`.

    Sizes of which only a bound is known are no candidates; where one may be quicker, its bound is `low_s`.

    From the optimum of the closed form the search goes on as long as times fall; the time over the size of a
    segment has one valley, as α·n/S + β·S has.
    """
    whole = ask(segment_B=0)
    rows = {0: predict(whole)}
    largest = max((int(size_B) for size_B in SIZES_B if 1 <= size_B < whole.problem.bytes), default=0)
    if not whole.algorithm.is_segmented or not largest:
        return rows[0]

    def time_s(segment_B: int) -> float:
        if segment_B not in rows:
            try:
                rows[segment_B] = in_segments(ask(segment_B=segment_B), predict)
            except RequestError as error:  # more segments than a schedule holds
                rows[segment_B] = AlgorithmTime(whole.algorithm.name, "none", None, note=error.message)
        return rows[segment_B].time_s or np.inf

    best = min(largest, _by_formula(whole, costs))
    for direction in (2.0, 0.5):
        here = best
        while len(rows) < MOST_TRIED:
            beside = int(here * direction)
            if not 1 <= beside <= largest or time_s(beside) > time_s(here) * (1 + FLAT):
                break
            here = beside
            best = min(best, here, key=time_s)
    best = min(rows, key=lambda segment_B: rows[segment_B].time_s or np.inf)
    if rows[best].time_s is None:
        return rows[best]
    known = [size_B for size_B, row in rows.items() if (row.time_s or np.inf) <= (1 + FLAT) * time_s(best)]
    sizes = [size_B or whole.problem.bytes for size_B in known]
    bounds_s = [row.low_s for row in rows.values() if row.method == UNSHARED and row.low_s is not None]
    row = replace(rows[best], segment_B=best, flat_B=(min(sizes), max(sizes)))
    return replace(row, low_s=min(bounds_s)) if bounds_s and min(bounds_s) < time_s(best) else row


def in_segments(request: ScheduleRequest, predict: Predict) -> AlgorithmTime:
    """The row of a request; of many segments from the line through two smaller numbers of them."""
    p = request.problem
    pieces = PIECES.get(request.algorithm.growth, PIECES_OF_TREES)
    if p.bytes <= 2 * pieces[1] * p.segment_B:
        return predict(request)
    few, more = (predict(request.resized(count * p.segment_B)) for count in pieces)
    if few.time_s is None or more.time_s is None:
        return more if more.time_s is None else few
    share = (p.bytes / p.segment_B - pieces[0]) / (pieces[1] - pieces[0])
    return combined([few, more], (1 - share, share))


def _by_formula(request: ScheduleRequest, costs: MachineCosts) -> int:
    """Where α·messages + β·bytes of the closed form is least, a power of two; half the vector without a form."""
    p = request.problem
    form = closed_form(request.algorithm.collective, request.algorithm.name)
    sizes_B = SIZES_B[(SIZES_B >= 1) & (max(p.bytes, 2) > SIZES_B)]
    if form is None:
        return int(sizes_B[-1])
    messages = costs.messages[max(costs.messages)]
    alpha_s, beta_s_per_B = float(messages.one_way_s[0]), messages.parameters()["gap_s_per_B"] or 0.0
    radix = p.radix or request.algorithm.default_radix
    counts = form.counts(FormulaCall(float(p.ranks), float(p.bytes), sizes_B, radix))
    time_s = np.asarray(counts.alpha * alpha_s + counts.bytes * beta_s_per_B)
    return int(sizes_B[int(np.argmin(np.broadcast_to(time_s, sizes_B.shape)))])
