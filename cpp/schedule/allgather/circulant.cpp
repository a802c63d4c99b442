// allgather circulant: ⌈log₂P⌉ rounds, P − 1 blocks sent, for any P; the skips are the halves of P instead of
// powers of two (Träff, arXiv 2410.14234).
#include "../circulant.hpp"

namespace hockney::allgather_circulant {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Rotated blocks(Pieces::equal(p.ranks, p.bytes), rank, builder.scratch(p.ranks * p.bytes));
    const int loaded = builder.copy(builder.input(0, p.bytes), blocks.of(0, 1));
    const std::vector<int> have = circulant_allgather(p, rank, blocks, {loaded}, builder);
    blocks.store(builder.output(0, p.ranks * p.bytes), have, builder);
}

const Register registered(
    Algorithm("allgather", "circulant", generate).alike(Likeness::shift).but_for_copies());

}  // namespace
}  // namespace hockney::allgather_circulant
