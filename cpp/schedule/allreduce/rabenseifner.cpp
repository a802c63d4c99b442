// allreduce rabenseifner: a reduce-scatter by halving the vector while the distance doubles, then an
// allgather the same way back; 2⌊log₂P⌋ rounds, about twice the vector per rank (Rabenseifner 2004; Thakur,
// Rabenseifner and Gropp 2005). Neighbours are added first, so ranks stay in order.
#include "../halving.hpp"
#include "double_buffered_sum.hpp"

namespace hockney::allreduce_rabenseifner {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const PowerOfTwoGroup group(p.ranks);
    const Region result = builder.output(0, p.bytes);
    if (hands_over(group, rank, builder.input(0, p.bytes), result, builder)) return;
    const Pieces blocks = Pieces::blocks(p.bytes, group.nodes, p.element_B);
    DoubleBufferedSum sum(p, builder);
    if (group.is_paired(rank)) sum.add(rank - 1, {0, p.bytes});
    const int node = group.node(rank);
    struct Range {
        int first, last;
    };
    std::vector<Range> ranges{{0, group.nodes}};  // that this node was responsible for, before each exchange
    for (int bit = 1; bit < group.nodes; bit *= 2) {
        const Range now = ranges.back();
        const int middle = (now.first + now.last) / 2, partner = group.rank(node ^ bit);
        const bool lower = (node & bit) == 0;
        const Range keep = lower ? Range{now.first, middle} : Range{middle, now.last};
        const Range give = lower ? Range{middle, now.last} : Range{now.first, middle};
        sum.exchange(partner, partner > rank, blocks.span(give.first, give.last),
                     blocks.span(keep.first, keep.last));
        ranges.push_back(keep);
    }
    sum.settle(blocks.span(ranges.back().first, ranges.back().last));
    for (int bit = group.nodes / 2; bit >= 1; bit /= 2) {
        const Range mine = ranges.back();
        ranges.pop_back();
        const Range whole = ranges.back();
        const Range theirs =
            mine.first == whole.first ? Range{mine.last, whole.last} : Range{whole.first, mine.first};
        const int partner = group.rank(node ^ bit);
        const std::vector<int> before = sum.before;
        sum.before.push_back(builder.receive(partner, blocks.of(result, theirs.first, theirs.last), before));
        sum.before.push_back(builder.send(partner, blocks.of(result, mine.first, mine.last), before));
    }
    if (group.is_paired(rank)) builder.send(rank - 1, result, sum.before);
}

const Register registered(Algorithm("allreduce", "rabenseifner", generate)
                              .alike(Likeness::exclusive_or)
                              .but_for_copies()
                              .ordered()
                              .divided()
                              .grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::allreduce_rabenseifner
