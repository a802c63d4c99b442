"""The three-dimensional sum: what its run and its prediction are asked, and the words of its page."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from hockney.apps.repetitions import Repetitions
from hockney.apps.stencil.grids import Grid, parse_grid
from hockney.apps.stencil.loads import SPLITS, Split
from hockney.campaign.plan import AppLaunching
from hockney.fields import Argument, Option, Without
from hockney.predict.options import MachineFile, NetworkOptions
from hockney.report.application import App, Question, apps
from hockney.units import Extents, listed, names, parse_extents, parse_rate

Algorithm = Literal["linear", "binomial"]
"""That scatter and gather both have."""
MOST_CYCLES = 10**6
LARGEST_SEED = 2**62
SIMULATED_B_PER_S = 1e10
"""Memory bandwidth of a simulated host."""
MOST = 2**31 - 1
"""Elements along a direction."""


def parse_size(text: str) -> Extents:
    """`2400x100x100`; RequestError for anything else."""
    size = parse_extents(text, "a size", "elements", dimensions=(3,), at_most=MOST, example="2400x100x100")
    return Extents(*size)


class Sum3dStudy(BaseModel):
    """What is summed, on which grids, how it is split and how often."""

    nx: Annotated[int | None, Argument("Elements along x.", metavar="nx")] = None
    ny: Annotated[int | None, Argument("Elements along y.", metavar="ny")] = None
    nz: Annotated[int | None, Argument("Elements along z.", metavar="nz")] = None
    sizes: Annotated[
        list[Extents],
        Option(
            "Elements along x, y and z, such as 240x100x100 (repeatable).",
            flags=("--size",),
            read=parse_size,
            repeat=True,
        ),
    ] = Field(default_factory=list)
    grid: Annotated[
        list[str],
        Option(
            "Processes along x, y and z, several, all, or shapes (each once). [default: as alike as possible]",
            read=names,
        ),
    ] = Field(default_factory=list)
    split: Annotated[
        list[Split],
        Option(
            "How elements are split over the ranks: balanced, cartesian, blocks, or several.",
            read=names,
            show=",".join,
        ),
    ] = ["balanced"]
    ranks: Annotated[int | None, Option("Number of ranks. [default: the cores of this host]"), Field(ge=1)] = None
    repetitions: Repetitions = None
    cycles: Annotated[
        int,
        Option("Number of cycles in a repetition, whose time is their mean.", flags=("--iterations",)),
        Field(ge=1, le=MOST_CYCLES),
    ] = 1
    seed: int = Field(default=1, ge=0, le=LARGEST_SEED, description="of the elements and the order")
    loads_only: Annotated[
        bool,
        Option("Print how many elements each rank gets, and launch nothing.", flags=("--dry-run",)),
    ] = False


class Sum3dCase(NetworkOptions, MachineFile):
    """What is summed on which ranks, how fast their memory is, and which messages cost what."""

    nx: Annotated[int, Argument("Elements along x.", metavar="nx")]
    ny: Annotated[int, Argument("Elements along y.", metavar="ny")]
    nz: Annotated[int, Argument("Elements along z.", metavar="nz")]
    ranks: Annotated[int | None, Option("Number of ranks. [default: those of --grid]")] = None
    grid: Annotated[Grid | None, Option(read=parse_grid)] = None
    split: Annotated[Split, Option(f"How the elements are split over the ranks: {listed(SPLITS)}.")] = "balanced"
    memory_bandwidth_B_per_s: Annotated[
        float | None,
        Option(
            "Memory bandwidth of a rank while all compute, such as 10GB/s.",
            flags=("--memory-bandwidth",),
            read=parse_rate,
        ),
    ] = None
    locality: Annotated[str, Option("How far rank 0 is from the others. [default: the farthest measured]")] = ""
    algorithm: Annotated[Algorithm, Option("Algorithm of scatter and gather: linear or binomial.")] = "linear"

    @property
    def size(self) -> Extents:
        """Elements of a matrix."""
        return Extents(self.nx, self.ny, self.nz)


APP = App(
    name="sum3d",
    title="Sum of matrices",
    meaning="Rank 0 scatters two matrices, every rank adds its parts, rank 0 gathers the sum.",
    run=Question(
        """C = A + B of random matrices that rank 0 holds: two scatters, the sum and a gather, by collectives.

Says what each rank gets, mean and 95 % interval over the repetitions, and the shares of scatter, sum and
gather. Every element of the result is checked bitwise. Of several sizes, grids or splits there is a
table, and a test whether the grid matters.""",
        """
hockney run sum3d 240 100 100 --ranks 2
hockney run sum3d 2400 100 100 --grid 8x3x1 --split cartesian --repetitions 10 --iterations 50
hockney run sum3d --size 240x100x100 --size 120x200x100 --ranks 4 --grid all --split balanced,cartesian -o sums
hockney run sum3d 800 300 100 --grid 6x4x1 --split cartesian --dry-run
hockney run sum3d 64 64 64 --ranks 8 --split blocks --mpi smpi:cluster.xml
""",
        {"study": Sum3dStudy, "launching": Annotated[AppLaunching, Without("ranks")]},
    ),
    predict=Question(
        "Time of one cycle of `hockney run sum3d`, by part: scatters, sum, gather, and the order of blocks.",
        """
hockney predict sum3d 2400 100 100 --ranks 24 --memory-bandwidth 10GB/s --locality cache
hockney predict sum3d 800 300 100 --ranks 24 --grid 6x4x1 --split blocks --memory-bandwidth 10GB/s --json
""",
        {"case": Sum3dCase},
    ),
    unit="a cycle",
    rate="10⁶ sums/s",
    about="Communication: scatters and gather, which also wait for the slowest rank, of the time of all ranks.",
    about_prediction="scatter and gather from messages of the farthest measured locality. The sum and copies "
    "take the memory bandwidth that each run measured: those parts are no prediction.",
)

apps.register("sum3d")(APP)
