"""A program under the schedules of a table."""

from __future__ import annotations

from collections.abc import Callable

from hockney.options.tune import ApplyOptions
from hockney.records.preload_table import load
from hockney.runner.applied import Applied as Applied
from hockney.runner.applied import applied, variables
from hockney.runner.launch_line import understand
from hockney.runner.preload import run


def apply(options: ApplyOptions, warn: Callable[[str], None], *, sums: bool, quiet: bool = False) -> Applied:
    """Run a launch line with the schedules of a table under its collectives; the answer has its exit code.

    `sums`: the layer reports what was called; `quiet` as in `preload.run`. `warn` is told where the table is for
    another MPI.
    """
    table = load(options.table)
    launch = understand(options.command, options.mpi)
    if launch.mpi and table.mpi not in ("", launch.mpi.describe()):
        warn(f"{options.table} is for {table.mpi}, and the program runs on {launch.mpi.describe()}")
    settings = variables(table, bitwise=options.bitwise, sums=sums, compare=options.compare)
    return applied(run(launch, settings, quiet=quiet), table, compare=options.compare)
