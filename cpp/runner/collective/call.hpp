// One collective operation as it is timed: one of our schedules, or the library's own call.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "../../schedule/collective.hpp"
#include "program.hpp"

namespace hockney {

class Call {
  public:
    virtual ~Call() = default;
    // All ranks of the communicator call it with the same root. Returns MPI's error code.
    virtual int run(std::byte* input, std::byte* output, int root) = 0;
};

// Our schedule; one program for each root in `roots`.
std::unique_ptr<Call> schedule_call(const Algorithm& algorithm, const Problem& problem,
                                    const std::vector<int>& roots, MPI_Comm comm);
// MPI_Bcast and its like, on a communicator for which an algorithm may have been selected; or MPI_Ibcast and
// a wait.
std::unique_ptr<Call> library_call(const Collective& collective, const Problem& problem, MPI_Comm comm,
                                   bool nonblocking);

}  // namespace hockney
