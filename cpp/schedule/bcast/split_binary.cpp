// bcast split_binary: the left half of the message goes down the left subtree of a binary tree, the right
// half down the right one, in segments; then each rank swaps halves with a partner of the other subtree (Open
// MPI coll/base bcast_intra_split_bintree, whose partners these are).
#include "bcast.hpp"

namespace hockney::bcast_split_binary {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    if (p.ranks == 1) return;
    const Shift shift(p.ranks, p.root);
    const Tree tree = binary_tree(p.ranks, p.root, rank);
    const Pieces halves = Pieces::blocks(p.bytes, 2, p.element_B);
    const Region message = builder.output(0, p.bytes);
    const Region half[2] = {halves.of(message, 0), halves.of(message, 1)};
    const Pieces segments[2] = {Pieces::segments(half[0].length_B, p.segment_B, p.element_B),
                                Pieces::segments(half[1].length_B, p.segment_B, p.element_B)};
    const int v = shift.of(rank), last = p.ranks - 1;
    // Odd ranks, counted from the root, are the left subtree.
    const int mine = v % 2 == 1 ? 0 : 1, theirs = 1 - mine;
    if (v == 0) {
        for (int segment = 0; segment < segments[0].count(); ++segment)
            for (std::size_t side = 0; side < tree.children.size(); ++side)
                if (segment < segments[side].count())
                    builder.send(tree.children[side], segments[side].of(half[side], segment));
        // With an even number of ranks the last one, on the left, has no partner on the right but the root.
        if (last % 2 == 1) builder.send(shift.back(last), half[1]);
        return;
    }
    std::vector<int> arrived{builder.receive(tree.parent, segments[mine].of(half[mine], 0))};
    for (int segment = 0; segment < segments[mine].count(); ++segment) {
        if (segment + 1 < segments[mine].count())
            arrived.push_back(builder.receive(tree.parent, segments[mine].of(half[mine], segment + 1)));
        for (const int child : tree.children)
            builder.send(child, segments[mine].of(half[mine], segment),
                         {arrived[static_cast<std::size_t>(segment)]});
    }
    if (v == last && last % 2 == 1) {
        builder.receive(p.root, half[1]);
        return;
    }
    const int partner = shift.back(mine == 0 ? v + 1 : v - 1);
    builder.receive(partner, half[theirs]);
    builder.send(partner, half[mine], arrived);
}

const Register registered(Algorithm("bcast", "split_binary", generate).segmented());

}  // namespace
}  // namespace hockney::bcast_split_binary
