"""Machine files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from typing import Any

from tests.fuzz.mutation import Json
from tests.fuzz.parser import Parser, parsers, reading
from tests.fuzz.parsers.campaign import INPUTS

from hockney.machine.file import load

ROOT = INPUTS.parents[2]
MOST_ENTRIES = 2
MOST_POINTS = 8
"""Of a seed: more of them only take longer."""


def seeds() -> Sequence[bytes]:
    """The published machines and the files of older versions, each cut to its first entries."""
    texts = [path.read_bytes() for path in sorted((ROOT / "machines").glob("*.json"))]
    texts += [gzip.decompress((INPUTS / name).read_bytes()) for name in ("machine.json.gz", "version1.json.gz")]
    machines = [json.loads(text, object_hook=_thinned) for text in texts]
    for machine in machines:
        del machine["point_to_point"][MOST_ENTRIES:]
        # An effect of each kind, and a model of each collective.
        machine["effects"] = list({effect["effect"]: effect for effect in machine.get("effects", [])}.values())
        machine["collectives"] = machine.get("collectives", [])[:MOST_ENTRIES]
    return [json.dumps(machine).encode() for machine in machines]


def _thinned(part: dict[str, Any]) -> dict[str, Any]:
    """An object of a machine file with the first of its measured points."""
    points = part.get("points")
    return part | {"points": points[:MOST_POINTS]} if isinstance(points, list) else part


parsers.register("machine")(
    Parser(
        seeds,
        Json(),
        reading("m.json", load),
        (
            *(
                "show FILE",
                "show FILE --json",
                "show FILE --format summary",
                "show FILE --format latex --view all",
            ),
            *("show FILE --view bounded --topology torus:4x4", "show FILE --format table"),
            "predict pingpong --bytes 0 --bytes 64KiB --bytes 1GiB --machine FILE --json",
            "predict bandwidth --bytes 1MiB --machine FILE",
            "predict bcast --ranks 16 --bytes 1KiB --machine FILE --json",
            "predict allreduce --ranks 12 --bytes 1MiB --system orfeo-epyc --mapping core --machine FILE",
            "predict datatype --machine FILE --layout vector --blocks 2048 --block 8B --stride 64B --json",
            "predict ring --ranks 1-8 --machine FILE --json",
            "predict jacobi --size 96 --ranks 4 --cell-time 1ns --machine FILE --json",
            "simulate bcast --algorithm binomial --ranks 64 --bytes 1KiB --machine FILE --json",
            *("diff FILE bluegene_p --json", "diff FILE FILE --points", "report --card FILE -o card.html"),
        ),
        each=2,
        turn=25,
    )
)
