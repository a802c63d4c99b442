"""Profiles of programs."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fuzz.mutation import Json
from tests.fuzz.parser import Parser, parsers, reading

from hockney.records.profile import load


def seeds() -> Sequence[bytes]:
    """A profile with a collective, messages and waits."""
    return [
        b'{"schema_version": 1, "mpi": "Open MPI 5.0.11", "ranks": 4, "elapsed_s": 1.5, "communicators": '
        b'[{"name": "MPI_COMM_WORLD", "ranks": 4, "groups": 1}, {"name": "", "ranks": 0, "groups": 1}], '
        b'"calls": [{"operation": "allreduce", "site": "a.c:7 (main)", "communicator": 0, '
        b'"calls": 8, "bytes": 64, "time_s": 0.25, "least_rank_time_s": 0.05, "most_rank_time_s": 0.075, '
        b'"sizes": [{"bytes": 8, "calls": 8}], "sampled": 8, "waiting_s": 0.125, '
        b'"transferring_s": 0.125, "late": {"rank": 2, "share": 0.5}}, '
        b'{"operation": "isend", "site": "", "communicator": 0, "calls": 4, "bytes": 4096, "time_s": 0.01, '
        b'"least_rank_time_s": 0, "most_rank_time_s": 0.01, "sizes": [{"bytes": 1024, "calls": 4}]}, '
        b'{"operation": "waitall", "site": "", "communicator": 1, "calls": 4, "bytes": 0, "time_s": 0.01, '
        b'"least_rank_time_s": 0, "most_rank_time_s": 0.01, "sizes": [{"bytes": 0, "calls": 4}]}]}'
    ]


parsers.register("profile")(
    Parser(
        seeds,
        Json(),
        reading("p.json", load),
        (
            "predict FILE --machine orfeo_thin --json",
            "predict FILE --machine orfeo_thin --ranks 64",
            "predict profile FILE --system orfeo-epyc --mapping core --ranks 16 --json",
        ),
        each=4,
        turn=5,
    )
)
