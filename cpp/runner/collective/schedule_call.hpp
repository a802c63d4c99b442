// One of our schedules as a call.
#pragma once

#include <memory>
#include <vector>

#include "../library/call.hpp"

namespace hockney {

// One program for each root in `roots`.
std::unique_ptr<Call> schedule_call(const Algorithm& algorithm, const Problem& problem,
                                    const std::vector<int>& roots, MPI_Comm comm);

}  // namespace hockney
