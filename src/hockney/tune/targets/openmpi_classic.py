"""Rules of Open MPI from 4.1 up to 5 as rows of numbers. Before 4.1 gather and scatter counted other bytes."""

from __future__ import annotations

from hockney.tune.targets import _openmpi_numbers as numbers
from hockney.tune.targets.base import targets

targets.register("openmpi_classic")(numbers.target(1, ((4, 1), (6,))))
