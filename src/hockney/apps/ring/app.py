"""The ring: messages of 4 B once around, in both directions. What it is asked, and the words of its page."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, Field

from hockney.apps.repetitions import Repetitions
from hockney.campaign.plan import AppLaunching
from hockney.fields import Option, Without
from hockney.predict.options import MachineFile, NetworkOptions, Placing
from hockney.report.application import App, Question, apps
from hockney.runner.inventory import inventory
from hockney.runner.launchers.base import MapBy
from hockney.units import parse_positive_rate, parse_time
from hockney.words import LARGEST, listed, names, wholes

Exchange = Literal["sendrecv", "nonblocking", "persistent"]
EXCHANGES: tuple[Exchange, ...] = get_args(Exchange)
BOTH_AT_ONCE = ("nonblocking", "persistent")
"""Exchanges in which both messages of a hop travel at once."""
Topology = Literal["world", "cartesian", "cartesian-reorder"]
Model = Literal["slowest-link", "two-links"]
OURS: Model = "slowest-link"
TWO_LINKS: Model = "two-links"
MOST_ITERATIONS = 100_000_000
MOST_RANKS = 65536
"""Of the program: beyond, P(P-1)/2 does not fit its messages."""


class RingStudy(BaseModel):
    """Rings of several numbers of processes, and what is made of their times."""

    ranks: Annotated[
        list[int],
        Option(
            "8, 8,16 or 1-24, in one launch. [default: the cores of this host]",
            read=partial(wholes, allowed=range(1, LARGEST + 1)),
        ),
    ] = Field(default_factory=lambda: [inventory().cores])
    exchange: Annotated[
        list[Exchange],
        Option(f"{', '.join(EXCHANGES)}, or several.", read=names, show=",".join),
    ] = ["sendrecv"]
    topology: Annotated[
        list[Topology],
        Option(
            f"{', '.join(get_args(Topology))}, or several.",
            flags=("--communicator",),
            read=names,
            show=",".join,
        ),
    ] = ["world"]
    iterations: Annotated[
        int | None,
        Option("Cycles of a repetition; given, there is one repetition unless --repetitions says more."),
        Field(ge=1, le=MOST_ITERATIONS),
    ] = None
    repetitions: Repetitions = None
    form: Annotated[
        Literal["table", "messages", "hops"],
        Option("table; lines of a process: messages, hops.", flags=("--format",)),
    ] = "table"
    csv: Annotated[Path | None, Option("The statistics of every process, in µs.")] = None
    out: Annotated[
        Path | None,
        Option(
            "Folder for a file of each ring: npP.txt with its processes' lines, npP.csv with statistics.",
            flags=("--files",),
        ),
    ] = None
    machine: Annotated[Path | None, Option("To predict from.")] = None
    model: Annotated[Model, Option(f"{listed(get_args(Model))}.")] = OURS
    figure: Annotated[Path | None, Option("Time against processes.")] = None
    map_by: Annotated[
        list[MapBy], Option("core, socket, node, hwthread, or several.", read=names, show=",".join)
    ] = ["core"]


class RingCase(NetworkOptions, Placing, MachineFile):
    """Which cycles are predicted, on a system or with all neighbours at one locality."""

    ranks: Annotated[
        list[int],
        Option("8, 8,16 or 1-24.", read=lambda text: sorted(set(wholes(text, range(1, MOST_RANKS + 1))))),
    ] = Field(default_factory=list)
    exchange: Annotated[Exchange, Option(f"{listed(EXCHANGES)}.")] = "sendrecv"
    model: Annotated[Model, Option(f"{listed(get_args(Model))}.")] = OURS
    where: Annotated[list[str], Option("mapping, mpi, system, source, variant.")] = Field(default_factory=list)
    locality: Annotated[str, Option("All neighbours, without --system. [default: the nearest measured]")] = ""


class Numbers(BaseModel):
    """A latency and a bandwidth within a domain of `domain` ranks, and between two, instead of a machine file."""

    latency_s: Annotated[
        float | None, Option("In place of a machine file.", flags=("--latency",), read=parse_time)
    ] = None
    bandwidth_B_per_s: Annotated[
        float | None,
        Option("With --latency. [default: any]", flags=("--bandwidth",), read=parse_positive_rate),
    ] = None
    latency_across_s: Annotated[
        float | None,
        Option(
            "With --latency: latency of a message between domains.", flags=("--latency-across",), read=parse_time
        ),
    ] = None
    bandwidth_across_B_per_s: Annotated[
        float | None,
        Option(
            "With --latency-across: bandwidth of messages between domains.",
            flags=("--bandwidth-across",),
            read=parse_positive_rate,
        ),
    ] = None
    domain: Annotated[
        int | None, Option("With --latency-across: consecutive ranks of a domain, such as a socket's cores.")
    ] = None


APP = App(
    name="ring",
    title="Ring",
    meaning="In each of as many hops as there are processes, every process sends a message of 4 B to either "
    "neighbour and waits for one from either. A cycle ends when all have their own two messages back.",
    run=Question(
        """Messages that travel once around a ring of processes, in both directions at once.

Each cycle ends when every process has its own two messages back; values and tags are checked in all of them.
Over several numbers of processes, lines are fitted between the places where the placement fills a cache, a
package or a node; half the slope is the latency of a message.""",
        "hockney run ring --ranks 4 --format messages\n"
        "hockney run ring --ranks 1-24 --map-by core,node -o FOLDER --csv ring.csv\n"
        "hockney run ring --ranks 1-24 --exchange sendrecv,nonblocking --machine machine.json --figure ring.png",
        {"study": RingStudy, "launching": Annotated[AppLaunching, Without("ranks", "map_by")]},
    ),
    predict=Question(
        """The time of one cycle of `hockney run ring`: all messages back where they started.

From the messages of a machine file, PingPing where it was measured, for the neighbours that a placement
makes; or from a latency and a bandwidth alone.""",
        "hockney predict ring --ranks 1-24\n"
        "hockney predict ring --ranks 2,64,128,256 --system orfeo-epyc --mapping core --exchange nonblocking\n"
        "hockney predict ring --ranks 2-24 --latency 0.34us --bandwidth 6372.991MB/s --latency-across 0.57us "
        "--bandwidth-across 5530.801MB/s --domain 12 --model two-links --json",
        {"case": RingCase, "numbers": Numbers},
        without_machine=("numbers",),
    ),
    unit="a cycle",
    rate="hops/s",
    about="A process more is two messages more: on a line T(P) = a + 2 T_l P, the latency of a message is T_l = "
    "slope/2; where both messages of a hop travel at once, that is half a hop. e = (t_max − t_min)/2 over "
    "the repetitions.",
    about_prediction="twice the slowest link between neighbours in each hop where messages are exchanged in "
    "turns, once and what sending and receiving keep a processor busy where both travel at once.",
)

apps.register("ring")(APP)
