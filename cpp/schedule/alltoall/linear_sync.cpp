// alltoall linear_sync: as linear, but only `radix` exchanges are under way at a time (Open MPI coll/base
// alltoall_intra_linear_sync).
#include "alltoall.hpp"

namespace hockney::alltoall_linear_sync {
namespace {

void generate(const Problem& p, int rank, Builder& builder) { exchange_with_all(p, rank, p.radix, builder); }

const Register registered(Algorithm("alltoall", "linear_sync", generate).alike(Likeness::shift).radix(4, 1));

}  // namespace
}  // namespace hockney::alltoall_linear_sync
