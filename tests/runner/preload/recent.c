/* Which schedules the layer has kept. Usage: SIZES. Sums of 2 to SIZES numbers, one of 1 before each; then again from
   the largest down, until one allocates. Prints "kept N", how many did not, and "first kept" where that of 1 did not. */
#include "allocated.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int numbers[4096], sums[4096], wrong = 0, ranks = 0;

/* What a sum of so many allocates. */
static long summed(int size) {
    const long before = allocations;
    for (int i = 0; i < size; ++i) numbers[i] = size + i;
    MPI_Allreduce(numbers, sums, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) wrong |= sums[i] != ranks * (size + i);
    return allocations - before;
}

int main(int argc, char** argv) {
    int rank, kept = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    count_allocations();
    const int sizes = atoi(argv[1]);
    for (int size = 2; size <= sizes; ++size) summed(1), summed(size);
    const int is_first_kept = summed(1) == 0;
    for (int size = sizes; size > 1 && summed(size) == 0; --size) ++kept;
    if (rank == 0) printf("kept %d%s\n", kept, is_first_kept ? ", first kept" : "");
    MPI_Finalize();
    return wrong;
}
