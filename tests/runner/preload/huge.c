/* Calls with counts whose lower 32 bits are a small number, and with the largest there are: a layer that narrows them
   would take the former for small calls. Exit code 4 where the library did not get the count of the program. */
#include <mpi.h>
#include <stdio.h>

extern MPI_Count huge_seen;
static int wrong = 0;

static void expect(const char* what, MPI_Count count) {
    if (huge_seen != count) printf("wrong: %s of %lld came as %lld\n", what, (long long)count, (long long)huge_seen);
    wrong |= huge_seen != count;
    huge_seen = 0;
}

int main(int argc, char** argv) {
    static int from[64], into[64];
    const MPI_Count counts[] = {((MPI_Count)1 << 32) + 3, ((MPI_Count)1 << 62) + 1};
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 2; ++i) {
        const MPI_Count n = counts[i];
        MPI_Allgather_c(from, n, MPI_INT, into, n, MPI_INT, MPI_COMM_WORLD);
        expect("allgather", n);
        MPI_Alltoall_c(from, n, MPI_INT, into, n, MPI_INT, MPI_COMM_WORLD);
        expect("alltoall", n);
        MPI_Bcast_c(into, n, MPI_INT, 0, MPI_COMM_WORLD);
        expect("bcast", n);
        MPI_Gather_c(from, n, MPI_INT, into, n, MPI_INT, 0, MPI_COMM_WORLD);
        expect("gather", n);
    }
    MPI_Finalize();
    return wrong ? 4 : 0;
}
