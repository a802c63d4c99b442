"""Study files."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fuzz.mutation import Text
from tests.fuzz.parser import Parser, parsers, reading

from hockney.studies.files import FOLDER, load


def seeds() -> Sequence[bytes]:
    """The studies that come with the package."""
    return [path.read_bytes() for path in sorted(FOLDER.glob("*.toml"))]


parsers.register("study")(
    Parser(
        seeds,
        Text(),
        reading("s.toml", load),
        ("study FILE --dry-run --ranks 2 --json", "study FILE --dry-run --ranks 3 --quick --map-by core,node"),
        each=4,
        turn=5,
    )
)
