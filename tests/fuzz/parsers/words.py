"""What is written after an option: sizes, times and rates, grids, networks, variants, conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
from tests.fuzz.mutation import Text
from tests.fuzz.parser import Parser, parsers

from hockney import units
from hockney.apps.pinning import topology
from hockney.apps.stencil.grids import parse_grid
from hockney.apps.stencil.options import parse_cells, parse_ranks, parse_unknowns
from hockney.campaign.plan import message_size
from hockney.errors import RequestError
from hockney.machine.select import parse_where
from hockney.network.topologies.base import link_rate, parse_spec
from hockney.network.traffic.patterns import parse_pattern
from hockney.predict.split import select
from hockney.report.marks import Peak
from hockney.runner.variants import parse_variant

Reader = Callable[[str], object]
POINTS = pd.DataFrame({"ranks": [2, 4, 8], "bytes": [8, 64, 8], "mapping": ["core", "node", "core"]})


def _words(name: str, seeds: Sequence[str], readers: Sequence[Reader], turn: int) -> None:
    """Every reader gets every text; it passes where one of them takes it."""

    def read(data: bytes, _folder: Path) -> str:
        # The command line refuses what is no UTF-8.
        text, refusals = data.decode("utf-8", "replace"), 0
        for reader in readers:
            try:
                reader(text)
            except RequestError:
                refusals += 1
        if refusals == len(readers):
            raise RequestError("no reader takes it")
        return ""

    parsers.register(name)(Parser(lambda: [seed.encode() for seed in seeds], Text(), read, turn=turn))


_words(
    "units",
    [
        "8",
        "64KiB",
        "1MB",
        "12.5GB/s",
        "100Gbit/s",
        "2.5us",
        "30s",
        "2min",
        "6ns/B",
        "1e-3 s",
        ".5e3 KiB",
        "0",
        "1GiB",
    ],
    [
        *(units.parse_bytes, units.parse_rate, units.parse_positive_rate, units.parse_time, units.parse_per_byte),
        *(message_size, link_rate),
    ],
    turn=45,
)
_words(
    "options",
    [
        *("4x3x2", "400", "2000x2000x64", "300x300", "1,2,4", "HDR=100Gbit/s", "mapping=core"),
        *("tcp: --mca pml ob1 --mca btl tcp,self", "big: MPIR_CVAR_X=1 FI_PROVIDER='tcp x'"),
        "2 packages x 2 numa x 4 cores x 2 threads",
    ],
    [
        *(parse_grid, parse_cells, parse_unknowns, parse_ranks, Peak.parse, parse_variant, topology.parse),
        lambda text: parse_where([text]),
    ],
    turn=70,
)
_words(
    "conditions",
    [
        "ranks <= 4",
        "ranks > 2 and mapping in ['core', 'node']",
        "sample(0.3, seed=1) | bytes == 8",
        "not (bytes < 9)",
    ],
    [lambda text: select(POINTS, text)],
    turn=40,
)
_words(
    "networks",
    [
        *("torus:8x8x4", "hypercube:4", "torus:4x4,link=10Gbit/s", "single-switch:nodes=16"),
        "fat-tree:nodes=16,leaf-ports=2:2,spines=2,spine-ports=8",
        "dragonfly:routers=4,nodes-per-router=2,global-links=2,groups=5",
        *("jacobi:8x8x4", "ring:64", "collective:allgather:ring:16"),
    ],
    [parse_spec, parse_pattern],
    turn=15,
)
