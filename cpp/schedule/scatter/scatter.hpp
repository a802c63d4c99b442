// What scatters share.
#pragma once

#include "../schedule.hpp"

namespace hockney {

// The root sends every rank its block; `one_by_one`: each message after the one before is complete.
void scatter_from_root(const Problem& problem, int rank, bool one_by_one, Builder& builder);

}  // namespace hockney
