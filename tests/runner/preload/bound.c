/* A program that calls MPI by a binding: three sums. Exit code 5. */
#include <mpi.h>
#include <stdio.h>

void mpi_allreduce_(void*, void*, const int*, const int*, const int*, const int*, int*);

int main(int argc, char** argv) {
    int ranks, number = 1, sum = 0, error = 0, count = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int type = MPI_Type_c2f(MPI_INT), op = MPI_Op_c2f(MPI_SUM), comm = MPI_Comm_c2f(MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) mpi_allreduce_(&number, &sum, &count, &type, &op, &comm, &error);
    if (sum != ranks || error != MPI_SUCCESS) printf("wrong: %d\n", sum);
    MPI_Finalize();
    return 5;
}
