// allgather neighbor_exchange: P/2 steps; each rank swaps with its two neighbours in turn, one block at
// first, then the two it got last; defined for even P (Chen et al. 2005; Open MPI coll/base
// allgather_intra_neighborexchange).
#include "../pieces.hpp"

namespace hockney::allgather_neighbor_exchange {
namespace {

std::string refuse(const Problem& p) {
    return p.ranks % 2 == 0 || p.ranks == 1
               ? ""
               : "neighbor_exchange needs an even number of ranks, not " + std::to_string(p.ranks);
}

void generate(const Problem& p, int rank, Builder& builder) {
    const Pieces blocks = Pieces::equal(p.ranks, p.bytes);
    const Region all = builder.output(0, p.ranks * p.bytes);
    int have = builder.copy(builder.input(0, p.bytes), blocks.of(all, rank));
    if (p.ranks == 1) return;
    // Pairs of blocks begin at even numbers. A pair comes from each side in turn, two further away each time.
    const bool even = rank % 2 == 0;
    const int neighbour[2] = {even ? rank + 1 : rank - 1, (even ? rank - 1 + p.ranks : rank + 1) % p.ranks};
    const int arrived = builder.receive(neighbour[0], blocks.of(all, neighbour[0]));
    builder.send(neighbour[0], blocks.of(all, rank), {have});
    std::vector<int> latest{have, arrived};
    int pair = rank - rank % 2;  // to be given next
    int source[2] = {pair, pair};
    for (int step = 1; step < p.ranks / 2; ++step) {
        const int side = step % 2;
        const int away = (side == 0) == even ? 2 : -2;
        source[side] = (source[side] + away + p.ranks) % p.ranks;
        const int taken = builder.receive(neighbour[side], blocks.of(all, source[side], source[side] + 2));
        builder.send(neighbour[side], blocks.of(all, pair, pair + 2), latest);
        latest = {taken};
        pair = source[side];
    }
}

const Register registered(Algorithm("allgather", "neighbor_exchange", generate).only(refuse));

}  // namespace
}  // namespace hockney::allgather_neighbor_exchange
