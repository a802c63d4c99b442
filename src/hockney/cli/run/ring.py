"""`hockney run ring`: messages once around, in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hockney.cli import JsonOption, emit_json, out, verb
from hockney.cli.run import (
    BindTo,
    HostFile,
    Hosts,
    Launcher,
    MapBy,
    Mpi,
    Output,
    Platform,
    Ranks,
    Repeat,
    SystemName,
    TimeLimit,
    Variants,
    run,
    run_app,
)

if TYPE_CHECKING:
    from hockney.apps.launched import Launched
    from hockney.campaign.app_record import AppRecord


@verb("ring", examples="hockney run ring --ranks 2", of=run)
def ring(
    ranks: Ranks = None,
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
    """Messages that travel once around a ring of processes, in both directions at once."""
    from hockney.apps.launched import repetitions as repeated

    def do(launched: Launched) -> list[AppRecord]:
        return [launched.run("ring", repeated(repetitions))]

    records = run_app(
        do,
        output=output,
        verb="ring",
        mpi=mpi,
        ranks=ranks,
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
        return
    for record in records:
        out.print(f"{record.ranks} ranks: {record.time_s:.3g} s")
