// barrier double_ring: a token goes round the ring twice; the first round collects, the second releases. A
// rank leaves when the next one has the token: Open MPI sends it synchronously in the second round (coll/base
// barrier_intra_doublering), which is an acknowledgement here.
#include "../schedule.hpp"

namespace hockney::barrier_double_ring {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    if (p.ranks == 1) return;
    const int next = (rank + 1) % p.ranks, previous = (rank - 1 + p.ranks) % p.ranks;
    if (rank == 0) {
        const int collected = builder.await(previous, {builder.signal(next)});
        const int heard = builder.await(next, {builder.signal(next, {collected})});
        builder.signal(previous, {builder.await(previous, {heard})});
        return;
    }
    const int passed = builder.signal(next, {builder.await(previous)});
    const int released = builder.await(previous, {passed});
    builder.signal(previous, {released});
    builder.await(next, {builder.signal(next, {released})});
}

const Register registered(Algorithm("barrier", "double_ring", generate).grows(Growth::per_rank));

}  // namespace
}  // namespace hockney::barrier_double_ring
