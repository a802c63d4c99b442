// reduce_scatter recursive_halving: ⌊log₂P⌋ exchanges, half as much each time; a rank too many hands its
// vector to a neighbour first and gets its block last (Thakur, Rabenseifner and Gropp 2005).
#include "../halving.hpp"
#include "../pieces.hpp"

namespace hockney::reduce_scatter_recursive_halving {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const PowerOfTwoGroup group(p.ranks);
    const Pieces blocks = Pieces::equal(p.ranks, p.bytes);
    const Region own = builder.input(0, p.ranks * p.bytes);
    const Region result = builder.output(0, p.bytes);
    if (hands_over(group, rank, own, result, builder)) return;
    const Region sum = builder.scratch(p.ranks * p.bytes), other = builder.scratch(p.ranks * p.bytes);
    // The blocks of the ranks that a range of nodes stands for.
    const auto of = [&](const Region& vector, int first, int last) {
        return blocks.of(vector, group.first_rank(first),
                         last == group.nodes ? p.ranks : group.first_rank(last));
    };
    int valid = builder.copy(own, sum);
    if (group.is_paired(rank)) {
        const int arrived = builder.receive(rank - 1, other);
        valid = builder.reduce(other, sum, {arrived, valid});
    }
    const int node = group.node(rank);
    for (int bit = group.nodes / 2; bit >= 1; bit /= 2) {
        const int mine = node / bit * bit, theirs = mine ^ bit, partner = group.rank(node ^ bit);
        const int arrived = builder.receive(partner, of(other, mine, mine + bit), {valid});
        builder.send(partner, of(sum, theirs, theirs + bit), {valid});
        valid = builder.reduce(of(other, mine, mine + bit), of(sum, mine, mine + bit), {arrived, valid});
    }
    builder.copy(blocks.of(sum, rank), result, {valid});
    if (group.is_paired(rank)) builder.send(rank - 1, blocks.of(sum, rank - 1), {valid});
}

const Register registered(
    Algorithm("reduce_scatter", "recursive_halving", generate).alike(Likeness::exclusive_or));

}  // namespace
}  // namespace hockney::reduce_scatter_recursive_halving
