// reduce rabenseifner: a reduce-scatter by recursive halving, then a binomial gather to the root; 2⌊log₂P⌋
// rounds and about twice the vector on the critical path, and before that one round with the whole vector
// where P is no power of two (Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005).
#include "../halving.hpp"
#include "../pieces.hpp"

namespace hockney::reduce_rabenseifner {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const PowerOfTwoGroup group(p.ranks);
    // Of a pair, the odd rank takes part, but of the root's pair the root.
    const auto takes_part = [&](int r) {
        if (!group.is_paired(r)) return true;
        return r == p.root || (group.neighbour(r) != p.root && r % 2 == 1);
    };
    const auto rank_of = [&](int node) {
        const int r = group.rank(node);
        return takes_part(r) ? r : group.neighbour(r);
    };
    const Region own = builder.input(0, p.bytes);
    if (!takes_part(rank)) {
        builder.send(group.neighbour(rank), own);
        return;
    }
    const Region sum = rank == p.root ? builder.output(0, p.bytes) : builder.scratch(p.bytes);
    const Region other = builder.scratch(p.bytes);
    int valid = builder.copy(own, sum);
    if (group.is_paired(rank)) {
        const int arrived = builder.receive(group.neighbour(rank), other);
        valid = builder.reduce(other, sum, {arrived, valid});
    }
    const Pieces blocks = Pieces::blocks(p.bytes, group.nodes, p.element_B);
    const int node = group.node(rank), root_node = group.node(p.root);
    std::vector<int> before{valid};
    for (int bit = group.nodes / 2; bit >= 1; bit /= 2) {
        const int mine = node / bit * bit, theirs = mine ^ bit, partner = rank_of(node ^ bit);
        const int arrived = builder.receive(partner, blocks.of(other, mine, mine + bit), {valid});
        before.push_back(builder.send(partner, blocks.of(sum, theirs, theirs + bit), {valid}));
        const int added = builder.reduce(blocks.of(other, mine, mine + bit), blocks.of(sum, mine, mine + bit),
                                         {arrived, valid});
        if (added != Builder::none) valid = added;
    }
    before.push_back(valid);
    for (int bit = 1; bit < group.nodes; bit *= 2) {
        const int mine = node / bit * bit, theirs = mine ^ bit, partner = rank_of(node ^ bit);
        if ((node & bit) != (root_node & bit)) {
            builder.send(partner, blocks.of(sum, mine, mine + bit), before);
            return;
        }
        before.push_back(builder.receive(partner, blocks.of(sum, theirs, theirs + bit), before));
    }
}

const Register registered(
    Algorithm("reduce", "rabenseifner", generate).divided().grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::reduce_rabenseifner
