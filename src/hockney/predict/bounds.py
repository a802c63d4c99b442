"""What no algorithm of a collective beats, from the costs of messages alone."""

from __future__ import annotations

import math

import numpy as np

from hockney.models.collectives.base import collective_models
from hockney.models.collectives.expression import Call
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import SIZES_B
from hockney.schedule.catalogue import ScheduleRequest


def lower_bound(request: ScheduleRequest, costs: MachineCosts) -> dict[str, float]:
    """Two bounds of every algorithm: the time to spread one rank's knowledge to all, and to move a rank's bytes.

    With d the time of an empty message and s the time between two of a rank, at most x^t ranks know by the time
    t, where x^−s + x^−d = 1 (Karp, Sahay, Santos and Schauser 1993 count them exactly). A byte takes what it does
    in messages of the best size. Neither bound stands on an assumed o or g.
    """
    p = request.problem
    known = costs.messages.values()
    message_s = min(float(messages.one_way_s[0]) for messages in known)
    between_s = min(messages.least_s[0] for messages in known)
    optimum = collective_models.get(request.algorithm.collective).optimum
    moved_B = float(optimum.counts(Call(p.ranks, float(p.bytes))).bytes) if p.ranks > 1 else 0.0
    # A curve is straight between two sizes, so that the best size is one of them.
    sizes = slice(1, 2 + int(np.searchsorted(SIZES_B[1:], moved_B)))
    per_byte_s = min(float(np.min(messages.least_s[1][sizes] / SIZES_B[sizes])) for messages in known)
    return {"latency_s": _spread_s(p.ranks, message_s, between_s), "volume_s": moved_B * max(per_byte_s, 0.0)}


def _spread_s(ranks: int, message_s: float, between_s: float) -> float:
    """The least time in which one rank's knowledge can reach all."""
    if ranks == 1 or message_s <= 0:
        return 0.0
    if between_s <= 0:
        return message_s
    from scipy.optimize import brentq

    # In units of a message's time, so that the root is a number of ordinary size.
    ratio = between_s / message_s
    rate = brentq(lambda x: math.exp(-x * ratio) + math.exp(-x) - 1, 1e-9, 50 / min(ratio, 1.0))
    return max(message_s, math.log(ranks) / rate * message_s)
