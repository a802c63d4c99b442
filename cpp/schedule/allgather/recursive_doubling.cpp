// allgather recursive_doubling: log₂P exchanges of all that is known between ranks whose numbers differ in
// one bit; defined for powers of two (Thakur, Rabenseifner and Gropp 2005, section 4.1).
#include "../pieces.hpp"

namespace hockney::allgather_recursive_doubling {
namespace {

std::string refuse(const Problem& p) {
    return (p.ranks & (p.ranks - 1)) == 0
               ? ""
               : "recursive_doubling needs a power of two of ranks, not " + std::to_string(p.ranks);
}

void generate(const Problem& p, int rank, Builder& builder) {
    const Pieces blocks = Pieces::equal(p.ranks, p.bytes);
    const Region all = builder.output(0, p.ranks * p.bytes);
    std::vector<int> have{builder.copy(builder.input(0, p.bytes), blocks.of(all, rank))};
    for (int bit = 1; bit < p.ranks; bit *= 2) {
        const int mine = rank / bit * bit, theirs = mine ^ bit;
        const std::vector<int> before = have;
        have.push_back(builder.receive(rank ^ bit, blocks.of(all, theirs, theirs + bit)));
        builder.send(rank ^ bit, blocks.of(all, mine, mine + bit), before);
    }
}

const Register registered(
    Algorithm("allgather", "recursive_doubling", generate).alike(Likeness::exclusive_or).only(refuse));

}  // namespace
}  // namespace hockney::allgather_recursive_doubling
