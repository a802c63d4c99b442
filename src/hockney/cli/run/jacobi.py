"""`hockney run jacobi`: a Jacobi solver in three dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from hockney.cli import JsonOption, emit_json, err, out, verb
from hockney.cli.run import (
    BindTo,
    HostFile,
    Hosts,
    Launcher,
    MapBy,
    Mpi,
    Output,
    Platform,
    Repeat,
    SystemName,
    TimeLimit,
    Variants,
    run,
    run_app,
)
from hockney.errors import RequestError

USUAL_CELLS = "200"


@verb(
    "jacobi",
    examples="hockney run jacobi\n"
    "hockney run jacobi --cells 400 --ranks 2\n"
    "hockney run jacobi --cells 2000x2000x64 --ranks 4 --grid 1x4x1 --halo overlap\n"
    "hockney run jacobi --subdomain 200 --ranks 1,2,4 -o jacobi\n"
    "hockney run jacobi --cells 400 --ranks 6 --machine machine.json",
    of=run,
)
def jacobi(
    cells: Annotated[
        str,
        typer.Option(
            help="Of the whole box: 400 for a cube, 2000x2000x64. The same on any number of ranks. "
            f"[default: {USUAL_CELLS}]",
            show_default=False,
        ),
    ] = "",
    subdomain: Annotated[
        int | None,
        typer.Option(min=1, help="Side of the cube that each rank has: weak scaling.", show_default=False),
    ] = None,
    ranks: Annotated[
        str, typer.Option(help="4, or 1,2,4 in one launch. [default: the cores of this host]", show_default=False)
    ] = "",
    grid: Annotated[
        str,
        typer.Option(help="PXxPYxPZ. [default: the one that cuts through the fewest cells]", show_default=False),
    ] = "",
    machine: Annotated[
        Path | None, typer.Option(help="Machine file: without --grid, take the one that is predicted fastest.")
    ] = None,
    halo: Annotated[
        str, typer.Option(help="sendrecv, nonblocking, overlap, persistent or neighborhood.")
    ] = "nonblocking",
    faces: Annotated[str, typer.Option(help="datatype or packed.")] = "packed",
    iterations: Annotated[int, typer.Option(min=1, help="Sweeps of a repetition.")] = 10,
    threads: Annotated[int, typer.Option(min=1, max=4096, help="OpenMP threads of each rank.")] = 1,
    block: Annotated[
        int | None,
        typer.Option(min=1, help="Rows of a block along y. [default: what the caches keep]", show_default=False),
    ] = None,
    stores: Annotated[str, typer.Option(help="auto, regular or non_temporal.")] = "auto",
    instructions: Annotated[str, typer.Option(help="auto, avx512, avx2 or portable.")] = "auto",
    bound: Annotated[
        bool, typer.Option(help="Measure, in turns with the sweeps, the bandwidth that bounds them.")
    ] = True,
    compute: Annotated[
        bool, typer.Option(help="On a simulated cluster --no-compute leaves out the arithmetic, not its time.")
    ] = True,
    cell_time: Annotated[
        str, typer.Option(help="What an update takes on a host of a simulated cluster: 1ns.")
    ] = "",
    repetitions: Repeat = None,
    output: Output = None,
    mpi: Mpi = "auto",
    hosts: Hosts = "",
    hostfile: HostFile = "",
    launcher: Launcher = "",
    platform: Platform = "",
    map_by: MapBy = "core",
    bind_to: BindTo = "core",
    variants: Variants = None,
    time_limit: TimeLimit = "120s",
    system: SystemName = "",
    json: JsonOption = False,
) -> None:
    """A 7-point Jacobi solver: halo exchange, lattice updates per second, and the bandwidth that bounds them."""
    from hockney.apps.jacobi.study import (
        Faces,
        Instructions,
        Stores,
        Wanted,
        explained,
        fastest_grid,
        parse_cells,
        parse_ranks,
        table,
        wrong,
    )
    from hockney.apps.stencil.grids import parse_grid
    from hockney.apps.stencil.stencil import EXCHANGES, Exchange
    from hockney.machine.file import load
    from hockney.predict.machine_costs import of_machine
    from hockney.runner.inventory import inventory
    from hockney.units import parse_time

    if grid and machine:
        raise RequestError("--grid and --machine both say which grid", "give one of them")
    on = parse_grid(grid) if grid else None
    counts = tuple(parse_ranks(ranks)) if ranks else (on.ranks if on else inventory().cores,)
    box = parse_cells(cells or USUAL_CELLS) if cells or subdomain is None else None
    grids = {}
    if machine and halo in EXCHANGES and (box or subdomain):
        costs = of_machine(load(machine), str(machine), both_ways=True)
        for count in counts:
            try:
                grids[count] = fastest_grid(count, box, subdomain or 0, halo, costs)
            except RequestError as error:
                raise RequestError(error.message, "name a --grid, or leave out --machine") from error
    wanted = Wanted(
        ranks=counts,
        cells=box,
        subdomain=subdomain,
        grid=on,
        halo=cast("Exchange", halo),
        faces=cast("Faces", faces),
        iterations=iterations,
        threads=threads,
        block_rows=block or 0,
        stores=cast("Stores", stores),
        instructions=cast("Instructions", instructions),
        bound=bound,
        compute=compute,
        cell_s=parse_time(cell_time) if cell_time else 0.0,
        repetitions=repetitions,
        grids=grids,
    )
    records = run_app(
        wanted.asking,
        output=output,
        verb="jacobi",
        mpi=mpi,
        ranks=max(wanted.ranks),
        hosts=hosts,
        hostfile=hostfile,
        launcher=launcher,
        platform=platform,
        map_by=map_by,
        bind_to=bind_to,
        variants=variants,
        time_limit=time_limit,
        system=system,
        threads=threads if threads > 1 else None,
    )
    failed = wrong(records)
    if json:
        emit_json({"scaling": wanted.scaling, "runs": [record.model_dump() for record in records]})
    else:
        for line in [*table(records), *dict.fromkeys(filter(None, map(explained, records)))]:
            out.print(line, soft_wrap=True, markup=False)
    for record in failed:
        err.print(
            f"[red]wrong:[/red] the solution on {record.ranks} ranks is not what it must be", soft_wrap=True
        )
    if failed:
        raise typer.Exit(1)
