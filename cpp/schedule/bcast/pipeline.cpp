// bcast pipeline: one chain through all ranks; S segments take P − 2 + S rounds (document 002's "buffer";
// Open MPI coll/base bcast_intra_pipeline).
#include "bcast.hpp"

namespace hockney::bcast_pipeline {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    pass_down(p, chain_tree(p.ranks, p.root, rank, 1), builder);
}

const Register registered(Algorithm("bcast", "pipeline", generate).segmented().one_block());

}  // namespace
}  // namespace hockney::bcast_pipeline
