/* Broadcasts of SIZES sizes, each REPEATS times, on each of COMMUNICATORS communicators, which have names; from the largest
   size on where a fourth word follows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    static char data[1 << 16];
    MPI_Init(&argc, &argv);
    const int communicators = atoi(argv[1]), sizes = atoi(argv[2]), repeats = atoi(argv[3]);
    for (int i = 0; i < communicators; ++i) {
        char name[32];
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        snprintf(name, sizeof name, "number %d", i);
        MPI_Comm_set_name(comm, name);
        for (int i = 1; i <= sizes; ++i) {
            const int size = argc > 4 ? sizes + 1 - i : i;
            for (int repeat = 0; repeat < repeats; ++repeat) MPI_Bcast(data, size, MPI_BYTE, 0, comm);
        }
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
