/* Broadcasts on 2 and 3 ranks, and sums on 2, of sizes about the bounds of rules; the n-th size is called 2^(n-1) times,
   so that the number of calls tells the sizes. Usage: SIZE …. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    static char all[4096], sum[4096];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int ranks = 2; ranks <= 3; ++ranks) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm);
        if (comm == MPI_COMM_NULL) continue;
        for (int n = 1; n < argc; ++n)
            for (int call = 0; call < 1 << (n - 1); ++call) {
                MPI_Bcast(all, atoi(argv[n]), MPI_BYTE, 0, comm);
                if (ranks == 2) MPI_Allreduce(all, sum, atoi(argv[n]), MPI_BYTE, MPI_BOR, comm);
            }
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
