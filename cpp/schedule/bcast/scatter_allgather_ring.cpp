// bcast scatter_allgather_ring: a binomial scatter of one block a rank, then P − 1 steps round a ring (van de
// Geijn; Open MPI coll/base bcast_intra_scatter_allgather_ring).
#include "bcast.hpp"

namespace hockney::bcast_scatter_allgather_ring {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Shift shift(p.ranks, p.root);
    const Pieces blocks = Pieces::blocks(p.bytes, p.ranks, p.element_B);
    const Region message = builder.output(0, p.bytes);
    const int v = shift.of(rank), next = shift.back((v + 1) % p.ranks),
              previous = shift.back((v - 1 + p.ranks) % p.ranks);
    // The scatter leaves some ranks with more than their block; the ring brings it again, so it must not
    // arrive before what is there has been passed on.
    const std::vector<int> scattered = scatter_blocks(p, blocks, rank, builder);
    int have = scattered.front();
    for (int step = 0; step < p.ranks - 1; ++step) {
        const int give = (v - step + p.ranks) % p.ranks, take = (give - 1 + p.ranks) % p.ranks;
        const int arrived = builder.receive(previous, blocks.of(message, take), scattered);
        builder.send(next, blocks.of(message, give), {have});
        have = arrived;
    }
}

const Register registered(Algorithm("bcast", "scatter_allgather_ring", generate).divided());

}  // namespace
}  // namespace hockney::bcast_scatter_allgather_ring
