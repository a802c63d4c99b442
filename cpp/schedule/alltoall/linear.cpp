// alltoall linear: all messages under way at once, each rank beginning with its neighbour so that no rank is
// everybody's first target (Open MPI coll/base alltoall_intra_basic_linear).
#include "alltoall.hpp"

namespace hockney::alltoall_linear {
namespace {

void generate(const Problem& p, int rank, Builder& builder) { exchange_with_all(p, rank, p.ranks, builder); }

const Register registered(Algorithm("alltoall", "linear", generate).alike(Likeness::shift));

}  // namespace
}  // namespace hockney::alltoall_linear
