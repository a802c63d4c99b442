// alltoall pairwise: P − 1 steps, one exchange after another (Open MPI coll/base alltoall_intra_pairwise).
#include "alltoall.hpp"

namespace hockney::alltoall_pairwise {
namespace {

void generate(const Problem& p, int rank, Builder& builder) { exchange_with_all(p, rank, 1, builder); }

const Register registered(Algorithm("alltoall", "pairwise", generate).alike(Likeness::shift));

}  // namespace
}  // namespace hockney::alltoall_pairwise
