"""The ring: messages of 4 B once around, in both directions. What it is asked, and the words of its page."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import BaseModel, Field

from hockney.apps.repetitions import Repetitions
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.fields import Option, Without
from hockney.predict.options import BetweenNodes, MachineFile, NetworkOptions, Placing
from hockney.records.record import Locality
from hockney.report.application import App, Question, apps
from hockney.runner.inventory import inventory
from hockney.runner.launchers.base import MapBy
from hockney.units import LARGEST, listed, names, whole, wholes

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
            "Numbers of ranks, such as 8, 8,16 or 1-24. [default: the cores of this host]",
            read=partial(wholes, allowed=range(1, LARGEST + 1)),
        ),
    ] = Field(default_factory=lambda: [inventory().cores])
    exchange: Annotated[
        list[Exchange],
        Option(
            f"How neighbours exchange messages: {', '.join(EXCHANGES)}, or several.", read=names, show=",".join
        ),
    ] = ["sendrecv"]
    topology: Annotated[
        list[Topology],
        Option(
            f"Communicator of the ring: {', '.join(get_args(Topology))}, or several.",
            flags=("--communicator",),
            read=names,
            show=",".join,
        ),
    ] = ["world"]
    iterations: Annotated[
        int | None,
        Option("Number of cycles in a repetition."),
        Field(ge=1, le=MOST_ITERATIONS),
    ] = None
    repetitions: Repetitions = None
    form: Annotated[
        Literal["table", "messages", "hops"],
        Option("Form of the output: table, or lines of each process (messages, hops).", flags=("--format",)),
    ] = "table"
    csv: Annotated[Path | None, Option("CSV file with the statistics of every process, in µs.")] = None
    figure: Annotated[Path | None, Option("Picture of time against ranks: .svg, .png or .html.")] = None
    map_by: Annotated[
        list[MapBy],
        Option("Where ranks go: core, socket, node, hwthread, or several.", read=names, show=",".join),
    ] = ["core"]


class RingCase(NetworkOptions, Placing, MachineFile):
    """Which cycles are predicted, on a system or with all neighbours at one locality."""

    ranks: Annotated[
        list[int],
        Option(
            "Numbers of processes: 8, 8,16 or 1-24.",
            read=lambda text: sorted(set(wholes(text, range(1, MOST_RANKS + 1)))),
        ),
    ] = Field(default_factory=list)
    exchange: Annotated[Exchange, Option(f"How neighbours exchange messages: {listed(EXCHANGES)}.")] = "sendrecv"
    model: Annotated[Model, Option(f"Model of a cycle: {listed(get_args(Model))}.")] = OURS
    where: Annotated[list[str], Option()] = Field(default_factory=list)
    locality: Annotated[
        Locality | None, Option("How far all neighbours are apart. [default: the nearest measured]")
    ] = None


class Links(NamedTuple):
    """Latencies and bandwidths of neighbours: in one domain, and between domains of `domain` ranks."""

    within: BetweenNodes
    across: BetweenNodes | None = None
    domain: int | None = None

    @classmethod
    def read(cls, text: str) -> Links:
        """`0.34us,6.4GB/s`, or with domains of 12 ranks `0.34us,6.4GB/s:12:0.57us,5.5GB/s`; RequestError else."""
        match text.split(":"):
            case [within]:
                return cls(BetweenNodes.read(within))
            case [within, domain, across]:
                return cls(BetweenNodes.read(within), BetweenNodes.read(across), whole(domain))
        raise RequestError(f"{text!r} is no link", "write 0.34us,6.4GB/s, or 0.34us,6.4GB/s:12:0.57us,5.5GB/s")


class Numbers(BaseModel):
    """What messages of neighbours cost, instead of a machine file."""

    links: Annotated[
        Links | None,
        Option(
            "Latency and bandwidth of neighbours in place of a machine file, or within and across domains of 12 "
            "ranks: 0.34us:12:0.57us.",
            flags=("--link",),
            read=Links.read,
        ),
    ] = None


APP = App(
    name="ring",
    title="Ring",
    meaning="A cycle has as many hops as processes. In each hop every process sends 4 B to both neighbours and "
    "waits for one message from each. A cycle ends when all have their own two messages back.",
    run=Question(
        """Messages that travel once around a ring of processes, in both directions at once.

Each cycle ends when every process has its own two messages back. Values and tags are checked in every cycle.
Over several numbers of processes, lines are fitted, with breaks where the placement fills a cache, a package or a
node. Half the slope is the latency of a message.""",
        "hockney run ring --ranks 4 --format messages\n"
        "hockney run ring --ranks 1-24 --map-by core,node -o FOLDER --csv ring.csv\n"
        "hockney run ring --ranks 1-24 --exchange sendrecv,nonblocking --figure ring.png",
        {"study": RingStudy, "launching": Annotated[AppLaunching, Without("ranks", "map_by")]},
    ),
    predict=Question(
        """The time of one cycle of `hockney run ring`: all messages back where they started.

It comes from the messages of a machine file, between the neighbours of a placement; PingPing is preferred. A
latency and a bandwidth alone are enough, too.""",
        "hockney predict ring --ranks 1-24\n"
        "hockney predict ring --ranks 2,64,128,256 --system orfeo-epyc --mapping core --exchange nonblocking\n"
        "hockney predict ring --ranks 2-24 --link 0.34us,6372.991MB/s:12:0.57us,5530.801MB/s "
        "--model two-links --json",
        {"case": RingCase, "numbers": Numbers},
        without_machine=("numbers",),
    ),
    unit="a cycle",
    rate="hops/s",
    about="One more process is two messages more: on a line T(P) = a + 2 T_l P the latency of a message is T_l = "
    "slope/2. Where both messages of a hop travel at once, that is half a hop.",
    about_prediction="each hop costs the slowest link between neighbours, twice where messages take turns, plus "
    "the time that a processor is busy.",
)

apps.register("ring")(APP)
