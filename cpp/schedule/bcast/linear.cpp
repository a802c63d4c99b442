// bcast linear: the root sends to everybody, all at once (Open MPI coll/base bcast_intra_basic_linear).
#include "bcast.hpp"

namespace hockney::bcast_linear {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    pass_down(p, flat_tree(p.ranks, p.root, rank), builder);
}

const Register registered(Algorithm("bcast", "linear", generate).one_block());

}  // namespace
}  // namespace hockney::bcast_linear
