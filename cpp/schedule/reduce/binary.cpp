// reduce binary: segments up a complete tree of out-degree 2 (Open MPI coll/base reduce_intra_binary).
#include "reduce.hpp"

namespace hockney::reduce_binary {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    pass_up(p, binary_tree(p.ranks, p.root, rank), builder);
}

const Register registered(Algorithm("reduce", "binary", generate).segmented());

}  // namespace
}  // namespace hockney::reduce_binary
