// One collective operation as it is timed: here the library's own call, in collective/schedule_call.hpp one
// of our schedules.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "../../schedule/collective.hpp"

namespace hockney {

class Call {
  public:
    virtual ~Call() = default;
    // All ranks of the communicator call it with the same root. Returns MPI's error code.
    virtual int run(std::byte* input, std::byte* output, int root) = 0;
};

// MPI_Bcast and its like, on a communicator for which an algorithm may have been selected; or MPI_Ibcast and
// a wait.
std::unique_ptr<Call> library_call(const Collective& collective, const Problem& problem, MPI_Comm comm,
                                   bool nonblocking);

}  // namespace hockney
