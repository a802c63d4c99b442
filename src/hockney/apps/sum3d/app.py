"""The three-dimensional sum: what its run and its prediction are asked, and the words of its page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from hockney.apps.repetitions import Repetitions
from hockney.apps.stencil.grids import Grid, parse_grid
from hockney.apps.stencil.loads import SPLITS, Split
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.fields import Argument, Option, Without, flags_written
from hockney.predict.options import MachineFile, NetworkOptions
from hockney.report.application import App, Question, apps
from hockney.units import Extents, parse_extents, parse_rate, parse_time
from hockney.words import listed, names

MOST_CYCLES = 10**6
LARGEST_SEED = 2**62
SIMULATED_MEMORY = "10GB/s"
MOST = 2**31 - 1
"""Elements along a direction."""


class Size(BaseModel):
    """Elements of the matrices."""

    nx: Annotated[int, Argument("Elements along x.", metavar="nx")]
    ny: Annotated[int, Argument("Elements along y.", metavar="ny")]
    nz: Annotated[int, Argument("Elements along z.", metavar="nz")]

    @property
    def size(self) -> Extents:
        """Along all three."""
        return Extents(self.nx, self.ny, self.nz)


def parse_sizes(texts: list[str]) -> list[Extents]:
    """`2400x100x100`, each once. RequestError for anything else."""
    sizes = (
        parse_extents(text, "a size", "elements", dimensions=(3,), at_most=MOST, example="2400x100x100")
        for text in texts
    )
    return [Extents(*size) for size in dict.fromkeys(sizes)]


class Sum3dCosts(BaseModel):
    """Which messages of a machine file cost what, and what a sum moves."""

    locality: Annotated[str, Option("Rank 0 and the others. [default: the farthest measured]")] = ""
    cache: Annotated[
        str,
        Option("Of the messages. [default: off where the matrices exceed the caches]"),
    ] = ""
    write_allocate: Annotated[
        bool,
        Option("The cache reads what is written: 32 B for each sum, not 24 B.", flags=("--write-allocate",)),
    ] = False
    algorithm: Annotated[str, Option("Of scatter and gather: linear or binomial.")] = "linear"


def refuse_beside_table(costs: Sum3dCosts) -> None:
    """RequestError for options of simulated scatters and gathers, where these were measured."""
    written = flags_written(costs)
    for name in ("locality", "algorithm"):
        if name in written:
            raise RequestError(f"{written[name]} means nothing with --table", "leave it out: the table says it")


class Sum3dStudy(BaseModel):
    """What is summed, on which grids, how it is split and how often."""

    nx: Annotated[int | None, Argument("Elements along x.", metavar="nx")] = None
    ny: Annotated[int | None, Argument("Elements along y.", metavar="ny")] = None
    nz: Annotated[int | None, Argument("Elements along z.", metavar="nz")] = None
    sizes: Annotated[
        list[str],
        Option("Elements, in place of nx ny nz; repeat for several.", flags=("--size",)),
    ] = Field(default_factory=list)
    grid: Annotated[
        list[str],
        Option(
            "Or several; all: every grid of --ranks; shapes: each once, longest along x. [default: as "
            "alike as possible]",
            read=names,
        ),
    ] = Field(default_factory=list)
    split: Annotated[
        list[Split],
        Option(
            "balanced: all elements over all ranks; cartesian: as many as the grid says, in pieces; "
            "blocks: the blocks of the grid themselves. Or several.",
            read=names,
            show=",".join,
        ),
    ] = ["balanced"]
    pack: Annotated[
        bool,
        Option(
            "With --split blocks: rank 0 copies each block into a buffer itself, in place of a datatype.",
            flags=("--pack",),
        ),
    ] = False
    ranks: Annotated[int | None, Option("[default: the cores of this host]"), Field(ge=1)] = None
    repetitions: Repetitions = None
    cycles: Annotated[
        int, Option("Cycles of a repetition, whose time is their mean."), Field(ge=1, le=MOST_CYCLES)
    ] = 1
    rounds: Annotated[
        int | None,
        Option("Visits of each configuration, in a new random order each time. [default: 1; 5 of several]"),
        Field(ge=1),
    ] = None
    seed: Annotated[int, Option("The elements and the order."), Field(ge=0, le=LARGEST_SEED)] = 1
    generate: Annotated[
        bool,
        Option("Rank 0 makes the elements anew in each cycle.", flags=("--generate",)),
    ] = False
    fresh: Annotated[
        bool,
        Option("Every rank has new memory for its parts in each cycle.", flags=("--fresh",)),
    ] = False
    loads_only: Annotated[
        bool,
        Option("How many elements each rank gets.", flags=("--dry-run",)),
    ] = False
    memory_bandwidth_B_per_s: Annotated[
        float | None,
        Option(
            f"Of a simulated host; a real host's is measured. [default: {SIMULATED_MEMORY}]",
            flags=("--memory-bandwidth",),
            read=parse_rate,
        ),
    ] = None


class Predicting(Sum3dCosts):
    """What predictions beside the measured times are from."""

    machine: Annotated[Path | None, Option("Predictions beside what was measured.")] = None
    table: Annotated[
        Path | None,
        Option("With --machine: this library's scatter and gather on as many ranks."),
    ] = None


class Sum3dCase(Size, MachineFile):
    """What is summed on which ranks, and how fast their memory is."""

    ranks: Annotated[int | None, Option("[default: those of --grid]")] = None
    grid: Annotated[Grid | None, Option(read=parse_grid)] = None
    split: Annotated[Split, Option(f"{listed(SPLITS)}.")] = "balanced"
    memory_bandwidth_B_per_s: Annotated[
        float | None,
        Option(
            "Of a rank while all compute: `hockney run sum3d` measures it.",
            flags=("--memory-bandwidth",),
            read=parse_rate,
        ),
    ] = None
    sum_bandwidth_B_per_s: Annotated[
        float | None,
        Option(
            "Memory bandwidth of the sum, where other ranks' caches hold what it writes. [default: the memory's]",
            flags=("--sum-bandwidth",),
            read=parse_rate,
        ),
    ] = None
    table: Annotated[
        Path | None,
        Option("Scatter and gather on as many ranks, in place of simulated ones."),
    ] = None
    element_time_s: Annotated[
        float,
        Option(
            "Where each cycle makes its elements: the time of one, such as 8ns; `hockney run sum3d` says it. "
            "[default: made before]",
            flags=("--element-time",),
            read=parse_time,
        ),
    ] = 0.0


APP = App(
    name="sum3d",
    title="Sum of matrices",
    meaning="Rank 0 scatters two matrices, every rank adds its parts, rank 0 gathers the sum.",
    run=Question(
        """C = A + B of random matrices that rank 0 holds: two scatters, the sum and a gather, by collectives.

Says what each rank gets, mean and 95 % interval over the repetitions, and the shares of scatter, sum, gather
and packing. Every element of the result is checked bitwise. Of several sizes, grids or splits there is a
table, and a test whether the grid matters.""",
        """
hockney run sum3d 240 100 100 --ranks 2 --machine machine.json
hockney run sum3d 2400 100 100 --grid 8x3x1 --split cartesian --repetitions 10 --cycles 50
hockney run sum3d --size 240x100x100 --size 120x200x100 --ranks 4 --grid all --split balanced,cartesian -o sums
hockney run sum3d 800 300 100 --grid 6x4x1 --split cartesian --dry-run
hockney run sum3d 64 64 64 --ranks 8 --split blocks --pack --mpi smpi --platform cluster.xml
""",
        {
            "study": Sum3dStudy,
            "predicting": Predicting,
            "launching": Annotated[AppLaunching, Without("ranks")],
        },
    ),
    predict=Question(
        "Time of one cycle of `hockney run sum3d`, by part: two scatters, the sum, the gather, and packing.",
        """
hockney predict sum3d 2400 100 100 --ranks 24 --memory-bandwidth 10GB/s --locality cache
hockney predict sum3d 800 300 100 --ranks 24 --grid 6x4x1 --split blocks --memory-bandwidth 10GB/s --json
""",
        {"case": Sum3dCase, "costs": Sum3dCosts, "between": NetworkOptions},
    ),
    unit="a cycle",
    rate="10⁶ sums/s",
    about="Communication: scatters and gather, which also wait for the slowest rank, of the time of all ranks.",
    about_prediction="scatter and gather from messages of the farthest locality that was measured, the sum and "
    "copies from the memory bandwidth that each run measured itself: in those parts nothing is foretold.",
)

apps.register("sum3d")(APP)
