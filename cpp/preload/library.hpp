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

#include "names.hpp"

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

#define HOCKNEY_LIFE(X)                                                                                      \
    X(Init, (int* count, char*** arguments), count, arguments)                                               \
    X(Init_thread, (int* count, char*** arguments, int required, int* provided), count, arguments, required, \
      provided)                                                                                              \
    X(Finalize, (), )

namespace hockney::library {

#define HOCKNEY_DECLARE(name, parameters, ...) inline int(*name) parameters = nullptr;
HOCKNEY_COLLECTIVES(HOCKNEY_DECLARE)
HOCKNEY_LIFE(HOCKNEY_DECLARE)
#undef HOCKNEY_DECLARE
#define HOCKNEY_DECLARE(name, ...) inline void* name = nullptr;
HOCKNEY_SIZED_WATCHED(HOCKNEY_DECLARE)
HOCKNEY_UNSIZED_WATCHED(HOCKNEY_DECLARE)
HOCKNEY_NAMED(HOCKNEY_DECLARE)
HOCKNEY_SIZED_NAMED(HOCKNEY_DECLARE)
#undef HOCKNEY_DECLARE
#if MPI_VERSION >= 4
#define HOCKNEY_DECLARE(name, ...) inline void* name##_c = nullptr;
HOCKNEY_SIZED_WATCHED(HOCKNEY_DECLARE)
HOCKNEY_SIZED_NAMED(HOCKNEY_DECLARE)
#undef HOCKNEY_DECLARE
#endif
#define HOCKNEY_DECLARE(name, parameters, ...) inline int(*name##_c) parameters = nullptr;
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
