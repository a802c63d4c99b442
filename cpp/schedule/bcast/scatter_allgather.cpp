// bcast scatter_allgather: a binomial scatter of one block a rank, then an allgather by recursive doubling
// (van de Geijn; Thakur, Rabenseifner and Gropp 2005, section 4.2). Where the number of ranks is no power of
// two, ranks without a partner get the missing blocks from ranks of their own half that have just received
// them.
#include <algorithm>

#include "bcast.hpp"

namespace hockney::bcast_scatter_allgather {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Shift shift(p.ranks, p.root);
    const Pieces blocks = Pieces::blocks(p.bytes, p.ranks, p.element_B);
    const Region message = builder.output(0, p.bytes);
    const int v = shift.of(rank);
    // The scatter leaves some ranks with more than their block; the allgather brings it again, so it must not
    // arrive before what is there has been passed on.
    std::vector<int> have = scatter_blocks(p, blocks, rank, builder);
    for (int bit = 1; bit < p.ranks; bit *= 2) {
        const int mine = v / bit * bit, theirs = mine ^ bit;
        if (theirs >= p.ranks) continue;
        const Region my_range = blocks.of(message, mine, std::min(mine + bit, p.ranks));
        const Region their_range = blocks.of(message, theirs, std::min(theirs + bit, p.ranks));
        const int partner = v ^ bit;
        const std::vector<int> before = have;
        if (partner < p.ranks) {
            have.push_back(builder.receive(shift.back(partner), their_range, before));
            have.push_back(builder.send(shift.back(partner), my_range, before));
        }
        // Of `bit` ranks in this half, the first `known` have the other half's blocks.
        for (int known = p.ranks - theirs, place = v - mine; known < bit; known *= 2) {
            if (place >= known && place < 2 * known)
                have.push_back(builder.receive(shift.back(v - known), their_range, before));
            if (place < known && place + known < bit)
                have.push_back(builder.send(shift.back(v + known), their_range, have));
        }
    }
}

const Register registered(
    Algorithm("bcast", "scatter_allgather", generate).divided().grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::bcast_scatter_allgather
