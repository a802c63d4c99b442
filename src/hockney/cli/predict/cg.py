"""`hockney predict cg`: an iteration of conjugate gradients on process grids."""

from __future__ import annotations

from typing import Annotated

import typer

from hockney.cli import JsonOption, verb
from hockney.cli._network_figures import NetworkBandwidth, NetworkLatency, network_figures
from hockney.cli.predict import MACHINE, MachineFile, predict
from hockney.cli.predict._stencil import (
    Asked,
    CellTime,
    Grids,
    Halo,
    Iterations,
    Mapping,
    Nodes,
    Ppn,
    RankCount,
    Runs,
    Subdomain,
    Systems,
    predict_stencil,
)


@verb(
    "cg",
    examples="""
hockney predict cg --size 512x512x512 --ranks 48 --grid all --cell-time 2ns
hockney predict cg --size 4096x4096 --ranks 64 --grid 8x8x1 --runs folder --machine machine.json --json
""",
    of=predict,
)
def cg(
    size: Annotated[str, typer.Option(help="Unknowns of the whole: 1000x1000 or 200x200x100.")] = "",
    subdomain: Subdomain = None,
    grid: Grids = None,
    ranks: RankCount = None,
    formulation: Annotated[
        str, typer.Option(help="reference, fused, joint, single_sweep or pipelined.")
    ] = "single_sweep",
    halo: Halo = "nonblocking",
    iterations: Iterations = 100,
    cell_time: CellTime = "",
    runs: Runs = None,
    machine: MachineFile = MACHINE,
    system: Systems = "",
    mapping: Mapping = "",
    nodes: Nodes = None,
    ppn: Ppn = None,
    network_latency: NetworkLatency = "",
    network_bandwidth: NetworkBandwidth = "",
    as_json: JsonOption = False,
) -> None:
    """The time of an iteration on process grids, ranked, with intervals, and where communication matters.

    The exchange of halos and the sums over all ranks (recursive doubling) are simulated, message by message, with
    the machine's costs; an unknown takes what runs of `hockney run cg` took, or --cell-time.
    """
    predict_stencil(
        Asked(
            "cg",
            size,
            subdomain,
            grid or [],
            ranks,
            halo,
            iterations,
            cell_time,
            runs,
            machine,
            system,
            mapping,
            nodes,
            ppn,
            network_figures(network_latency, network_bandwidth),
            formulation,
        ),
        as_json=as_json,
    )
