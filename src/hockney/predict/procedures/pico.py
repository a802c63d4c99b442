"""PICO: a barrier before each call, MPI_Wtime around it on each rank, the slowest rank of each iteration.

Vectors are of 4-byte integers.
"""

from __future__ import annotations

from hockney.predict.procedures.base import Procedure, procedures

procedures.register("pico")(Procedure(has_barrier=True, previous_call=True, element_B=4))
