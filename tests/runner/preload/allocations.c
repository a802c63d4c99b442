/* Prints what the layer allocates: "first N", of the rounds in which it meets each size and root, and "later N", of those
   that follow; ends with 0 where the latter is none. */
#include "allocated.h"

#include <mpi.h>
#include <stdio.h>

static void round_of_calls(MPI_Datatype spread) {
    static int from[4 * 4096], into[4 * 4096];
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int size = 1; size <= 1000; size *= 10)
        for (int root = 0; root < ranks; ++root) {
            MPI_Bcast(from, size, MPI_INT, root, MPI_COMM_WORLD);
            MPI_Bcast(from, size, spread, root, MPI_COMM_WORLD);
            MPI_Reduce(from, into, size, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
            MPI_Allreduce(from, into, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            MPI_Allreduce(from, into, size, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
            MPI_Allgather(from, size, MPI_INT, into, size, MPI_INT, MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
        }
}

int main(int argc, char** argv) {
    MPI_Datatype spread;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    count_allocations();
    round_of_calls(spread);
    const long at_first = allocations;
    for (int i = 0; i < 20; ++i) round_of_calls(spread);
    const long later = allocations - at_first;
    if (rank == 0) printf("first %ld later %ld\n", at_first, later);
    MPI_Type_free(&spread);
    MPI_Finalize();
    return later != 0;
}
