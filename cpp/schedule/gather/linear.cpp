// gather linear: everybody sends to the root, which has posted all its receives (Open MPI coll/base
// gather_intra_basic_linear).
#include "../schedule.hpp"

namespace hockney::gather_linear {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    if (rank != p.root) {
        builder.send(p.root, builder.input(0, p.bytes));
        return;
    }
    for (int other = 0; other < p.ranks; ++other) {
        const Region block = builder.output(other * p.bytes, p.bytes);
        if (other == rank)
            builder.copy(builder.input(0, p.bytes), block);
        else
            builder.receive(other, block);
    }
}

const Register registered(Algorithm("gather", "linear", generate).grows(Growth::per_rank));

}  // namespace
}  // namespace hockney::gather_linear
