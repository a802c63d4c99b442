// allreduce circulant: the circulant reduce-scatter, then the circulant allgather: 2⌈log₂P⌉ rounds and 2(P −
// 1)/P of the vector per rank, both for any P (Träff, arXiv 2410.14234).
#include "../circulant.hpp"

namespace hockney::allreduce_circulant {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Pieces blocks = Pieces::blocks(p.bytes, p.ranks, p.element_B);
    const Rotated vector(blocks, rank, builder.scratch(p.bytes));
    const int loaded = vector.load(builder.input(0, p.bytes), builder);
    const std::vector<int> reduced = circulant_reduce_scatter(p, rank, vector, loaded, builder);
    vector.store(builder.output(0, p.bytes), circulant_allgather(p, rank, vector, reduced, builder), builder);
}

const Register registered(Algorithm("allreduce", "circulant", generate)
                              .alike(Likeness::shift)
                              .but_for_copies()
                              .divided()
                              .grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::allreduce_circulant
