"""`hockney simulate`: simulate a collective from LogGOPS parameters."""

from __future__ import annotations

from hockney import api
from hockney.options.simulate import (
    LoggopsOptions,
    NetworkOptions,
    SharingOptions,
    SimulatedProblem,
    SimulationOptions,
)
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import format_time, percent


@verb(
    "simulate",
    examples="hockney simulate bcast --algorithm binomial --ranks 1048576 --bytes 1024 "
    "--loggops L=2.5us,o=1.5us,g=1us,G=6ns\n"
    "hockney simulate allreduce --algorithm ring --ranks 4096 --bytes 64MiB "
    "--loggops L=1us,o=0.3us,G=12.5GB/s,gamma=20GB/s --critical-path --json\n"
    "hockney simulate alltoall --algorithm pairwise --ranks 512 --bytes 64KiB "
    "--loggops L=2us,o=0.5us,G=10GB/s --ppn 8 --node-bandwidth 12.5GB/s --topology torus:4x4x4,link=10GB/s\n"
    "hockney simulate bcast --algorithm binomial --ranks 64 --bytes 1KiB --machine machine.json --json\n"
    "hockney simulate --goal application.goal --machine machine.json --critical-path",
)
def simulate(
    problem: SimulatedProblem,
    loggops: LoggopsOptions,
    between: NetworkOptions,
    sharing: SharingOptions,
    options: SimulationOptions,
    json: JsonOption = False,
) -> None:
    """Simulate when each rank finishes a collective, or a graph of your own, with LogGOPS parameters.

    The parameters are given here, or come from a machine file (or, roughly, from a system's description). They
    depend on locality where --system says where ranks are. A parameter that is given here replaces theirs
    everywhere.
    """
    answer = api.simulate(problem, loggops, between, sharing, options)
    if json:
        say.json(answer)
        return
    say.line(answer.title)
    if answer.assumed:
        say.line(f"assumed, not given: {answer.assumed}")
    times = {
        "last rank done": format_time(answer.makespan_s),
        "mean over ranks": format_time(answer.mean_over_ranks_s),
        "first rank done": format_time(answer.min_over_ranks_s),
        "messages": f"{answer.messages:,}",
    }
    columns = Column("simulation", lambda item: item[0]), Column("", lambda item: item[1], is_number=True)
    say.rows("", times.items(), columns)
    if answer.critical_path is not None:
        parts = [part for part in answer.critical_path.terms_s.items() if part[1]]
        of_path = (
            Column("critical path", lambda part: part[0].replace("_", " ")),
            Column("time", lambda part: format_time(part[1])),
            Column("share", lambda part: percent(part[1] / answer.makespan_s)),
        )
        say.rows("", parts, of_path)
    for file in filter(None, (answer.per_rank, answer.trace)):
        say.line(f"wrote {file}")
    say.warnings(answer.warnings)
