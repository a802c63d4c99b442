"""Collectives that were measured on the machine: a replay takes as long for each as `predict` says of it.

Only where they were certainly measured as far apart as the run's ranks are: all messages of the machine file and
of the run have one locality, and no option says what else a network costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hockney.predict.decisions.base import decisions_for
from hockney.predict.every_algorithm import measured_time
from hockney.predict.from_model import EXTRAPOLATED
from hockney.predict.network_figures import has_machine, machine_of
from hockney.predict.options import BetweenNodes, MessageCosts
from hockney.predict.points import DEFAULT
from hockney.predict.replay.algorithms import ServedCall
from hockney.predict.replay.run import ReplaySetting


@dataclass(frozen=True)
class MeasuredCalls:
    """Of each call by what all costs of its schedules are multiplied: 1 where it was not measured.

    Then ranks that enter together are through when the measured time is over, and others wait as they would.
    """

    factors: list[float] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


_OF_RANKS: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "mean_over_ranks": lambda times_s: float(times_s.mean()),
    "min_over_ranks": lambda times_s: float(times_s.min()),
}
"""What a statistic takes of the ranks' times; others the last one."""


def measured_calls(
    place: MessageCosts, mpi: str, around: ReplaySetting, served: Sequence[ServedCall], end: int | None
) -> MeasuredCalls:
    """Of calls in a run of the library `mpi`; with `end` by that end of the measured times' intervals."""
    if not has_machine(place):
        return MeasuredCalls()
    machine = machine_of(place)
    operations = {model.operation for model in machine.collectives if model.statistic}
    if not operations:
        return MeasuredCalls()
    if not _is_there(place, around, {entry.locality for entry in machine.point_to_point}):
        what = ", ".join(sorted(operations & {one.call.operation for one in served}))
        said = f"measured times of {what} correct nothing: they may be of ranks elsewhere" if what else ""
        return MeasuredCalls(remarks=[*filter(None, [said])])
    place, own = place.holding(machine), decisions_for(mpi).decisions
    libraries = [decisions_for(library.name).decisions for library in machine.mpi]
    is_own = not libraries or own in libraries
    factors, corrected, beyond = [], dict[str, None](), dict[str, None]()
    for one in served:
        call, factor = one.call, 1.0
        if call.operation in operations and (one.algorithm != DEFAULT or is_own):
            size = {"ranks": call.ranks, "size_B": call.bytes, "segment_B": one.segment_B, "radix": one.radix}
            if measured := measured_time(place, call.operation, one.algorithm, **size):
                model, row = measured
                time_s = (row.time_s, row.low_s, row.high_s)[0 if end is None else 1 + end] or row.time_s
                simulated_s = _OF_RANKS.get(model.statistic, max)(around.alone_s(one.parts))
                if time_s and simulated_s > 0:
                    factor = time_s / simulated_s
                    corrected[call.operation] = None
                    if row.method == EXTRAPOLATED:
                        beyond[call.operation] = None
        factors.append(factor)
    remarks = []
    if corrected:
        remarks.append(f"schedules are corrected to measured times: {', '.join(corrected)}")
    if beyond:
        remarks.append(f"measured times are extrapolated to its ranks or sizes: {', '.join(beyond)}")
    return MeasuredCalls(factors, remarks)


def _is_there(place: MessageCosts, around: ReplaySetting, measured: set[str | None]) -> bool:
    """Whether ranks of the run are as far apart as those of the machine file."""
    is_own = not place.topology and place.network == BetweenNodes()
    return is_own and len(around.localities) == 1 and measured == set(around.names)
