// bcast knomial: a tree over the digits of the rank in base `radix`, radix − 1 messages on each of ⌈log P⌉
// levels (Open MPI coll/base bcast_intra_knomial).
#include "bcast.hpp"

namespace hockney::bcast_knomial {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    pass_down(p, knomial_tree(p.ranks, p.root, rank, p.radix), builder);
}

const Register registered(Algorithm("bcast", "knomial", generate).segmented().radix(4, 2).one_block());

}  // namespace
}  // namespace hockney::bcast_knomial
