/* Communicators that the layer makes, and those that it frees in MPI_Finalize. Exit code 3 where the order of the latter
   is not that of the former. The third is made where memory of the first may be used again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { MOST = 16 };
static MPI_Comm made[MOST];
static int is_living[MOST], count = 0, is_ending = 0, wrong = 0;

int PMPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* out) {
    int (*own)(MPI_Comm, int, int, MPI_Comm*) = dlsym(RTLD_NEXT, "PMPI_Comm_split");
    const int code = own(comm, colour, key, out);
    made[count] = *out;
    is_living[count++] = 1;
    return code;
}
int PMPI_Comm_free(MPI_Comm* comm) {
    int (*own)(MPI_Comm*) = dlsym(RTLD_NEXT, "PMPI_Comm_free");
    int earlier = 0;
    for (int i = 0; i < count; ++i) {
        if (is_living[i] && made[i] == *comm) {
            is_living[i] = 0;
            wrong |= is_ending && earlier;
            break;
        }
        earlier |= is_living[i];
    }
    return own(comm);
}

int main(int argc, char** argv) {
    MPI_Comm comms[8];
    int number = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 8; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        MPI_Bcast(&number, 1, MPI_INT, 0, comms[i]);
        if (i % 2 == 1) MPI_Comm_free(&comms[i - 1]);
    }
    is_ending = 1;
    MPI_Finalize();
    if (wrong || count != 8) printf("wrong order of %d\n", count);
    return wrong || count != 8 ? 3 : 0;
}
