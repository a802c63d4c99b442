// allreduce recursive_doubling: ⌊log₂P⌋ exchanges of the whole vector between nodes whose numbers differ in
// one bit; a rank too many hands its vector to a neighbour first and gets the result last (Thakur,
// Rabenseifner and Gropp 2005). Ranks stay in order, so any operator may be used.
#include "../halving.hpp"
#include "double_buffered_sum.hpp"

namespace hockney::allreduce_recursive_doubling {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const PowerOfTwoGroup group(p.ranks);
    const Region result = builder.output(0, p.bytes);
    if (hands_over(group, rank, builder.input(0, p.bytes), result, builder)) return;
    const Span all{0, p.bytes};
    DoubleBufferedSum sum(p, builder);
    if (group.is_paired(rank)) sum.add(rank - 1, all);
    for (int bit = 1; bit < group.nodes; bit *= 2) {
        const int partner = group.rank(group.node(rank) ^ bit);
        sum.exchange(partner, partner > rank, all, all);
    }
    sum.settle(all);
    if (group.is_paired(rank)) builder.send(rank - 1, result, sum.before);
}

const Register registered(Algorithm("allreduce", "recursive_doubling", generate)
                              .alike(Likeness::exclusive_or)
                              .but_for_copies()
                              .ordered()
                              .grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::allreduce_recursive_doubling
