"""OSU Micro-Benchmarks: a barrier between calls, each rank's own MPI_Wtime around the call (source of 7.3).

`osu_bcast` has its barrier after each call, `osu_reduce` before: either way a call, a barrier, the next call.
Reductions are of MPI_CHAR from 7.0 on.
"""

from __future__ import annotations

from hockney.predict.procedures.base import Procedure, procedures

procedures.register("osu")(Procedure(has_barrier=True, previous_call=True, element_B=1))
