// The measurement of one collective operation on the first ranks of a launch.
#pragma once

#include <string>

#include "../request.hpp"
#include "group.hpp"

namespace hockney {

// Called by all ranks of the group with the same request; rank 0 returns the record (JSON), the others "".
std::string measure_collective(const Request& request, const Group& group);

}  // namespace hockney
