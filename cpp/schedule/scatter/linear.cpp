// Scatters in which the root sends to everybody.
#include "../schedule.hpp"

namespace hockney::scatter_linear {
namespace {

// The root sends every rank its block; `in_turn`: each message after the one before is complete.
void scatter_from_root(const Problem& p, int rank, bool in_turn, Builder& builder) {
    if (rank != p.root) {
        builder.receive(p.root, builder.output(0, p.bytes));
        return;
    }
    int before = Builder::none;
    for (int other = 0; other < p.ranks; ++other) {
        const Region block = builder.input(other * p.bytes, p.bytes);
        if (other == rank) {
            builder.copy(block, builder.output(0, p.bytes));
            continue;
        }
        const int sent = builder.send(other, block, {before});
        if (in_turn) before = sent;
    }
}

void one_by_one(const Problem& p, int rank, Builder& builder) { scatter_from_root(p, rank, true, builder); }
void all_at_once(const Problem& p, int rank, Builder& builder) { scatter_from_root(p, rank, false, builder); }

// Open MPI coll/base scatter_intra_basic_linear.
const Register linear(Algorithm("scatter", "linear", one_by_one).grows(Growth::per_rank));

// Open MPI coll/base scatter_intra_linear_nb.
const Register nonblocking(Algorithm("scatter", "linear_nonblocking", all_at_once).grows(Growth::per_rank));

}  // namespace
}  // namespace hockney::scatter_linear
