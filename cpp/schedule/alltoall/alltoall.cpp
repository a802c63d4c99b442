#include "alltoall.hpp"

#include <algorithm>

namespace hockney {

void exchange_with_all(const Problem& p, int rank, int under_way, Builder& builder) {
    builder.copy(builder.input(rank * p.bytes, p.bytes), builder.output(rank * p.bytes, p.bytes));
    std::vector<int> arrived(static_cast<std::size_t>(p.ranks)), sent(static_cast<std::size_t>(p.ranks));
    const auto receive = [&](int step, const Steps& after) {
        const int from = (rank - step + p.ranks) % p.ranks;
        arrived[static_cast<std::size_t>(step)] =
            builder.receive(from, builder.output(from * p.bytes, p.bytes), after);
    };
    const auto send = [&](int step, const Steps& after) {
        const int to = (rank + step) % p.ranks;
        sent[static_cast<std::size_t>(step)] = builder.send(to, builder.input(to * p.bytes, p.bytes), after);
    };
    // What can be received at once is posted before anything is sent.
    const int at_once = std::min(under_way, p.ranks - 1);
    for (int step = 1; step <= at_once; ++step) receive(step, {});
    for (int step = 1; step <= at_once; ++step) send(step, {});
    for (int step = at_once + 1; step < p.ranks; ++step) {
        const auto before = static_cast<std::size_t>(step - under_way);
        const Steps after{arrived[before], sent[before]};
        receive(step, after);
        send(step, after);
    }
}

}  // namespace hockney
