"""System files."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fuzz.mutation import Json
from tests.fuzz.parser import Parser, parsers, reading
from tests.fuzz.parsers.campaign import INPUTS

from hockney.machine.system import SHIPPED, load_system


def seeds() -> Sequence[bytes]:
    """The systems that come with the package, and one of a user."""
    return [path.read_bytes() for path in (*sorted(SHIPPED.glob("*.json")), INPUTS / "cluster.json")]


_MAPPED = ("", "--mapping core", "--mapping node")
parsers.register("system")(
    Parser(
        seeds,
        Json(),
        reading("s.json", load_system),
        tuple(
            f"{command} {mapping} --system FILE --json"
            for mapping in _MAPPED
            for command in (
                "simulate bcast --algorithm binomial --ranks 12 --bytes 1KiB",
                "simulate allreduce --algorithm ring --ranks 8 --bytes 1MiB --machine orfeo_thin",
                "predict bcast --ranks 16 --bytes 8 --bytes 1MiB",
                "predict alltoall --ranks 8 --bytes 1KiB --machine orfeo_thin",
            )
        ),
        each=4,
        turn=25,
    )
)
