// What the direct alltoalls share.
#pragma once

#include "../schedule.hpp"

namespace hockney {

// Step i: to rank + i, from rank − i; at most `under_way` steps at a time.
void exchange_with_all(const Problem& problem, int rank, int under_way, Builder& builder);

}  // namespace hockney
