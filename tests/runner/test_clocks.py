"""An offset between the clocks of ranks is found, and is no part of a collective's time."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.capabilities import needs_two_cpus
from tests.runner.preload.programs import compiled
from tests.runner.sessions import bcast, start

from hockney.runner.mpi import Mpi

SHIFT_S = 1e-3
"""A thousand broadcasts of eight bytes long."""

SHIFTS_THE_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* Each rank's clock is so far ahead of that of the rank before. */
static long of_rank(void) {
    const char* rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank == NULL) rank = getenv("PMI_RANK");
    return rank != NULL ? atol(rank) : 0;
}
#ifdef HOSTS
/* And each is on a machine of its own. */
FILE* fopen(const char* path, const char* mode) {
    FILE* (*real)(const char*, const char*) = (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen");
    if (strstr(path, "boot_id") == NULL) return real(path, mode);
    FILE* file = tmpfile();
    fprintf(file, "%ld", of_rank());
    rewind(file);
    return file;
}
FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }
#endif
int clock_gettime(clockid_t which, struct timespec* now) {
    static int (*real)(clockid_t, struct timespec*) = NULL;
    if (real == NULL) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(which, now);
    long ns = SHIFT_NS * of_rank() + now->tv_nsec;
    now->tv_sec += ns / 1000000000;
    now->tv_nsec = ns % 1000000000;
    return status;
}
"""


@needs_two_cpus
@pytest.mark.one_mpi
def test_an_offset_between_clocks_of_one_host_is_no_part_of_a_time(mpi: Mpi, tmp_path: Path) -> None:
    library = compiled(
        mpi, tmp_path, SHIFTS_THE_CLOCK, "-shared", "-fPIC", "-ldl", f"-DSHIFT_NS={SHIFT_S * 1e9:.0f}"
    )
    times_s = []
    with start(mpi, 2, "env", f"LD_PRELOAD={library}") as session:
        for _ in range(5):
            answer = session.collective(
                60.0,
                **bcast("binomial", 8),
                budget_s=0.05,
                tolerance=0.01,
                least_samples=30,
            )
            times_s.append(answer.median_s)
    # Other work may hold a visit up, but hardly all of them.
    assert 0 < min(times_s) < SHIFT_S / 10


@pytest.mark.one_mpi
def test_clocks_of_more_hosts_than_one_compares_are_one_clock(mpi: Mpi, tmp_path: Path) -> None:
    """The last ranks know their offset from ranks that are themselves seconds ahead of the first."""
    shifts = ("-DHOSTS", "-DSHIFT_NS=1000000000L")
    library = compiled(mpi, tmp_path, SHIFTS_THE_CLOCK, "-shared", "-fPIC", "-ldl", *shifts)
    with start(mpi, 18, "env", f"LD_PRELOAD={library}") as session:
        answer = session.collective(
            60.0, **bcast("binomial", 8, ranks=18), budget_s=0.05, tolerance=0.01, least_samples=6
        )
    assert len({place.machine for place in session.hello.ranks}) == 18
    # More ranks than processors wait for each other, but not for a second.
    assert 0 < answer.median_s < 0.5
