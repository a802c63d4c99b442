// allgather ring: P − 1 steps, each rank passes on the block it got last (Open MPI coll/base
// allgather_intra_ring).
#include "../pieces.hpp"

namespace hockney::allgather_ring {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Pieces blocks = Pieces::equal(p.ranks, p.bytes);
    const Region all = builder.output(0, p.ranks * p.bytes);
    const int next = (rank + 1) % p.ranks, previous = (rank - 1 + p.ranks) % p.ranks;
    int have = builder.copy(builder.input(0, p.bytes), blocks.of(all, rank));
    for (int step = 0; step < p.ranks - 1; ++step) {
        const int give = (rank - step + p.ranks) % p.ranks, take = (give - 1 + p.ranks) % p.ranks;
        const int arrived = builder.receive(previous, blocks.of(all, take));
        builder.send(next, blocks.of(all, give), {have});
        have = arrived;
    }
}

const Register registered(
    Algorithm("allgather", "ring", generate).alike(Likeness::shift).grows(Growth::per_rank));

}  // namespace
}  // namespace hockney::allgather_ring
