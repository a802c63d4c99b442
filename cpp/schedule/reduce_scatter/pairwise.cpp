// reduce_scatter pairwise: in step i each rank sends its contribution to rank + i and adds up the one from
// rank − i; P − 1 rounds, P − 1 blocks per rank (Thakur, Rabenseifner and Gropp 2005, section 4.3).
#include "../pieces.hpp"

namespace hockney {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Pieces blocks = Pieces::equal(p.ranks, p.bytes);
    const Region own = builder.input(0, p.ranks * p.bytes);
    const Region result = builder.output(0, p.bytes);
    const Region buffers[2] = {builder.scratch(p.bytes), builder.scratch(p.bytes)};
    int used[2] = {Builder::none, Builder::none}, before = Builder::none;
    int valid = builder.copy(blocks.of(own, rank), result);
    for (int step = 1; step < p.ranks; ++step) {
        const int to = (rank + step) % p.ranks, from = (rank - step + p.ranks) % p.ranks;
        const int arrived = builder.receive(from, buffers[step % 2], {used[step % 2], before});
        before = builder.send(to, blocks.of(own, to), {before});
        valid = used[step % 2] = builder.reduce(buffers[step % 2], result, {arrived, valid});
    }
}

const Register registered(Algorithm("reduce_scatter", "pairwise", generate));

}  // namespace
}  // namespace hockney
