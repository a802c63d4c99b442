/* What goes wrong stays the program's to handle. Usage: CASE.
   truncated: the root of a broadcast sends more than rank 1 asks for, which the handler of the program hears of.
   exhausted: as many communicators as fit into a library that counts to 2,048, all alive, with a sum on each.
   refused: rank 1 is told that the layer's communicator could not be made, rank 0 that it was. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_refusing = 0, heard = 0;

int PMPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* out) {
    int (*own)(MPI_Comm, int, int, MPI_Comm*) = dlsym(RTLD_NEXT, "PMPI_Comm_split");
    const int code = own(comm, colour, key, out);
    if (!is_refusing || code != MPI_SUCCESS) return code;
    PMPI_Comm_free(out);
    return MPI_ERR_OTHER;
}

static void handle(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    ++heard;
}

static int truncated(int rank) {
    int numbers[4] = {rank, rank, rank, rank}, class = MPI_SUCCESS;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    const int code = MPI_Bcast(numbers, rank == 0 ? 4 : 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    MPI_Errhandler_free(&handler);
    return rank == 0 || (class == MPI_ERR_TRUNCATE && heard == 1) ? 0 : 3;
}

static int summed(MPI_Comm comm) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum == 2 ? 0 : 3;
}

int main(int argc, char** argv) {
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "truncated") == 0) wrong = truncated(rank);
    if (strcmp(argv[1], "exhausted") == 0) {
        enum { COMMS = 1200 };
        MPI_Comm* comms = malloc(sizeof *comms * COMMS);
        for (int i = 0; i < COMMS; ++i) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
            wrong |= summed(comms[i]);
        }
        for (int i = 0; i < COMMS; ++i) MPI_Comm_free(&comms[i]);
        wrong |= summed(MPI_COMM_WORLD);
        free(comms);
    }
    if (strcmp(argv[1], "refused") == 0) {
        is_refusing = rank == 1;
        for (int i = 0; i < 3; ++i) wrong |= summed(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return wrong;
}
