// Polls since the latest event of a trace. A loop that waits polls until what it polls for is there: what
// lies between is waiting. Where a program went on without it, it did other work between its polls, and does
// so again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

namespace hockney::trace {

class Polls {
  public:
    struct Computed {
        std::int64_t wall_ns = 0, cpu_ns = 0;
    };

    // Whether what was computed before a poll there is no part of a loop that waits.
    bool is_work(const void* site, std::int64_t wall_ns) const {
        return wall_ns >= most_ns || working_.count(site) != 0;
    }
    void add(const void* site, Computed before) {
        between_.wall_ns += before.wall_ns;
        between_.cpu_ns += before.cpu_ns;
        if (!polled_at(site)) sites_.push_back(site);
    }
    // An event at `site` follows: what was work before it.
    Computed end(const void* site) {
        const Computed between = std::exchange(between_, {});
        const bool is_waiting = sites_.empty() || polled_at(site);
        if (!is_waiting) working_.insert(sites_.begin(), sites_.end());
        sites_.clear();
        return is_waiting ? Computed{} : between;
    }

  private:
    // A loop that waits takes less between two polls.
    static constexpr std::int64_t most_ns = 2000;

    bool polled_at(const void* site) const {
        return std::find(sites_.begin(), sites_.end(), site) != sites_.end();
    }

    std::vector<const void*> sites_;
    std::unordered_set<const void*> working_;
    Computed between_;
};

}  // namespace hockney::trace
