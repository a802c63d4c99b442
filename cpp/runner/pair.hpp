// The measurement of one point between two ranks: warm-up, batches, stopping, verification.
#pragma once

#include <mpi.h>

#include <string>

#include "request.hpp"

namespace hockney {

// Called by both ranks of the pair with the same request; the leader returns the record (JSON), the follower
// "". Both throw Refusal where a buffer has no room.
std::string measure_pair(const Request& request, MPI_Comm comm);

}  // namespace hockney
