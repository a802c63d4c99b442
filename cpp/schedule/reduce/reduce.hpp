// What tree reductions share.
#pragma once

#include "../pieces.hpp"
#include "../schedule.hpp"
#include "../trees.hpp"

namespace hockney {

// Every segment goes up from the children, each child's partial result joined as the right operand, in the
// order of the children; the root's ends in its output. The receive of the next partial result is posted
// before the present one is joined. Returns, for each segment, the step after which it is done with: complete
// at the root, sent elsewhere.
std::vector<int> pass_up(const Problem& problem, const Tree& tree, Builder& builder);

}  // namespace hockney
