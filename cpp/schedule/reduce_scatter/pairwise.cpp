// reduce_scatter pairwise: in step i each rank sends its contribution to rank + i and receives the one from
// rank − i, which is added while the next step is under way; P − 1 rounds, P − 1 blocks per rank (Thakur,
// Rabenseifner and Gropp 2005).
#include "../pieces.hpp"

namespace hockney::reduce_scatter_pairwise {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Pieces blocks = Pieces::equal(p.ranks, p.bytes);
    const Region own = builder.input(0, p.ranks * p.bytes);
    const Region result = builder.output(0, p.bytes);
    const Region buffers[2] = {builder.scratch(p.bytes), builder.scratch(p.bytes)};
    int valid = builder.copy(blocks.of(own, rank), result);
    int arrived = Builder::none, sent = Builder::none;  // in the step before
    const auto add = [&](int step) { valid = builder.reduce(buffers[step % 2], result, {arrived, valid}); };
    for (int step = 1; step < p.ranks; ++step) {
        const int to = (rank + step) % p.ranks, from = (rank - step + p.ranks) % p.ranks;
        const int arriving = builder.receive(from, buffers[step % 2], {arrived, sent, valid});
        const int sending = builder.send(to, blocks.of(own, to), {arrived, sent});
        if (step > 1) add(step - 1);
        arrived = arriving;
        sent = sending;
    }
    if (p.ranks > 1) add(p.ranks - 1);
}

const Register registered(
    Algorithm("reduce_scatter", "pairwise", generate).alike(Likeness::shift).grows(Growth::per_rank));

}  // namespace
}  // namespace hockney::reduce_scatter_pairwise
