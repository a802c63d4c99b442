/* What goes wrong stays the program's to handle. Usage: CASE.
   truncated: the root of a broadcast sends more than rank 1 asks for, which the handler of the program hears of.
   summing, freeing, ending: the same in the second broadcast, and what the handler calls before it returns on rank 1, and
   rank 0 after it: a sum on that communicator, its end, or the end of MPI.
   exhausted: as many communicators as fit into a library that counts to 2,048, all alive, with a sum on each.
   refused: rank 1 is told that the layer's communicator could not be made, rank 0 that it was. */
#define _GNU_SOURCE
#include "allocated.h"

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

static int summed(MPI_Comm comm);
static MPI_Comm handled = MPI_COMM_NULL;
static const char* then = "";
static int is_over = 0;

static int act(void) {
    int wrong = 0;
    if (strcmp(then, "summing") == 0) wrong = summed(handled);
    if (strcmp(then, "freeing") == 0) MPI_Comm_free(&handled);
    if (strcmp(then, "ending") == 0) is_over = MPI_Finalize() == MPI_SUCCESS;
    return wrong;
}

static int acted = 0;

static void handle_and_act(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    if (heard++ == 0) acted = act();
}

static int acting(int rank, const char* what) {
    int numbers[4] = {rank, rank, rank, rank};
    MPI_Errhandler handler;
    then = what;
    MPI_Comm_dup(MPI_COMM_WORLD, &handled);
    MPI_Comm_create_errhandler(handle_and_act, &handler);
    MPI_Comm_set_errhandler(handled, handler);
    MPI_Errhandler_free(&handler);
    MPI_Bcast(numbers, 4, MPI_INT, 0, handled);
    MPI_Bcast(numbers, rank == 0 ? 4 : 1, MPI_INT, 0, handled);
    if (rank == 0) return act();
    /* MPICH calls the handler twice, and returns that all was well. */
    return heard > 0 ? acted : 3;
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
    if (strstr(argv[1], "ing") != NULL) wrong = acting(rank, argv[1]);
    if (strcmp(argv[1], "exhausted") == 0) {
        enum { COMMS = 1200 };
        MPI_Comm* comms = malloc(sizeof *comms * COMMS);
        long before_B = 0;
        count_allocations();
        for (int i = 0; i < COMMS; ++i) {
            if (i == COMMS / 2) before_B = held_B;
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
            wrong |= summed(comms[i]);
        }
        /* Of one without a communicator of the layer's, less than the places for its schedules would take. */
        if (before_B == 0 || held_B - before_B > COMMS / 2 * 16000L) wrong |= 5;
        for (int i = 0; i < COMMS; ++i) MPI_Comm_free(&comms[i]);
        wrong |= summed(MPI_COMM_WORLD);
        free(comms);
    }
    if (strcmp(argv[1], "refused") == 0) {
        is_refusing = rank == 1;
        for (int i = 0; i < 3; ++i) wrong |= summed(MPI_COMM_WORLD);
    }
    if (!is_over) MPI_Finalize();
    return wrong;
}
