#include "bcast.hpp"

#include <algorithm>

namespace hockney {

void pass_down(const Problem& problem, const Tree& tree, Builder& builder, const std::vector<int>& ready) {
    const Region message = builder.output(0, problem.bytes);
    const Pieces segments = Pieces::segments(problem.bytes, problem.segment_B, problem.element_B);
    const auto have = [&](int segment) {
        const int before = ready.empty() ? Builder::none : ready[static_cast<std::size_t>(segment)];
        if (tree.parent < 0) return before;
        return builder.receive(tree.parent, segments.of(message, segment), {before});
    };
    int arrived = have(0);
    for (int segment = 0; segment < segments.count(); ++segment) {
        const int next = segment + 1 < segments.count() ? have(segment + 1) : Builder::none;
        for (const int child : tree.children) builder.send(child, segments.of(message, segment), {arrived});
        arrived = next;
    }
}

std::vector<int> scatter_blocks(const Problem& p, const Pieces& blocks, int rank, Builder& builder) {
    const Shift shift(p.ranks, p.root);
    const Tree tree = binomial_tree_in_order(p.ranks, p.root, rank);
    const Region message = builder.output(0, p.bytes);
    const int v = shift.of(rank);
    int arrived = Builder::none, end = p.ranks;
    if (tree.parent >= 0) {
        end = std::min(v + (v & -v), p.ranks);
        arrived = builder.receive(tree.parent, blocks.of(message, v, end));
    }
    std::vector<int> steps{arrived};
    // The farthest subtree is the largest and goes first.
    for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child) {
        const int first = shift.of(*child);
        steps.push_back(builder.send(*child, blocks.of(message, first, end), {arrived}));
        end = first;
    }
    return steps;
}

}  // namespace hockney
