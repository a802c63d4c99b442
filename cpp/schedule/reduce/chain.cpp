// reduce chain: `radix` chains of consecutive ranks end at the root; segments follow one another along them
// (Open MPI coll/base reduce_intra_chain).
#include "reduce.hpp"

namespace hockney::reduce_chain {
namespace {

std::string refuse(const Problem& p) {
    // Ranks are counted from the root on.
    return p.commutative || p.root == 0 ? "" : "chain keeps rank order for root 0 only";
}

void generate(const Problem& p, int rank, Builder& builder) {
    pass_up(p, chain_tree(p.ranks, p.root, rank, p.radix), builder);
}

const Register registered(
    Algorithm("reduce", "chain", generate).segmented().radix(4, 1).ordered().only(refuse));

}  // namespace
}  // namespace hockney::reduce_chain
