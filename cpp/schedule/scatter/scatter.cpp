#include "scatter.hpp"

namespace hockney {

void scatter_from_root(const Problem& p, int rank, bool one_by_one, Builder& builder) {
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
        if (one_by_one) before = sent;
    }
}

}  // namespace hockney
