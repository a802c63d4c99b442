// Pairs of ranks that stream at once, each one way: what `injection` and `congestion` measure.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "../../request.hpp"

namespace hockney {

// Collective over `comm`. `ends`: sender and receiver of each pair, ranks of `comm`, none of them twice; the
// others only wait. Keys of the request: `bytes` of a message, `window` of messages that are in flight until
// their receiver answers, `sample_s` that a sample lasts at least (windows are repeated; 0: one window), and
// those of Repetitions. The record: `time_s` … `samples_s` of a window of the slowest pair, `pair_s` the
// median of each pair, `windows` in a sample, `verified`. Throws BadRequest, Refusal.
std::string stream(const Request& request, MPI_Comm comm, const std::vector<int>& ends);

}  // namespace hockney
