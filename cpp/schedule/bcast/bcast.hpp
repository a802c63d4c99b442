// What the tree broadcasts share.
#pragma once

#include "../pieces.hpp"
#include "../schedule.hpp"
#include "../trees.hpp"

namespace hockney {

// Every segment goes from the parent to all children. The next segment's receive is posted before the present
// one is passed on, so that a rendezvous never waits for it.
void pass_down(const Problem& problem, const Tree& tree, Builder& builder);

}  // namespace hockney
