// The MPI library's own calls behind those that this layer stands in front of.
//
// The layer defines each of them twice, as MPI_Bcast and as PMPI_Bcast: the Fortran bindings of Open MPI
// (mpif.h, mpi and mpi_f08) call the latter, those of MPICH either. What the library calls itself, inside of
// a file of its own or of a module of its installation, is told apart by where the call comes from, and left
// alone.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <type_traits>

namespace hockney {

// A handle as wide as a register. Handles of some libraries are numbers, of others addresses: calls into
// another library than the layer was compiled for are passed on unchanged.
template <class Handle>
class Whole {
  public:
    Whole(Handle handle) {
        if constexpr (std::is_pointer_v<Handle>)
            bits_ = reinterpret_cast<std::uintptr_t>(handle);
        else
            bits_ = static_cast<std::uintptr_t>(handle);
    }
    operator Handle() const {
        if constexpr (std::is_pointer_v<Handle>)
            return reinterpret_cast<Handle>(bits_);
        else
            return static_cast<Handle>(bits_);
    }

  private:
    std::uintptr_t bits_;
};
using AnyComm = Whole<MPI_Comm>;
using AnyType = Whole<MPI_Datatype>;
using AnyOp = Whole<MPI_Op>;

}  // namespace hockney

// X(name, parameters, arguments …), with counts of a type
#define HOCKNEY_SIZED(X, Number)                                                                             \
    X(Bcast, (void* buffer, Number count, AnyType type, int root, AnyComm comm), buffer, count, type, root,  \
      comm)                                                                                                  \
    X(Scatter,                                                                                               \
      (const void* from, Number count, AnyType type, void* into, Number into_count, AnyType into_type,       \
       int root, AnyComm comm),                                                                              \
      from, count, type, into, into_count, into_type, root, comm)                                            \
    X(Gather,                                                                                                \
      (const void* from, Number count, AnyType type, void* into, Number into_count, AnyType into_type,       \
       int root, AnyComm comm),                                                                              \
      from, count, type, into, into_count, into_type, root, comm)                                            \
    X(Allgather,                                                                                             \
      (const void* from, Number count, AnyType type, void* into, Number into_count, AnyType into_type,       \
       AnyComm comm),                                                                                        \
      from, count, type, into, into_count, into_type, comm)                                                  \
    X(Alltoall,                                                                                              \
      (const void* from, Number count, AnyType type, void* into, Number into_count, AnyType into_type,       \
       AnyComm comm),                                                                                        \
      from, count, type, into, into_count, into_type, comm)                                                  \
    X(Reduce, (const void* from, void* into, Number count, AnyType type, AnyOp op, int root, AnyComm comm),  \
      from, into, count, type, op, root, comm)                                                               \
    X(Allreduce, (const void* from, void* into, Number count, AnyType type, AnyOp op, AnyComm comm), from,   \
      into, count, type, op, comm)                                                                           \
    X(Reduce_scatter_block,                                                                                  \
      (const void* from, void* into, Number count, AnyType type, AnyOp op, AnyComm comm), from, into, count, \
      type, op, comm)                                                                                        \
    X(Reduce_scatter,                                                                                        \
      (const void* from, void* into, const Number counts[], AnyType type, AnyOp op, AnyComm comm), from,     \
      into, counts, type, op, comm)
#define HOCKNEY_COLLECTIVES(X)       \
    X(Barrier, (AnyComm comm), comm) \
    HOCKNEY_SIZED(X, int)

// The same with counts that may be larger than an int.
#if MPI_VERSION >= 4
#define HOCKNEY_LARGE(X) HOCKNEY_SIZED(X, MPI_Count)
#else
#define HOCKNEY_LARGE(X)
#endif

// What is watched for a profile and never served. X(name, word, communicator, bytes, parameters, arguments …)
#define HOCKNEY_WATCHED(X, Number, Place)                                                                    \
    X(Send, send, comm, bytes_of(count, type),                                                               \
      (const void* from, Number count, AnyType type, int to, int tag, AnyComm comm), from, count, type, to,  \
      tag, comm)                                                                                             \
    X(Ssend, ssend, comm, bytes_of(count, type),                                                             \
      (const void* from, Number count, AnyType type, int to, int tag, AnyComm comm), from, count, type, to,  \
      tag, comm)                                                                                             \
    X(Isend, isend, comm, bytes_of(count, type),                                                             \
      (const void* from, Number count, AnyType type, int to, int tag, AnyComm comm, MPI_Request* request),   \
      from, count, type, to, tag, comm, request)                                                             \
    X(Recv, recv, comm, bytes_of(count, type),                                                               \
      (void* into, Number count, AnyType type, int from, int tag, AnyComm comm, MPI_Status* status), into,   \
      count, type, from, tag, comm, status)                                                                  \
    X(Irecv, irecv, comm, bytes_of(count, type),                                                             \
      (void* into, Number count, AnyType type, int from, int tag, AnyComm comm, MPI_Request* request), into, \
      count, type, from, tag, comm, request)                                                                 \
    X(Sendrecv, sendrecv, comm, bytes_of(count, type),                                                       \
      (const void* from, Number count, AnyType type, int to, int tag, void* into, Number into_count,         \
       AnyType into_type, int from_rank, int into_tag, AnyComm comm, MPI_Status* status),                    \
      from, count, type, to, tag, into, into_count, into_type, from_rank, into_tag, comm, status)            \
    X(Allgatherv, allgatherv, comm, own_bytes(from, count, type, counts, into_type, comm),                   \
      (const void* from, Number count, AnyType type, void* into, const Number counts[],                      \
       const Place places[], AnyType into_type, AnyComm comm),                                               \
      from, count, type, into, counts, places, into_type, comm)                                              \
    X(Gatherv, gatherv, comm, own_bytes(from, count, type, counts, into_type, comm),                         \
      (const void* from, Number count, AnyType type, void* into, const Number counts[],                      \
       const Place places[], AnyType into_type, int root, AnyComm comm),                                     \
      from, count, type, into, counts, places, into_type, root, comm)                                        \
    X(Scatterv, scatterv, comm, own_bytes(into, into_count, into_type, counts, type, comm),                  \
      (const void* from, const Number counts[], const Place places[], AnyType type, void* into,              \
       Number into_count, AnyType into_type, int root, AnyComm comm),                                        \
      from, counts, places, type, into, into_count, into_type, root, comm)                                   \
    X(Alltoallv, alltoallv, comm,                                                                            \
      from == MPI_IN_PLACE ? sum_of(into_counts, into_type, comm) : sum_of(counts, type, comm),              \
      (const void* from, const Number counts[], const Place places[], AnyType type, void* into,              \
       const Number into_counts[], const Place into_places[], AnyType into_type, AnyComm comm),              \
      from, counts, places, type, into, into_counts, into_places, into_type, comm)                           \
    X(Scan, scan, comm, bytes_of(count, type),                                                               \
      (const void* from, void* into, Number count, AnyType type, AnyOp op, AnyComm comm), from, into, count, \
      type, op, comm)                                                                                        \
    X(Exscan, exscan, comm, bytes_of(count, type),                                                           \
      (const void* from, void* into, Number count, AnyType type, AnyOp op, AnyComm comm), from, into, count, \
      type, op, comm)                                                                                        \
    X(Ibcast, ibcast, comm, bytes_of(count, type),                                                           \
      (void* buffer, Number count, AnyType type, int root, AnyComm comm, MPI_Request* request), buffer,      \
      count, type, root, comm, request)                                                                      \
    X(Ireduce, ireduce, comm, bytes_of(count, type),                                                         \
      (const void* from, void* into, Number count, AnyType type, AnyOp op, int root, AnyComm comm,           \
       MPI_Request* request),                                                                                \
      from, into, count, type, op, root, comm, request)                                                      \
    X(Iallreduce, iallreduce, comm, bytes_of(count, type),                                                   \
      (const void* from, void* into, Number count, AnyType type, AnyOp op, AnyComm comm,                     \
       MPI_Request* request),                                                                                \
      from, into, count, type, op, comm, request)                                                            \
    X(Iallgather, iallgather, comm, bytes_of(into_count, into_type),                                         \
      (const void* from, Number count, AnyType type, void* into, Number into_count, AnyType into_type,       \
       AnyComm comm, MPI_Request* request),                                                                  \
      from, count, type, into, into_count, into_type, comm, request)                                         \
    X(Ialltoall, ialltoall, comm, bytes_of(into_count, into_type),                                           \
      (const void* from, Number count, AnyType type, void* into, Number into_count, AnyType into_type,       \
       AnyComm comm, MPI_Request* request),                                                                  \
      from, count, type, into, into_count, into_type, comm, request)

#define HOCKNEY_WATCHED_WITHOUT_COUNTS(X)                                                                    \
    X(Wait, wait, MPI_COMM_NULL, 0, (MPI_Request * request, MPI_Status * status), request, status)           \
    X(Waitall, waitall, MPI_COMM_NULL, 0, (int count, MPI_Request requests[], MPI_Status statuses[]), count, \
      requests, statuses)                                                                                    \
    X(Waitany, waitany, MPI_COMM_NULL, 0,                                                                    \
      (int count, MPI_Request requests[], int* index, MPI_Status* status), count, requests, index, status)   \
    X(Ibarrier, ibarrier, comm, 0, (AnyComm comm, MPI_Request * request), comm, request)

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
#define HOCKNEY_DECLARE(name, word, communicator, bytes, parameters, ...) extern int(*name) parameters;
HOCKNEY_WATCHED(HOCKNEY_DECLARE, int, int)
HOCKNEY_WATCHED_WITHOUT_COUNTS(HOCKNEY_DECLARE)
#undef HOCKNEY_DECLARE
#if MPI_VERSION >= 4
#define HOCKNEY_DECLARE(name, word, communicator, bytes, parameters, ...) extern int(*name##_c) parameters;
HOCKNEY_WATCHED(HOCKNEY_DECLARE, MPI_Count, MPI_Aint)
#undef HOCKNEY_DECLARE
#endif
#define HOCKNEY_DECLARE(name, parameters, ...) extern int(*name##_c) parameters;
HOCKNEY_LARGE(HOCKNEY_DECLARE)
#undef HOCKNEY_DECLARE

// Why the library of this program is to be left alone; empty where it is the one that the layer was compiled
// for. To be asked after MPI_Init.
std::string lack();

// By how much the file that has this address was moved from where it says that it belongs.
std::uintptr_t moved_by(const void* address);

// What the layer cannot see of the program's calls; empty where there is nothing. To be asked after MPI_Init.
std::string unseen();

// Where a call comes from: the library's bindings of Fortran call on the program's behalf.
enum class Origin : std::uint8_t { program, library, binding };
// Of a call that returns to `address`.
Origin origin_of(const void* address);

// Where the program called what returns to `address`: before its binding, if it used one. To be asked in that
// call, by the thread that makes it.
const void* program_site(const void* address);

}  // namespace hockney::library
