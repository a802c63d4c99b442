"""Bursts before batches: a ping-pong meets the pieces of memory that a library copies messages by, not one of them."""

from __future__ import annotations

from pathlib import Path

from tests.runner.preload.programs import compiled
from tests.runner.test_kernels import ask

from hockney.runner.build import runner_binary
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi
from hockney.runner.session import Session

MOST = 16
"""Messages of a burst (cpp/runner/pair.cpp)."""

NOTES_BURSTS = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
/* A line for each row of MPI_Isend: the runner's ping-pong has no other, and batches begin with MPI_Send or Recv. */
static int length = 0, bytes = 0;
static FILE* notes = NULL;
static void note(void) {
    int rank;
    char name[4096];
    if (length == 0) return;
    if (notes == NULL) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        snprintf(name, sizeof name, "%s/%d", getenv("BURSTS"), rank);
        notes = fopen(name, "w");
    }
    fprintf(notes, "%d %d\\n", bytes, length);
    length = 0;
}
int MPI_Isend(const void* from, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    ++length;
    bytes = n;
    return PMPI_Isend(from, n, type, to, tag, comm, request);
}
int MPI_Waitall(int n, MPI_Request* requests, MPI_Status* statuses) {
    note();
    return PMPI_Waitall(n, requests, statuses);
}
int MPI_Finalize(void) {
    if (notes != NULL) fclose(notes);
    return PMPI_Finalize();
}
"""


def test_batches_of_fast_messages_begin_with_bursts_of_many_lengths(mpi: Mpi, tmp_path: Path) -> None:
    library = compiled(mpi, tmp_path, NOTES_BURSTS, "-shared", "-fPIC")
    argv, environment = command(mpi, LaunchRequest(ranks=2))
    words = ["env", f"LD_PRELOAD={library}", f"BURSTS={tmp_path}", str(runner_binary(mpi))]
    with Session([*argv, *words], {**mpi.environment, **environment}, 120.0) as session:
        for size_B in (1024, 4 << 20):
            answer = ask(session, "pingpong", size_B)
            assert answer["verified"] is True
    notes = [(tmp_path / str(rank)).read_text(encoding="ascii").splitlines() for rank in (0, 1)]
    assert notes[0] == notes[1], "both sides send as many"
    of_size: dict[int, list[int]] = {}
    for size_B, length in (map(int, line.split()) for line in notes[0]):
        of_size.setdefault(size_B, []).append(length)
    lengths = of_size[1024]
    assert set(lengths) <= set(range(1, MOST + 1))
    # Each length up to a quarter of the batch is as likely: of the first batches, which grow, that is one or two.
    assert len(lengths) >= 6
    assert len(set(lengths)) > 1
    # A batch of one message, or of two, has none.
    assert 4 << 20 not in of_size
