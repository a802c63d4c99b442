"""Intel MPI Benchmarks: calls one after another without a barrier, so that what counts is how often they come.

Each rank divides its time for all calls by their number. In the second of two calls a rank's time is the
distance between its exits, which is that.
"""

from __future__ import annotations

from dataclasses import dataclass

from hockney.predict.procedures.base import Phase, Procedure, Run, procedures


@dataclass(frozen=True)
class _Repeated(Procedure):
    def run(self, call: list[Phase], barrier: list[Phase]) -> Run:  # noqa: ARG002
        return Run(call * 3, 2 * len(call) - 1, 3 * len(call) - 1)


procedures.register("imb")(_Repeated(has_barrier=False, previous_call=True, element_B=4))
