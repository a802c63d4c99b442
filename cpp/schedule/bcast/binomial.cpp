// bcast binomial: ⌈log₂P⌉ rounds, each rank that has the message passes it on in every later round; segments
// follow one another down the tree (Open MPI coll/base bcast_intra_binomial).
#include "bcast.hpp"

namespace hockney::bcast_binomial {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    pass_down(p, binomial_tree(p.ranks, p.root, rank), builder);
}

const Register registered(Algorithm("bcast", "binomial", generate).segmented().one_block());

}  // namespace
}  // namespace hockney::bcast_binomial
