// gather binomial: each rank collects the blocks of its subtree and hands them to its parent; ⌈log₂P⌉ rounds
// (Open MPI coll/base gather_intra_binomial).
#include "../subtree.hpp"

namespace hockney::gather_binomial {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Subtree subtree(p, rank);
    const bool is_root = rank == p.root;
    const Region own = builder.input(0, p.bytes);
    if (subtree.tree.children.empty() && !is_root) {
        builder.send(subtree.tree.parent, own);
        return;
    }
    Region held;
    std::vector<int> collected;
    if (is_root) {
        builder.copy(own, builder.output(rank * p.bytes, p.bytes));
    } else {
        held = builder.scratch(subtree.size() * p.bytes);
        collected.push_back(builder.copy(own, part(held, 0, p.bytes)));
    }
    for (const int child : subtree.tree.children) {
        const Subtree theirs(p, child);
        if (!is_root) {
            const Region place =
                part(held, (theirs.first - subtree.first) * p.bytes, theirs.size() * p.bytes);
            collected.push_back(builder.receive(child, place));
            continue;
        }
        // The root's blocks lie in rank order: a subtree that goes round the last rank is taken apart.
        if (!theirs.wraps()) {
            builder.receive(child, builder.output(child * p.bytes, theirs.size() * p.bytes));
            continue;
        }
        const Region packed = builder.scratch(theirs.size() * p.bytes);
        const Bytes upper_B = theirs.before_wrap() * p.bytes, lower_B = packed.length_B - upper_B;
        const int arrived = builder.receive(child, packed);
        builder.copy(part(packed, 0, upper_B), builder.output(child * p.bytes, upper_B), {arrived});
        builder.copy(part(packed, upper_B, lower_B), builder.output(0, lower_B), {arrived});
    }
    if (!is_root) builder.send(subtree.tree.parent, held, collected);
}

const Register registered(Algorithm("gather", "binomial", generate));

}  // namespace
}  // namespace hockney::gather_binomial
