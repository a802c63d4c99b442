// barrier double_ring: a token goes round the ring twice; the first round collects, the second releases (Open
// MPI coll/base barrier_intra_doublering).
#include "../schedule.hpp"

namespace hockney {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    if (p.ranks == 1) return;
    const int next = (rank + 1) % p.ranks, previous = (rank - 1 + p.ranks) % p.ranks;
    int token = Builder::none;
    for (int round = 0; round < 2; ++round) {
        if (rank != 0) token = builder.await(previous, {token});
        const int passed = builder.signal(next, {token});
        if (rank == 0) token = builder.await(previous, {passed});
    }
}

const Register registered(Algorithm("barrier", "double_ring", generate));

}  // namespace
}  // namespace hockney
