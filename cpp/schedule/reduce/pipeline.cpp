// reduce pipeline: one chain through all ranks to the root, in segments (Open MPI coll/base
// reduce_intra_pipeline).
#include "reduce.hpp"

namespace hockney::reduce_pipeline {
namespace {

std::string refuse(const Problem& p) {
    // Ranks are counted from the root on.
    return p.commutative || p.root == 0 ? "" : "pipeline keeps rank order for root 0 only";
}

void generate(const Problem& p, int rank, Builder& builder) {
    pass_up(p, chain_tree(p.ranks, p.root, rank, 1), builder);
}

const Register registered(Algorithm("reduce", "pipeline", generate).segmented().ordered().only(refuse));

}  // namespace
}  // namespace hockney::reduce_pipeline
