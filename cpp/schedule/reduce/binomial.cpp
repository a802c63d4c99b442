// reduce binomial: up a binomial tree whose subtrees are ranges of ranks, ⌈log₂P⌉ rounds (Open MPI coll/base
// reduce_intra_binomial).
#include "reduce.hpp"

namespace hockney::reduce_binomial {
namespace {

std::string refuse(const Problem& p) {
    // Ranks are counted from the root on.
    return p.commutative || p.root == 0 ? "" : "binomial keeps rank order for root 0 only";
}

void generate(const Problem& p, int rank, Builder& builder) {
    pass_up(p, binomial_tree_in_order(p.ranks, p.root, rank), builder);
}

const Register registered(Algorithm("reduce", "binomial", generate).segmented().ordered().only(refuse));

}  // namespace
}  // namespace hockney::reduce_binomial
