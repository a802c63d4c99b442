/* Calls the library as the Fortran bindings of Open MPI do: from a shared library of their own, by PMPI_ names. */
#include <mpi.h>

void mpi_allreduce_(void* from, void* into, const int* count, const int* type, const int* op, const int* comm,
                    int* error) {
    *error = PMPI_Allreduce(from, into, *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm));
}
