// What one call of a collective sends, counted.
#pragma once

#include <string>

#include "../request.hpp"
#include "group.hpp"

namespace hockney {

// Called by all ranks of the group with the same request; rank 0 returns the answer (JSON), the others "".
// `messages` and `bytes`, [from][to], are the library's own count, absent where it keeps none; with `sockets`
// 1 `sockets_B` is the kernel's count of what TCP connections took.
std::string count_collective(const Request& request, const Group& group);

}  // namespace hockney
