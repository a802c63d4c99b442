"""Bursts before batches and blocks: a measurement meets many pieces of the memory by which a library copies."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runner.preload.programs import compiled
from tests.runner.sessions import bcast, start
from tests.runner.test_kernels import ask

from hockney.runner.mpi import Mpi

MOST = 16
"""Messages of a burst (cpp/runner/pair.cpp, collective/group.hpp)."""

NOTES_BURSTS = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
/* A line for each row of MPI_Isend: the runner's ping-pong has no other. */
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


NOTES_BURSTS_OF_ALL = NOTES_BURSTS.replace(
    "MPI_Isend(const void* from, int n, MPI_Datatype type, int to,",
    "MPI_Irecv(void* from, int n, MPI_Datatype type, int to,",
).replace("PMPI_Isend", "PMPI_Irecv")
"""The same of MPI_Irecv: where the library's own broadcast runs, bursts alone call it."""


@pytest.mark.one_mpi
def test_batches_of_fast_messages_begin_with_bursts_of_many_lengths(mpi: Mpi, tmp_path: Path) -> None:
    library = compiled(mpi, tmp_path, NOTES_BURSTS, "-shared", "-fPIC")
    with start(mpi, 2, "env", f"LD_PRELOAD={library}", f"BURSTS={tmp_path}") as session:
        batches = {}
        for size_B in (512, 1024, 4 << 20):
            answer = ask(session, "pingpong", size_B)
            assert answer["verified"] is True
            batches[size_B] = answer["batch"]
    of_size: dict[int, list[int]] = {size_B: [] for size_B in batches}
    for size_B, length in (map(int, line.split()) for line in (tmp_path / "0").read_text().splitlines()):
        of_size[size_B].append(length)
    for size_B, batch in batches.items():
        # Batches of the warm-up are no longer than twice the last one.
        longest = min(MOST, 2 * batch // 4)
        assert set(of_size[size_B]) <= set(range(1, longest + 1))
        # Each length up to a quarter of the batch is as likely, in six batches or more.
        assert batch < 12 or len(set(of_size[size_B])) > 1


@pytest.mark.one_mpi
def test_blocks_of_fast_collectives_begin_with_bursts_of_many_lengths(mpi: Mpi, tmp_path: Path) -> None:
    library = compiled(mpi, tmp_path, NOTES_BURSTS_OF_ALL, "-shared", "-fPIC")
    with start(mpi, 2, "env", f"LD_PRELOAD={library}", f"BURSTS={tmp_path}") as session:
        # Nothing but the count of repetitions, 1,024 in blocks of 64, ends it.
        answer = session.collective(
            60.0, **bcast("default", 64), budget_s=0.5, tolerance=1e-9, least_samples=1000
        )
        assert answer.verified
    bursts = [tuple(map(int, line.split())) for line in (tmp_path / "0").read_text().splitlines()]
    assert {size_B for size_B, _ in bursts} == {1024}
    lengths = {length for _, length in bursts}
    assert lengths <= set(range(1, MOST + 1))
    # Of a dozen draws of 16 lengths hardly ever fewer than five differ.
    assert len(lengths) >= 5
