/* Is, for the layer, the file of the MPI library: it has the barrier that the layer looks for and, as few libraries do,
   bindings of Fortran too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

int PMPI_Barrier(MPI_Comm comm) {
    int (*own)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_NEXT, "PMPI_Barrier");
    return own(comm);
}

void mpi_barrier_(const int* comm, int* error) { *error = PMPI_Barrier(PMPI_Comm_f2c(*comm)); }

void mpi_allreduce_(void* from, void* into, const int* count, const int* type, const int* op, const int* comm,
                    int* error) {
    *error = PMPI_Allreduce(from, into, *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm));
}
