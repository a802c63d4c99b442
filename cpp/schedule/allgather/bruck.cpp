// allgather bruck: in round k every rank sends what it has, at most 2^k blocks, to rank − 2^k; ⌈log₂P⌉ rounds
// for any P, and a rotation in the end (Bruck et al. 1997; Open MPI coll/base allgather_intra_bruck).
#include <algorithm>

#include "../circulant.hpp"

namespace hockney::allgather_bruck {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Rotated blocks(Pieces::equal(p.ranks, p.bytes), rank, builder.scratch(p.ranks * p.bytes));
    std::vector<int> have{builder.copy(builder.input(0, p.bytes), blocks.of(0, 1))};
    for (int distance = 1; distance < p.ranks; distance *= 2) {
        const int count = std::min(distance, p.ranks - distance);
        const int to = (rank - distance + p.ranks) % p.ranks, from = (rank + distance) % p.ranks;
        const std::vector<int> before = have;
        have.push_back(builder.receive(from, blocks.of(distance, distance + count)));
        builder.send(to, blocks.of(0, count), before);
    }
    blocks.store(builder.output(0, p.ranks * p.bytes), have, builder);
}

const Register registered(Algorithm("allgather", "bruck", generate).alike(Likeness::shift).but_for_copies());

}  // namespace
}  // namespace hockney::allgather_bruck
