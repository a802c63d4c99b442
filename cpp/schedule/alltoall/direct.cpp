// Alltoalls that send every block straight to its target, each rank beginning with its neighbour so that no
// rank is everybody's first target.
#include <algorithm>

#include "../schedule.hpp"

namespace hockney::alltoall_direct {
namespace {

// Step i: to rank + i, from rank − i; at most `under_way` steps at a time.
void exchange_with_all(const Problem& p, int rank, int under_way, Builder& builder) {
    builder.copy(builder.input(rank * p.bytes, p.bytes), builder.output(rank * p.bytes, p.bytes));
    expect_held(p.ranks * static_cast<Bytes>(2 * sizeof(int)));
    std::vector<int> arrived(static_cast<std::size_t>(p.ranks)), sent(static_cast<std::size_t>(p.ranks));
    const auto receive = [&](int step, const Steps& after) {
        const int from = (rank - step + p.ranks) % p.ranks;
        arrived[static_cast<std::size_t>(step)] =
            builder.receive(from, builder.output(from * p.bytes, p.bytes), after);
    };
    const auto send = [&](int step, const Steps& after) {
        const int to = (rank + step) % p.ranks;
        sent[static_cast<std::size_t>(step)] = builder.send(to, builder.input(to * p.bytes, p.bytes), after);
    };
    // What can be received at once is posted before anything is sent.
    const int at_once = std::min(under_way, p.ranks - 1);
    for (int step = 1; step <= at_once; ++step) receive(step, {});
    for (int step = 1; step <= at_once; ++step) send(step, {});
    for (int step = at_once + 1; step < p.ranks; ++step) {
        const auto before = static_cast<std::size_t>(step - under_way);
        const Steps after{arrived[before], sent[before]};
        receive(step, after);
        send(step, after);
    }
}

void all_at_once(const Problem& p, int rank, Builder& builder) {
    exchange_with_all(p, rank, p.ranks, builder);
}
void few_at_once(const Problem& p, int rank, Builder& builder) {
    exchange_with_all(p, rank, p.radix, builder);
}
void one_by_one(const Problem& p, int rank, Builder& builder) { exchange_with_all(p, rank, 1, builder); }

Algorithm alltoall(const char* name, Generator generate) {
    return Algorithm("alltoall", name, generate).alike(Likeness::shift).grows(Growth::per_rank);
}

// All messages are under way at once (Open MPI coll/base alltoall_intra_basic_linear).
const Register linear(alltoall("linear", all_at_once));

// Only `radix` exchanges are under way at a time (Open MPI coll/base alltoall_intra_linear_sync).
const Register linear_sync(alltoall("linear_sync", few_at_once).radix(4, 1));

// P − 1 steps, one exchange after another (Open MPI coll/base alltoall_intra_pairwise).
const Register pairwise(alltoall("pairwise", one_by_one));

}  // namespace
}  // namespace hockney::alltoall_direct
