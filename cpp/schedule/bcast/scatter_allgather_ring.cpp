// bcast scatter_allgather_ring: a binomial scatter of one block a rank, then P − 1 steps round a ring (van de
// Geijn; Open MPI coll/base bcast_intra_scatter_allgather_ring).
#include "bcast.hpp"

namespace hockney {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Shift shift(p.ranks, p.root);
    const Pieces blocks = Pieces::blocks(p.bytes, p.ranks, p.element_B);
    const Region message = builder.output(0, p.bytes);
    const int v = shift.of(rank), next = shift.back((v + 1) % p.ranks),
              previous = shift.back((v - 1 + p.ranks) % p.ranks);
    int have = scatter_blocks(p, blocks, rank, builder);
    // A rank keeps what the scatter gave it: it needs no block of its own subtree, the root none at all.
    const int owned = v == 0 ? p.ranks : std::min(v & -v, p.ranks - v);
    const int next_v = (v + 1) % p.ranks,
              next_owned = next_v == 0 ? p.ranks : std::min(next_v & -next_v, p.ranks - next_v);
    std::vector<int> got(static_cast<std::size_t>(p.ranks), have);
    for (int step = 0; step < p.ranks - 1; ++step) {
        const int give = (v - step + p.ranks) % p.ranks, take = (give - 1 + p.ranks) % p.ranks;
        const auto held = [&](int block, int owner, int count) {
            return (block - owner + p.ranks) % p.ranks < count;
        };
        if (!held(take, v, owned))
            got[static_cast<std::size_t>(take)] = builder.receive(previous, blocks.of(message, take));
        if (!held(give, next_v, next_owned))
            builder.send(next, blocks.of(message, give), {got[static_cast<std::size_t>(give)]});
    }
}

const Register registered(Algorithm("bcast", "scatter_allgather_ring", generate));

}  // namespace
}  // namespace hockney
