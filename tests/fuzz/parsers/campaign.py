"""Campaign folders: records, launches, plan, runs, effects, failures."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.mutation import Folder, Json, Lines, Table, joined, parts
from tests.fuzz.parser import Parser, parsers

from hockney.errors import RequestError
from hockney.records.folder import Campaign

INPUTS = Path(__file__).parents[3] / "bench" / "answers_data" / "inputs"
MOST_LINES = 10
"""Of a file of a seed: larger ones only take longer."""
FAILURE = b'{"launch": "1b0f8d65f3f9", "operation": "pingpong", "bytes": 8, "reason": "memory"}\n'


def _thin(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(lines[:: 1 + len(lines) // MOST_LINES])


def seeds() -> Sequence[bytes]:
    """The campaigns of the recorded answers, thinned out, and their records without anything else."""
    folders = []
    for name in ("demo", "effects", "runs", "damaged"):
        files = {}
        for path in sorted((INPUTS / name).iterdir()):
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            is_lines = path.name.removesuffix(".gz").endswith(".jsonl")
            # What launches say since then, too.
            data = data.replace(
                b'"eager_limit_B"', b'"breaks_B": {"shared_memory": [256, 2112]}, "eager_limit_B"'
            )
            files[path.name.removesuffix(".gz")] = _thin(data) if is_lines else data
        folders.append(files)
    folders += [{"records.jsonl": folders[0]["records.jsonl"]}, folders[0] | {"failures.jsonl": FAILURE}]
    return [joined(files) for files in folders]


def read(data: bytes, folder: Path) -> str:
    """All that is stored; a folder without a record that is whole does not pass.

    The table of it takes twenty times as long; most of the commands make it first.
    """
    place = folder / "c"
    place.mkdir()
    for name, text in parts(data).items():
        (place / name).write_bytes(text)
    campaign = Campaign.open(place)
    campaign.plan()
    stored = [*campaign.records(), *campaign.apps(), *campaign.effects()]
    campaign.launches()
    campaign.failures()
    if not stored:
        raise RequestError("no record")
    return "c"


_LINES = Lines()
parsers.register("campaign")(
    Parser(
        seeds,
        Folder(
            {
                "plan.json": Json(),
                "samples.csv": Table(),
                **dict.fromkeys(
                    ("records.jsonl", "launches.jsonl", "apps.jsonl", "effects.jsonl", "failures.jsonl"), _LINES
                ),
            }
        ),
        read,
        (
            *("fit c -o m.json --json && show m.json --json", "fit c -o m.json && show m.json --format summary")
            * 4,
            *("evaluate c --json", "merge c c -o d --json", "measure -o c --resume --mpi no/such/prefix"),
            *("fit c --topology torus:2 -o m.json", "predict jacobi --size 48 --ranks 4 --table c --json"),
            "report c -o r.html --json",
        ),
        each=16,
        turn=25,
    )
)
