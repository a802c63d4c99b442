#include "bcast.hpp"

namespace hockney {

void pass_down(const Problem& problem, const Tree& tree, Builder& builder) {
    const Region message = builder.output(0, problem.bytes);
    const Pieces segments = Pieces::segments(problem.bytes, problem.segment_B, problem.element_B);
    const auto receive = [&](int segment) {
        return tree.parent < 0 ? Builder::none : builder.receive(tree.parent, segments.of(message, segment));
    };
    int arrived = receive(0);
    for (int segment = 0; segment < segments.count(); ++segment) {
        const int next = segment + 1 < segments.count() ? receive(segment + 1) : Builder::none;
        for (const int child : tree.children) builder.send(child, segments.of(message, segment), {arrived});
        arrived = next;
    }
}

}  // namespace hockney
