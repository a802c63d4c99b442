// allreduce rabenseifner: a reduce-scatter by halving the vector while the distance doubles, then an
// allgather the same way back; 2⌊log₂P⌋ rounds, about twice the vector per rank (Rabenseifner 2004; Thakur,
// Rabenseifner and Gropp 2005). Neighbours are added first, so ranks stay in order.
#include "../halving.hpp"
#include "swapping.hpp"

namespace hockney::allreduce_rabenseifner {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Folded folded(p.ranks);
    const Region result = builder.output(0, p.bytes);
    if (stands_aside(folded, rank, builder.input(0, p.bytes), result, builder)) return;
    const Pieces blocks = Pieces::blocks(p.bytes, folded.nodes, p.element_B);
    Swapping sum(p, builder);
    if (folded.is_paired(rank)) sum.add(rank - 1, {0, p.bytes});
    const int node = folded.node(rank);
    struct Range {
        int first, last;
    };
    std::vector<Range> ranges{{0, folded.nodes}};  // that this node was responsible for, before each exchange
    for (int bit = 1; bit < folded.nodes; bit *= 2) {
        const Range now = ranges.back();
        const int middle = (now.first + now.last) / 2, partner = folded.rank(node ^ bit);
        const bool lower = (node & bit) == 0;
        const Range keep = lower ? Range{now.first, middle} : Range{middle, now.last};
        const Range give = lower ? Range{middle, now.last} : Range{now.first, middle};
        sum.exchange(partner, partner > rank, blocks.span(give.first, give.last),
                     blocks.span(keep.first, keep.last));
        ranges.push_back(keep);
    }
    sum.settle(blocks.span(ranges.back().first, ranges.back().last));
    for (int bit = folded.nodes / 2; bit >= 1; bit /= 2) {
        const Range mine = ranges.back();
        ranges.pop_back();
        const Range whole = ranges.back();
        const Range theirs =
            mine.first == whole.first ? Range{mine.last, whole.last} : Range{whole.first, mine.first};
        const int partner = folded.rank(node ^ bit);
        const std::vector<int> before = sum.before;
        sum.before.push_back(builder.receive(partner, blocks.of(result, theirs.first, theirs.last), before));
        sum.before.push_back(builder.send(partner, blocks.of(result, mine.first, mine.last), before));
    }
    if (folded.is_paired(rank)) builder.send(rank - 1, result, sum.before);
}

const Register registered(Algorithm("allreduce", "rabenseifner", generate)
                              .alike(Likeness::exclusive_or)
                              .but_for_copies()
                              .ordered());

}  // namespace
}  // namespace hockney::allreduce_rabenseifner
