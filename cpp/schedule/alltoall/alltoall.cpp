#include "alltoall.hpp"

namespace hockney {

void exchange_with_all(const Problem& p, int rank, int under_way, Builder& builder) {
    builder.copy(builder.input(rank * p.bytes, p.bytes), builder.output(rank * p.bytes, p.bytes));
    std::vector<std::vector<int>> steps(static_cast<std::size_t>(p.ranks));
    for (int step = 1; step < p.ranks; ++step) {
        const int to = (rank + step) % p.ranks, from = (rank - step + p.ranks) % p.ranks;
        const std::vector<int> before =
            step > under_way ? steps[static_cast<std::size_t>(step - under_way)] : std::vector<int>{};
        const int arrived = builder.receive(from, builder.output(from * p.bytes, p.bytes), before);
        const int sent = builder.send(to, builder.input(to * p.bytes, p.bytes), before);
        steps[static_cast<std::size_t>(step)] = {arrived, sent};
    }
}

}  // namespace hockney
