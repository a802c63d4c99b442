"""Tables of `hockney apply`."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fuzz.mutation import Json
from tests.fuzz.parser import Parser, parsers, reading

from hockney.records.preload_table import load
from hockney.runner.preload import rules_text


def seeds() -> Sequence[bytes]:
    """A table with all fields, and one with what it must have."""
    whole = (
        b'{"schema_version": 1, "mpi": "Open MPI 5.0.11", "rules": [{"operation": "bcast", "least_ranks": 5, '
        b'"most_ranks": 8, "least_bytes": 65536, "most_bytes": null, "algorithm": "binomial", '
        b'"segment_bytes": 0, "radix": 0, "gain": 1.5, "basis": "model"}, '
        b'{"operation": "allgather", "algorithm": "ring"}]}'
    )
    return [whole, b'{"schema_version": 1, "rules": []}']


parsers.register("preload_table")(
    # What the layer would be told, too.
    Parser(seeds, Json(), reading("t.json", lambda path: rules_text(load(path))), turn=5)
)
