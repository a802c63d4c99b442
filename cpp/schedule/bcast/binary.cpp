// bcast binary: segments down a complete tree of out-degree 2 (Open MPI coll/base bcast_intra_bintree).
#include "bcast.hpp"

namespace hockney::bcast_binary {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    pass_down(p, binary_tree(p.ranks, p.root, rank), builder);
}

const Register registered(Algorithm("bcast", "binary", generate).segmented().one_block());

}  // namespace
}  // namespace hockney::bcast_binary
