// allgather linear: everybody sends to rank 0, which sends the whole to everybody (Open MPI coll/base
// allgather_intra_basic_linear).
#include "../schedule.hpp"

namespace hockney::allgather_linear {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Region all = builder.output(0, p.ranks * p.bytes);
    const Region own = builder.input(0, p.bytes);
    if (rank != 0) {
        const int sent = builder.send(0, own);
        builder.receive(0, all, {sent});
        return;
    }
    Steps have{builder.copy(own, part(all, 0, p.bytes))};
    for (int other = 1; other < p.ranks; ++other)
        have.push_back(builder.receive(other, part(all, other * p.bytes, p.bytes)));
    for (int other = 1; other < p.ranks; ++other) builder.send(other, all, have);
}

const Register registered(Algorithm("allgather", "linear", generate));

}  // namespace
}  // namespace hockney::allgather_linear
