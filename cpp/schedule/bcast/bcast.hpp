// What broadcasts share.
#pragma once

#include "../pieces.hpp"
#include "../schedule.hpp"
#include "../trees.hpp"

namespace hockney {

// Every segment goes from the parent to all children. The next segment's receive is posted before the present
// one is passed on, so that a rendezvous never waits for it. `ready`: the step after which a segment may be
// sent (at the root) or overwritten (elsewhere); empty: at once.
void pass_down(const Problem& problem, const Tree& tree, Builder& builder,
               const std::vector<int>& ready = {});

// The first half of scatter_allgather and scatter_allgather_ring: the message is cut into a block for each
// rank, counted from the root on, and goes down a binomial tree whose subtrees are ranges of blocks. Returns
// the steps after which a rank's blocks may be sent (the first one) and overwritten (all of them).
std::vector<int> scatter_blocks(const Problem& problem, const Pieces& blocks, int rank, Builder& builder);

}  // namespace hockney
