// Where times come from: each is an earlier one plus a cost, so that a critical path can be followed
// backwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hockney {

// A time, and where it comes from: the critical path is followed backwards from `node`.
struct Plain {
    double s = 0;
};
struct Traced {
    double s = 0;
    std::int32_t node = -1;
};

// Every traced time is an earlier one plus a multiple of a cost, or of another time: `cost` is ~node there.
struct TraceNode {
    std::int32_t before, cost;
    double times;
};

// Adds what lies on the way back from each seed; a node's own weight is passed on to the one before it.
inline void trace_back(const std::vector<TraceNode>& trace, std::vector<double>& weight,
                       std::vector<double>& counts) {
    for (std::size_t i = trace.size(); i-- > 0;) {
        if (weight[i] == 0) continue;
        const std::int32_t cost = trace[i].cost;
        (cost < 0 ? weight[static_cast<std::size_t>(~cost)] : counts[static_cast<std::size_t>(cost)]) +=
            weight[i] * trace[i].times;
        if (trace[i].before >= 0) weight[static_cast<std::size_t>(trace[i].before)] += weight[i];
    }
}

}  // namespace hockney
