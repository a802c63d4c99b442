"""`hockney lab`: start a cluster of network namespaces on this machine (root)."""

from __future__ import annotations

from hockney import api
from hockney.options.runner import LabRunOptions, LabUpOptions
from hockney.terminal import JsonOption, group, say, verb
from hockney.terminal.signals import interruptible
from hockney.units import format_bytes, format_rate

EXAMPLES = """hockney lab up --nodes 8 --link 100Mbit/s
hockney lab run -- hockney measure --ranks 8 --operation bcast --algorithm all --bind-to none -o campaign
hockney lab down"""

lab = group(
    "lab",
    examples=EXAMPLES,
)


@verb("up", of=lab, examples="hockney lab up --nodes 8 --link 100Mbit/s")
@interruptible()
def up(options: LabUpOptions, json: JsonOption = False) -> None:
    """Turn this machine into several hosts on a bridge, and print the size from which the links dominate.

    Each host is a network namespace with a name and an address of its own. They share the cores: latencies are
    not those of a network, and messages below that size say nothing about one.
    """
    started = api.lab_up(options)
    if json:
        say.json(started)
        return
    ends = [f"{which[0]} to {which[-1]}" for which in (started.names, started.addresses)]
    say.line(f"{started.hosts} hosts are up: {', '.join(ends)}")
    say.line(_rule(started))
    say.line("`hockney lab run -- mpirun …` runs a command on the first, `hockney lab down` takes them away")


def _rule(made: api.Lab) -> str:
    if made.link_bit_per_s is None:
        return "the links are not shaped (--link): the cores, not the network, decide all times"
    rate = f"links of {format_rate(made.link_bit_per_s / 8)}"
    if made.rules_from_B is None:
        return (
            f"{rate}: the cores, not the links, decide times up to {format_bytes(max(made.exchange_s))} at least"
        )
    return f"{rate}: below messages of {format_bytes(made.rules_from_B)} the cores, not the network, decide times"


@verb("down", of=lab, examples="hockney lab down")
def down(json: JsonOption = False) -> None:
    """Remove the lab."""
    gone = api.lab_down()
    if json:
        say.json(gone)
        return
    say.line(f"the lab {gone.name} is gone")


@verb(
    "run",
    launches=True,
    of=lab,
    examples="hockney lab run -- mpirun -n 8 --bind-to none ./app\n"
    "hockney lab run -- hockney measure --ranks 8 --operation bcast --bind-to none -o campaign",
)
def run(options: LabRunOptions, json: JsonOption = False) -> None:  # noqa: ARG001 - errors are JSON with it
    """Run a command on the first host, where launchers of MPI find the others: one rank on each.

    Its exit code is this command's. MPIs keep to TCP and yield while they wait, as far as they can.
    """
    api.lab_run(options)
