// allreduce ring: a reduce-scatter and an allgather round the ring, 2(P − 1) rounds, twice (P − 1)/P of the
// vector per rank (Patarasuk and Yuan 2009; Open MPI coll/base allreduce_intra_ring).
#include "ring.hpp"

namespace hockney::allreduce_ring {
namespace {

void generate(const Problem& p, int rank, Builder& builder) { reduce_and_pass_round(p, rank, 0, builder); }

const Register registered(Algorithm("allreduce", "ring", generate).alike(Likeness::shift));

}  // namespace
}  // namespace hockney::allreduce_ring
