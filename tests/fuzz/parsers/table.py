"""Tidy tables: CSV, gzipped CSV, Parquet."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.mutation import Table
from tests.fuzz.parser import Parser, parsers
from tests.fuzz.parsers import campaign

from hockney.records import table
from hockney.records.folder import Campaign

MOST_ROWS = 30
COLLECTIVES = b"""system,operation,mapping,nodes,ranks,bytes,statistic,algorithm,time_us,repetition,mpi,ppn
orfeo-epyc,bcast,core,1,2,8,mean_over_ranks,binomial,1.5,0,Open MPI,2
orfeo-epyc,bcast,core,1,4,8,mean_over_ranks,binomial,2.5,0,Open MPI,4
orfeo-epyc,bcast,core,1,8,8,mean_over_ranks,binomial,3.5,0,Open MPI,8
orfeo-epyc,bcast,core,1,16,8,mean_over_ranks,linear,9.5,0,Open MPI,16
orfeo-epyc,bcast,core,1,8,1024,mean_over_ranks,binomial,5.5,0,Open MPI,8
orfeo-epyc,reduce,node,2,8,1024,max_over_ranks,binomial,6.5,0,Open MPI,4
"""


def seeds() -> Sequence[bytes]:
    """Tables of messages and of collectives, and what Hockney writes of a campaign, in each of its formats."""
    messages = (campaign.INPUTS / "loggp.csv").read_bytes().splitlines(keepends=True)
    with tempfile.TemporaryDirectory() as name:
        campaign.read(campaign.seeds()[0], Path(name))
        stored_campaign = Campaign.open(Path(name, "c"))
        frame = table.from_records(stored_campaign.records(), stored_campaign.launches())
        paths = [Path(name, f"t{ending}") for ending in (".csv", ".csv.gz", ".parquet")]
        for path in paths:
            table.write(frame, path)
        return [b"".join(messages[:MOST_ROWS]), COLLECTIVES, *(path.read_bytes() for path in paths)]


def stored(data: bytes, folder: Path) -> Path:
    """The file, under the ending that its first bytes have."""
    endings = {b"PAR1": ".parquet", b"\x1f\x8b": ".csv.gz"}
    path = folder / f"t{next((ending for magic, ending in endings.items() if data.startswith(magic)), '.csv')}"
    path.write_bytes(data)
    return path


def read(data: bytes, folder: Path) -> str:
    """The table, checked."""
    path = stored(data, folder)
    table.load(path)
    return path.name


parsers.register("table")(
    Parser(
        seeds,
        Table(),
        read,
        (
            *("fit FILE -o m.json --json && show m.json --json", "import FILE -o c --json && fit c -o m.json")
            * 3,
            *("evaluate FILE --json", "evaluate FILE --operation bcast --train 'ranks <= 4' --json"),
            "predict bcast --ranks 4 --bytes 8 --table FILE --system orfeo-epyc --mapping core --json",
            "report FILE -o r.html --json",
        ),
        each=16,
        turn=25,
    )
)
