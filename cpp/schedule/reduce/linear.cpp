// reduce linear: everybody sends to the root, which adds up from the last rank to the first, so any operator
// may be used with any root (Open MPI coll/base reduce_intra_basic_linear).
#include "../schedule.hpp"

namespace hockney::reduce_linear {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    Region own = builder.input(0, p.bytes);
    if (rank != p.root) {
        builder.send(p.root, own);
        return;
    }
    const Region sum = builder.output(0, p.bytes);
    const int last = p.ranks - 1;
    int staged = Builder::none;
    if (own == sum && rank != last) {
        own = builder.scratch(p.bytes);
        staged = builder.copy(sum, own);
    }
    int valid = rank == last ? builder.copy(own, sum) : builder.receive(last, sum, {staged});
    // Two buffers in turn: one is added while the other receives.
    const Region buffers[2] = {builder.scratch(p.bytes), builder.scratch(p.bytes)};
    int used[2] = {Builder::none, Builder::none};
    const auto receive = [&](int from) { return builder.receive(from, buffers[from % 2], {used[from % 2]}); };
    int arrived = last > 0 && last - 1 != rank ? receive(last - 1) : Builder::none;
    for (int from = last - 1; from >= 0; --from) {
        const int next = from > 0 && from - 1 != rank ? receive(from - 1) : Builder::none;
        valid = builder.reduce(from == rank ? own : buffers[from % 2], sum, {valid, arrived, staged});
        used[from % 2] = valid;
        arrived = next;
    }
}

const Register registered(Algorithm("reduce", "linear", generate).ordered().grows(Growth::per_rank));

}  // namespace
}  // namespace hockney::reduce_linear
