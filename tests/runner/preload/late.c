/* Three ranks; one of them comes 20 ms late to each of ten calls: rank 1 to the sums, the root, rank 2, to the
   broadcasts, and rank 1 again to the reductions, whose root, rank 0, alone waits for it. The communicator has
   the ranks in reverse order. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, number = 1, sum;
    MPI_Comm turned;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    MPI_Comm_set_name(turned, "turned");
    for (int i = 0; i < 10; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) usleep(20000);
        MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, turned);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 2) usleep(20000);
        MPI_Bcast(&number, 1, MPI_INT, 0, turned);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) usleep(20000);
        MPI_Reduce(&number, &sum, 1, MPI_INT, MPI_SUM, 2, turned);
    }
    MPI_Comm_free(&turned);
    MPI_Finalize();
    return 0;
}
