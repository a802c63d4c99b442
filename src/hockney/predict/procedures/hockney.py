"""Hockney's own: all ranks begin together in a window of the global clock; first entry to last exit.

Reductions are of 4-byte numbers.
"""

from __future__ import annotations

from hockney.predict.procedures.base import Procedure, procedures

procedures.register("hockney")(Procedure(has_barrier=False, previous_call=False, element_B=4))
