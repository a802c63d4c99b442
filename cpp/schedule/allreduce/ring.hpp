// What the ring allreduces share.
#pragma once

#include "../pieces.hpp"
#include "../schedule.hpp"

namespace hockney {

// One block for each rank goes round the ring and is added to at each stop, in segments of `segment_B` (0:
// whole blocks); then the finished blocks go round once more.
void reduce_and_pass_round(const Problem& problem, int rank, Bytes segment_B, Builder& builder);

}  // namespace hockney
