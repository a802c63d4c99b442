// Preloaded: the seconds from MPI_Init to MPI_Finalize of rank 0, added to the file that ELAPSED names.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double began_s;

int MPI_Init(int* count, char*** arguments) {
    const int code = PMPI_Init(count, arguments);
    began_s = PMPI_Wtime();
    return code;
}

int MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
    const int code = PMPI_Init_thread(count, arguments, required, provided);
    began_s = PMPI_Wtime();
    return code;
}

int MPI_Finalize(void) {
    const double elapsed_s = PMPI_Wtime() - began_s;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE* file = rank == 0 ? fopen(getenv("ELAPSED"), "a") : NULL;
    if (file != NULL) {
        fprintf(file, "%.9f\n", elapsed_s);
        fclose(file);
    }
    return PMPI_Finalize();
}
