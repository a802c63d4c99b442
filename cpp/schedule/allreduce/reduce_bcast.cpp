// allreduce reduce_bcast: a binomial reduce to rank 0 and, when all of it is there, a binomial broadcast,
// both in segments (Open MPI coll/base allreduce_intra_nonoverlapping).
#include "../bcast/bcast.hpp"
#include "../reduce/reduce.hpp"

namespace hockney::allreduce_reduce_bcast {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const std::vector<int> done = pass_up(p, binomial_tree_in_order(p.ranks, 0, rank), builder);
    pass_down(p, binomial_tree(p.ranks, 0, rank), builder, done);
}

const Register registered(
    Algorithm("allreduce", "reduce_bcast", generate).segmented().ordered().grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::allreduce_reduce_bcast
