// reduce_scatter ring: each rank's block goes once round the ring and is added to at every stop; P − 1
// rounds, P − 1 blocks per rank (Open MPI coll/base reduce_scatter_intra_ring).
#include "../pieces.hpp"

namespace hockney::reduce_scatter_ring {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Pieces blocks = Pieces::equal(p.ranks, p.bytes);
    const Region own = builder.input(0, p.ranks * p.bytes);
    const Region result = builder.output(0, p.bytes);
    if (p.ranks == 1) {
        builder.copy(own, result);
        return;
    }
    const int next = (rank + 1) % p.ranks, previous = (rank - 1 + p.ranks) % p.ranks;
    // Three buffers in turn: one is sent, one is added to, one receives.
    const Region buffers[3] = {builder.scratch(p.bytes), builder.scratch(p.bytes), builder.scratch(p.bytes)};
    const int steps = p.ranks - 1;
    const auto into = [&](int step) { return step == steps - 1 ? result : buffers[step % 3]; };
    std::vector<int> sent(static_cast<std::size_t>(steps), Builder::none);
    const auto receive = [&](int step) {
        // What arrived three steps before was sent on two steps before.
        const int free = step < 3 ? Builder::none : sent[static_cast<std::size_t>(step - 2)];
        return builder.receive(previous, into(step), {free});
    };
    Region sum = blocks.of(own, previous);
    int valid = Builder::none, arriving = receive(0);
    for (int step = 0; step < steps; ++step) {
        const int arrived = arriving;
        if (step + 1 < steps) arriving = receive(step + 1);
        sent[static_cast<std::size_t>(step)] = builder.send(next, sum, {valid});
        const int take = (rank - 2 - step + 2 * p.ranks) % p.ranks;
        valid = builder.reduce(blocks.of(own, take), into(step), {arrived});
        sum = into(step);
    }
}

const Register registered(
    Algorithm("reduce_scatter", "ring", generate).alike(Likeness::shift).grows(Growth::per_rank));

}  // namespace
}  // namespace hockney::reduce_scatter_ring
