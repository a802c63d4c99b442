/* A broadcast of 64 KiB on each of so many communicators. Usage: COMMUNICATORS. Prints "grown N": bytes that the layer holds
   more than before, on rank 0, the root. */
#include "allocated.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 16, MOST = 64 };

int main(int argc, char** argv) {
    static unsigned char data[SIZE];
    MPI_Comm comms[MOST];
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int many = atoi(argv[1]);
    count_allocations();
    for (int i = 0; i < many; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        for (int at = 0; at < SIZE; ++at) data[at] = (unsigned char)(rank == 0 ? at * 7 + i : 0);
        MPI_Bcast(data, SIZE, MPI_BYTE, 0, comms[i]);
        for (int at = 0; at < SIZE; ++at) wrong |= data[at] != (unsigned char)(at * 7 + i);
    }
    if (rank == 0) printf("grown %ld\n", held_B);
    for (int i = 0; i < many; ++i) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return wrong;
}
