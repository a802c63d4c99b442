// barrier linear: everybody reports to rank 0, which then releases everybody (Open MPI coll/base
// barrier_intra_basic_linear).
#include "../schedule.hpp"

namespace hockney::barrier_linear {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    if (rank != 0) {
        builder.signal(0);
        builder.await(0);
        return;
    }
    Steps reports;
    for (int other = 1; other < p.ranks; ++other) reports.push_back(builder.await(other));
    for (int other = 1; other < p.ranks; ++other) builder.signal(other, reports);
}

const Register registered(Algorithm("barrier", "linear", generate).grows(Growth::per_rank));

}  // namespace
}  // namespace hockney::barrier_linear
