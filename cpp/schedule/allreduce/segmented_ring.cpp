// allreduce segmented_ring: as ring, but in the reduce-scatter each block goes round in segments, so that a
// segment is added while the next one arrives (Open MPI coll/base allreduce_intra_ring_segmented).
#include "ring.hpp"

namespace hockney::allreduce_segmented_ring {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    reduce_and_pass_round(p, rank, p.segment_B, builder);
}

const Register registered(
    Algorithm("allreduce", "segmented_ring", generate).alike(Likeness::shift).segmented());

}  // namespace
}  // namespace hockney::allreduce_segmented_ring
