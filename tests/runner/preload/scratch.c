/* Calls of 4 ranks for which some need memory of their own: a sum (a vector on each), a scatter down a tree (rank 2 alone,
   two blocks), a broadcast that rank 1 alone takes with gaps. Usage: SIZE …, in numbers. Ends with 0 where all are right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int which = 1; which < argc; ++which) {
        const int size = atoi(argv[which]);
        int* from = malloc(sizeof(int) * (size_t)(size * ranks));
        int* into = calloc((size_t)(2 * size), sizeof(int));
        for (int i = 0; i < size * ranks; ++i) from[i] = i + rank;
        MPI_Allreduce(from, into, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < size; ++i) wrong |= into[i] != ranks * i + ranks * (ranks - 1) / 2;
        MPI_Scatter(from, size, MPI_INT, into, size, MPI_INT, 0, MPI_COMM_WORLD);
        for (int i = 0; i < size; ++i) wrong |= into[i] != rank * size + i;
        MPI_Datatype spread;
        MPI_Type_vector(size, 1, 2, MPI_INT, &spread);
        MPI_Type_commit(&spread);
        if (rank == 1)
            MPI_Bcast(into, 1, spread, 0, MPI_COMM_WORLD);
        else
            MPI_Bcast(rank == 0 ? from : into, size, MPI_INT, 0, MPI_COMM_WORLD);
        for (int i = 0; rank != 0 && i < size; ++i) wrong |= into[rank == 1 ? 2 * i : i] != i;
        MPI_Type_free(&spread);
        free(from), free(into);
    }
    MPI_Finalize();
    return wrong;
}
