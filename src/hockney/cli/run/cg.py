"""`hockney run cg`: conjugate gradients for Poisson's equation, without a matrix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from hockney.cli import JsonOption, emit_json, err, out, verb
from hockney.cli._words import words
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

if TYPE_CHECKING:
    from hockney.apps.launched import Launched
    from hockney.campaign.loop import Asking
    from hockney.records.app_record import AppRecord


USUAL_SIZE = "100x100x100"


@verb(
    "cg",
    examples="hockney run cg\n"
    "hockney run cg --size 500x500 --ranks 2\n"
    "hockney run cg --size 200x200x200 --ranks 1,2 --bound\n"
    "hockney run cg --size 300x200 --ranks 6 --grid all --convergence convergence.png\n"
    "hockney run cg --size 300x200 --solution u.dat --plot u.png",
    of=run,
)
def cg(
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            "--size",
            help=f"Unknowns: 1000x1000 or 200x200x100; repeat for several. [default: {USUAL_SIZE}]",
            show_default=False,
        ),
    ] = None,
    ranks: Annotated[
        str, typer.Option(help="4, or 1,2,4 in one launch. [default: the cores of this host]", show_default=False)
    ] = "",
    grid: Annotated[
        str,
        typer.Option(
            help="PXxPYxPZ, or all. [default: the one that cuts through the fewest unknowns]", show_default=False
        ),
    ] = "",
    formulation: Annotated[
        str, typer.Option(help="reference, fused, joint, single_sweep, pipelined; comma-separated.")
    ] = "single_sweep",
    halo: Annotated[
        str, typer.Option(help="sendrecv, nonblocking, overlap, persistent or neighborhood.")
    ] = "nonblocking",
    faces: Annotated[str, typer.Option(help="datatype or packed.")] = "packed",
    stores: Annotated[str, typer.Option(help="auto, plain or streaming (A p passes by the caches).")] = "auto",
    eps: Annotated[
        float | None,
        typer.Option(help="End where ‖r‖ ≤ eps times the first. [default: 1e-6]", show_default=False),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="So many, or at most so many with --eps. [default: until eps, 10000 at most]",
            show_default=False,
        ),
    ] = None,
    replace_every: Annotated[
        int, typer.Option(min=0, help="r = b - A x every so many iterations; 0: never.")
    ] = 50,
    bound: Annotated[bool, typer.Option(help="Measure, in turns with the solves, what memory allows.")] = False,
    compute: Annotated[
        bool, typer.Option(help="On a simulated cluster --no-compute leaves out the arithmetic, not its time.")
    ] = True,
    cell_time: Annotated[
        str, typer.Option(help="Of an unknown and iteration on a host of a simulated cluster: 1ns.")
    ] = "",
    solution: Annotated[
        Path | None, typer.Option(help="File of the solution: raw doubles, described in FILE.json.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Picture of the solution: .svg, .png or .html.")] = None,
    convergence: Annotated[
        Path | None, typer.Option(help="Picture of the residual over iterations: .svg, .png or .html.")
    ] = None,
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
    """Conjugate gradients for Poisson's equation in two or three dimensions: iterations, time, memory traffic.

    The stop is r · r ≤ eps² of its first value. Several sizes, ranks, grids and formulations are one launch.
    """
    from hockney.apps.cg.answer import CgAnswer
    from hockney.apps.cg.solution import description, part, require_place
    from hockney.apps.cg.study import Stores as KindOfStores
    from hockney.apps.cg.study import (
        Variant,
        Wanted,
        last_norm,
        name_of,
        parse_unknowns,
        table,
        unconverged,
        wrong,
    )
    from hockney.apps.jacobi.study import Faces, parse_ranks
    from hockney.apps.stencil.grids import parse_grid
    from hockney.apps.stencil.stencil import Exchange
    from hockney.errors import RequestError
    from hockney.runner.inventory import inventory
    from hockney.units import parse_time

    for picture in (plot, convergence):
        if picture:
            from hockney.apps.cg.picture import require_drawable

            require_drawable(picture)
    if plot and not solution:
        raise RequestError("a plot is drawn from the file of the solution", "add --solution FILE")
    for place in filter(None, (solution, plot, convergence)):
        require_place(place)
    if solution:
        require_place(part(solution))
        require_place(description(solution))
    if convergence and not compute:
        raise RequestError("without computing nothing converges", "leave out --convergence")
    on = parse_grid(grid) if grid and grid != "all" else None
    default_eps = 0.0 if iterations and eps is None else 1e-6
    wanted = Wanted(
        ranks=tuple(parse_ranks(ranks)) if ranks else (on.ranks if on else inventory().cores,),
        sizes=tuple(parse_unknowns(size) for size in sizes or [USUAL_SIZE]),
        grid=on,
        every_grid=grid == "all",
        variants=tuple(cast("Variant", word) for word in words(formulation)) or ("single_sweep",),
        halo=cast("Exchange", halo),
        faces=cast("Faces", faces),
        stores=cast("KindOfStores", stores),
        eps=default_eps if eps is None else eps,
        iterations=iterations or 10000,
        replace_every=replace_every,
        bound=bound,
        compute=compute,
        cell_s=parse_time(cell_time) if cell_time else 0.0,
        solution=solution,
        repetitions=repetitions,
        launches=max(1, len(variants or [])),
    )
    hosts_used: set[str] = set()

    def do(launched: Launched) -> Asking[AppRecord]:
        hosts_used.update(place.host for place in launched.placement)
        return wanted.asking(launched)

    records = run_app(
        do,
        output=output,
        verb="cg",
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
    )
    if json:
        emit_json({"runs": [record.model_dump() for record in records]})
    else:
        # A pipe has no width to fit into.
        out.print(table(records), width=None if out.is_terminal else 160)
        _explain(records, hosts_used)
    _draw(records, solution, plot, convergence)
    late, failed = unconverged(records), wrong(records)
    for record in late:
        answer = record.answer.read_as(CgAnswer)
        err.print(
            f"[red]not converged:[/red] {name_of(record)}: after {answer.iterations} iterations "
            f"on {record.ranks} ranks",
            soft_wrap=True,
        )
    for record in failed:
        answer = record.answer.read_as(CgAnswer)
        err.print(
            f"[red]wrong:[/red] {name_of(record)}: ‖b - A x‖ on {record.ranks} ranks is "
            f"{answer.true_residual_norm}, not {last_norm(answer)} as the iteration says, to "
            f"{answer.residual_tolerance}",
            soft_wrap=True,
        )
    if late or failed:
        raise typer.Exit(1)


def _explain(records: list[AppRecord], hosts: set[str]) -> None:
    """What the caches of this host make of several ranks; silent for other hosts and without such a study."""
    from socket import gethostname

    from hockney.apps.cg.study import cache_line
    from hockney.runner.inventory import inventory

    caches = [one for one in inventory().caches if one.level >= 2 and one.type != "Instruction"]
    is_here = hosts == {gethostname()}
    if not caches or not is_here or len({record.ranks for record in records}) < 2:
        return
    last = max(caches, key=lambda one: one.level)
    for line in dict.fromkeys(cache_line(record, last.size_B, last.cpus_per_cache) for record in records):
        out.print(line, soft_wrap=True)


def _draw(records: list[AppRecord], solution: Path | None, plot: Path | None, convergence: Path | None) -> None:
    if convergence:
        from hockney.apps.cg import picture as pictures
        from hockney.apps.cg.answer import CgAnswer
        from hockney.apps.cg.study import name_of

        pictures.convergence(
            convergence,
            [(name_of(record), record.answer.read_as(CgAnswer).residual_norms or []) for record in records],
        )
    if plot and solution:
        from hockney.apps.cg import picture as pictures
        from hockney.apps.cg.solution import read

        pictures.solution(
            plot, read(solution), 1 / (max(records[0].parameters[key] for key in ("nx", "ny", "nz")) + 1)
        )
