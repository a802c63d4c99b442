"""`hockney lab`: a cluster of network namespaces on this machine, to learn and to test on (root)."""

from __future__ import annotations

import os
import shutil
from typing import Annotated

from pydantic import BaseModel, Field

from hockney.errors import EnvironmentLack
from hockney.fields import Argument, Option
from hockney.terminal import JsonOption, group, say, verb
from hockney.terminal.loading import later
from hockney.terminal.signals import interruptible
from hockney.units import format_bytes, format_rate, parse_positive_rate

with later():
    from hockney.runner import lab as labs

EXAMPLES = """hockney lab up --nodes 8 --link 100Mbit/s
hockney lab run -- hockney measure --ranks 8 --operation bcast --algorithm all --bind-to none -o campaign
hockney lab down"""

lab = group(
    "lab",
    examples=EXAMPLES,
)


class Named(BaseModel):
    """Which lab."""

    name: Annotated[str, Option("Name of the lab: several may be up.")] = "lab"


class UpOptions(Named):
    """What the lab is made of."""

    hosts: Annotated[int, Option("Each is a host with an address of its own.", flags=("--nodes",))] = 8
    link_B_per_s: Annotated[
        float | None,
        Option(
            "Of each host. [default: as fast as the cores are]",
            flags=("--link",),
            read=parse_positive_rate,
        ),
    ] = None


class RunOptions(Named):
    """What is run, and where."""

    command: Annotated[
        list[str], Argument("What to run on the first host, after `--`.", metavar="COMMAND...", repeat=True)
    ] = Field(min_length=1)


@verb("up", of=lab, examples="hockney lab up --nodes 8 --link 100Mbit/s\nhockney lab up --nodes 4 --name quick")
@interruptible()
def up(options: UpOptions, json: JsonOption = False) -> None:
    """Make hosts of this machine, joined by a bridge; it says from which message size on the links rule.

    Each host is a network namespace with a name and an address of its own. They share the cores: latencies are
    not those of a network, and messages below that size say nothing about one.
    """
    rate = options.link_B_per_s
    made = labs.up(options.name, options.hosts, None if rate is None else 8 * rate)
    if json:
        say.json(
            {
                **made.model_dump(),
                "addresses": made.addresses,
                "names": made.names,
                "rules_from_B": made.rules_from_B,
            }
        )
        return
    ends = [f"{which[0]} to {which[-1]}" for which in (made.names, made.addresses)]
    say.line(f"{made.hosts} hosts are up: {', '.join(ends)}")
    say.line(_rule(made))
    of = "" if options.name == UpOptions.model_fields["name"].default else f" --name {options.name}"
    say.line(
        f"`hockney lab run{of} -- mpirun …` runs a command on the first of them, "
        f"`hockney lab down{of}` takes them away"
    )


def _rule(made: labs.Lab) -> str:
    if made.link_bit_per_s is None:
        return "the links are not shaped (--link): the cores, not the network, decide all times"
    rate = f"links of {format_rate(made.link_bit_per_s / 8)}"
    if made.rules_from_B is None:
        return (
            f"{rate}: the cores, not the links, decide times up to {format_bytes(max(made.exchange_s))} at least"
        )
    return f"{rate}: below messages of {format_bytes(made.rules_from_B)} the cores, not the network, decide times"


@verb("down", of=lab, examples="hockney lab down\nhockney lab down --name quick")
def down(options: Named, json: JsonOption = False) -> None:
    """Take the lab away."""
    deleted = labs.down(options.name)
    if json:
        say.json({"name": options.name, "namespaces_deleted": deleted})
        return
    say.line(f"the lab {options.name} is gone")


@verb(
    "run",
    launches=True,
    of=lab,
    examples="hockney lab run -- mpirun -n 8 --bind-to none ./app\n"
    "hockney lab run -- hockney measure --ranks 8 --operation bcast --bind-to none -o campaign",
)
def run(options: RunOptions, json: JsonOption = False) -> None:  # noqa: ARG001 - errors are JSON with it
    """Run a command on the first host, where launchers of MPI find the others: one rank on each.

    Its exit code is this command's. MPIs keep to TCP and yield while they wait, as far as they can.
    """
    labs.expect_able()
    found = labs.find(options.name)
    program = shutil.which(options.command[0])
    if program is None:
        raise EnvironmentLack(f"no program {options.command[0]!r}", "check its name and the PATH")
    inside = found.inside([program, *options.command[1:]])
    os.execvpe(inside[0], inside, {**os.environ, **found.environment()})
