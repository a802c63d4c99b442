// The MPI library's own calls behind those that this layer stands in front of.
//
// The layer defines each of them twice, as MPI_Bcast and as PMPI_Bcast: the Fortran bindings of Open MPI
// (mpif.h, mpi and mpi_f08) call the latter, those of MPICH either. What the library calls itself, inside of
// a file of its own or of a module of its installation, is told apart by where the call comes from, and left
// alone.
#pragma once

#include <mpi.h>

// X(name, parameters, arguments …)
#define HOCKNEY_COLLECTIVES(X)                                                                               \
    X(Barrier, (MPI_Comm comm), comm)                                                                        \
    X(Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm), buffer, count, type,     \
      root, comm)                                                                                            \
    X(Scatter,                                                                                               \
      (const void* from, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type,   \
       int root, MPI_Comm comm),                                                                             \
      from, count, type, into, into_count, into_type, root, comm)                                            \
    X(Gather,                                                                                                \
      (const void* from, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type,   \
       int root, MPI_Comm comm),                                                                             \
      from, count, type, into, into_count, into_type, root, comm)                                            \
    X(Allgather,                                                                                             \
      (const void* from, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type,   \
       MPI_Comm comm),                                                                                       \
      from, count, type, into, into_count, into_type, comm)                                                  \
    X(Alltoall,                                                                                              \
      (const void* from, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type,   \
       MPI_Comm comm),                                                                                       \
      from, count, type, into, into_count, into_type, comm)                                                  \
    X(Reduce,                                                                                                \
      (const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),      \
      from, into, count, type, op, root, comm)                                                               \
    X(Allreduce, (const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),     \
      from, into, count, type, op, comm)                                                                     \
    X(Reduce_scatter_block,                                                                                  \
      (const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), from, into,    \
      count, type, op, comm)                                                                                 \
    X(Reduce_scatter,                                                                                        \
      (const void* from, void* into, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm), from, \
      into, counts, type, op, comm)

#define HOCKNEY_LIFE(X)                                                                                      \
    X(Init, (int* count, char*** arguments), count, arguments)                                               \
    X(Init_thread, (int* count, char*** arguments, int required, int* provided), count, arguments, required, \
      provided)                                                                                              \
    X(Finalize, (), )

namespace hockney::library {

#define HOCKNEY_DECLARE(name, parameters, ...) extern int(*name) parameters;
HOCKNEY_COLLECTIVES(HOCKNEY_DECLARE)
HOCKNEY_LIFE(HOCKNEY_DECLARE)
#undef HOCKNEY_DECLARE

// Whether a call that returns to `address` comes from inside of the library, and not from the program or the
// library's Fortran bindings.
bool is_internal(const void* address);

}  // namespace hockney::library
