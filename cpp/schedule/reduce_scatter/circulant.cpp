// reduce_scatter circulant: ⌈log₂P⌉ rounds and P − 1 blocks sent per rank, both the least possible, for any P
// (Träff, arXiv 2410.14234).
#include "../circulant.hpp"

namespace hockney::reduce_scatter_circulant {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Region own = builder.input(0, p.ranks * p.bytes);
    const Rotated vector(Pieces::equal(p.ranks, p.bytes), rank, builder.scratch(p.ranks * p.bytes));
    const int loaded = vector.load(own, builder);
    const std::vector<int> reduced = circulant_reduce_scatter(p, rank, vector, loaded, builder);
    builder.copy(vector.of(0, 1), builder.output(0, p.bytes), reduced);
}

const Register registered(
    Algorithm("reduce_scatter", "circulant", generate).alike(Likeness::shift).but_for_copies());

}  // namespace
}  // namespace hockney::reduce_scatter_circulant
