// scatter binomial: each rank receives the blocks of its whole subtree and passes on those of its children;
// ⌈log₂P⌉ rounds (Open MPI coll/base scatter_intra_binomial).
#include "../subtree.hpp"

namespace hockney::scatter_binomial {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Subtree subtree(p, rank);
    const bool is_root = rank == p.root, is_leaf = subtree.tree.children.empty();
    const Region own = builder.output(0, p.bytes);
    Region held;
    int arrived = Builder::none;
    if (is_root) {
        builder.copy(builder.input(p.root * p.bytes, p.bytes), own);
    } else {
        held = is_leaf ? own : builder.scratch(subtree.size() * p.bytes);
        arrived = builder.receive(subtree.tree.parent, held);
        builder.copy(part(held, 0, p.bytes), own, {arrived});
    }
    // The farthest subtree is the largest and goes first.
    for (auto child = subtree.tree.children.rbegin(); child != subtree.tree.children.rend(); ++child) {
        const Subtree theirs(p, *child);
        if (!is_root) {
            builder.send(*child,
                         part(held, (theirs.first - subtree.first) * p.bytes, theirs.size() * p.bytes),
                         {arrived});
            continue;
        }
        // The root's blocks lie in rank order: a subtree that goes round the last rank is put together first.
        if (!theirs.wraps()) {
            builder.send(*child, builder.input(*child * p.bytes, theirs.size() * p.bytes));
            continue;
        }
        const Region packed = builder.scratch(theirs.size() * p.bytes);
        const Bytes upper_B = theirs.before_wrap() * p.bytes;
        const int upper = builder.copy(builder.input(*child * p.bytes, upper_B), part(packed, 0, upper_B));
        const int lower = builder.copy(builder.input(0, packed.length_B - upper_B),
                                       part(packed, upper_B, packed.length_B - upper_B));
        builder.send(*child, packed, {upper, lower});
    }
}

const Register registered(Algorithm("scatter", "binomial", generate));

}  // namespace
}  // namespace hockney::scatter_binomial
