"""Rules of Open MPI from 5.0.7 on: rows of numbers, the last of which are requests under way (0: no limit)."""

from __future__ import annotations

from hockney.tune.targets import _openmpi_numbers as numbers
from hockney.tune.targets.base import targets

targets.register("openmpi_v2")(numbers.target(2, ((5, 0, 7), (6,))))
