// reduce_scatter ring: each rank's block goes once round the ring and is added to at every stop; P − 1
// rounds, P − 1 blocks per rank (Open MPI coll/base reduce_scatter_intra_ring).
#include "../pieces.hpp"

namespace hockney {
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
    // Two buffers in turn: the sum in one is sent while the other receives.
    const Region buffers[2] = {builder.scratch(p.bytes), builder.scratch(p.bytes)};
    int sent[2] = {Builder::none, Builder::none};
    Region sum = blocks.of(own, previous);
    int valid = Builder::none;
    for (int step = 0; step < p.ranks - 1; ++step) {
        const int take = (rank - 2 - step + 2 * p.ranks) % p.ranks;
        const bool last = step == p.ranks - 2;
        const Region into = last ? result : buffers[step % 2];
        const int arrived = builder.receive(previous, into, {last ? Builder::none : sent[step % 2]});
        const int given = builder.send(next, sum, {valid});
        sent[(step + 1) % 2] = given;  // the sum that was sent lies in the other buffer
        valid = builder.reduce(blocks.of(own, take), into, {arrived});
        sum = into;
    }
}

const Register registered(Algorithm("reduce_scatter", "ring", generate));

}  // namespace
}  // namespace hockney
