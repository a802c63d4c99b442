// bcast ternary: segments down a complete tree of out-degree 3, filled level by level: v has the children
// 3v + 1, 3v + 2 and 3v + 3.
#include "bcast.hpp"

namespace hockney::bcast_ternary {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Shift shift(p.ranks, p.root);
    const int v = shift.of(rank);
    Tree tree;
    if (v > 0) tree.parent = shift.back((v - 1) / 3);
    for (long child = 3L * v + 1; child <= 3L * v + 3 && child < p.ranks; ++child)
        tree.add(shift.back(static_cast<int>(child)));
    pass_down(p, tree, builder);
}

const Register registered(
    Algorithm("bcast", "ternary", generate).segmented().one_block().grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::bcast_ternary
