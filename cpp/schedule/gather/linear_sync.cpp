// gather linear_sync: the root asks one rank after another with an empty message; a rank then sends its first
// segment, and the rest while the root asks the next one: no flood of unexpected messages (Open MPI coll/base
// gather_intra_linear_sync).
#include "../pieces.hpp"

namespace hockney::gather_linear_sync {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Bytes first_B = Pieces::segments(p.bytes, p.segment_B, p.element_B).length_B(0);
    if (rank != p.root) {
        const int asked = builder.await(p.root);
        const int started = builder.send(p.root, builder.input(0, first_B), {asked});
        builder.send(p.root, builder.input(first_B, p.bytes - first_B), {started});
        return;
    }
    builder.copy(builder.input(0, p.bytes), builder.output(rank * p.bytes, p.bytes));
    int before = Builder::none;
    for (int other = 0; other < p.ranks; ++other) {
        if (other == rank) continue;
        const Region block = builder.output(other * p.bytes, p.bytes);
        const int started = builder.receive(other, part(block, 0, first_B), {before});
        const int asked = builder.signal(other, {before});
        builder.receive(other, part(block, first_B, p.bytes - first_B), {before});
        before = started == Builder::none ? asked : started;
    }
}

const Register registered(Algorithm("gather", "linear_sync", generate).segmented());

}  // namespace
}  // namespace hockney::gather_linear_sync
