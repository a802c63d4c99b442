// bcast chain: `radix` chains of consecutive ranks hang on the root; segments follow one another along them
// (Open MPI coll/base bcast_intra_chain).
#include "bcast.hpp"

namespace hockney::bcast_chain {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    pass_down(p, chain_tree(p.ranks, p.root, rank, p.radix), builder);
}

const Register registered(Algorithm("bcast", "chain", generate).segmented().radix(4, 1).one_block());

}  // namespace
}  // namespace hockney::bcast_chain
