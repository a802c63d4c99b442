// allreduce recursive_doubling: ⌊log₂P⌋ exchanges of the whole vector between ranks whose numbers differ in one bit;
// of the P − 2^⌊log₂P⌋ ranks too many, each hands its vector to a neighbour first and gets the result last (Thakur,
// Rabenseifner and Gropp 2005, section 4.4). Ranks stay in order, so any operator may be used.
#include "../schedule.hpp"

namespace hockney {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    int power = 1;
    while (2 * power <= p.ranks) power *= 2;
    const int extra = p.ranks - power;
    const Region vector = builder.output(0, p.bytes);
    const Region other = builder.scratch(p.bytes);
    // The latest step that gave `vector` its value, and the latest that read or wrote `other`.
    int valid = builder.copy(builder.input(0, p.bytes), vector);
    int free = Builder::none;

    const bool folded = rank < 2 * extra;
    if (folded && rank % 2 == 0) {
        const int handed = builder.send(rank + 1, vector, {valid});
        builder.receive(rank + 1, vector, {handed});
        return;
    }
    if (folded) {
        const int arrived = builder.receive(rank - 1, other);
        valid = free = builder.reduce(other, vector, {arrived, valid});
    }
    const int node = folded ? rank / 2 : rank - extra;
    for (int bit = 1; bit < power; bit *= 2) {
        const int partner_node = node ^ bit;
        const int partner = partner_node < extra ? 2 * partner_node + 1 : partner_node + extra;
        const int arrived = builder.receive(partner, other, {free});
        const int sent = builder.send(partner, vector, {valid});
        if (partner < rank) {
            valid = free = builder.reduce(other, vector, {arrived, sent, valid});
        } else {
            // The partner's ranks come after ours: ours is the left operand, and the result lands in `other`.
            const int reduced = builder.reduce(vector, other, {arrived, valid});
            valid = free = builder.copy(other, vector, {reduced, sent});
        }
    }
    if (folded) builder.send(rank - 1, vector, {valid});
}

const Register registered(Algorithm("allreduce", "recursive_doubling", generate).ordered());

}  // namespace
}  // namespace hockney
