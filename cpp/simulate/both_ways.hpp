// When something is taken, which serves messages that come to it out of order, one at a time: what both
// directions of a rank share (its link where that is half duplex, its processor where that copies), and a
// network's link.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "trace.hpp"

namespace hockney {

// At most so many times without a break are kept of each: of those long past no message comes.
template <class Time, std::size_t most>
class BothWays {
  public:
    // When a message is through that comes to its rank then, behind and between what was there before.
    Time take(std::int32_t rank, const Time& ready, std::size_t cost, Sums<Time>& sums, Room& room) {
        const auto place = static_cast<std::size_t>(rank);
        room.reach(taken_, place);
        std::vector<Taken>& all = taken_[place];
        room.reserve_next(all);
        const auto first = std::partition_point(all.begin(), all.end(),
                                                [&](const Taken& one) { return one.until.s <= ready.s; });
        auto next = first;
        // What was there before puts its end off.
        Time until = sums.plus(ready, cost);
        for (; next != all.end() && next->from.s < until.s; ++next) {
            until = sums.shift(until, next->from.s > ready.s ? next->from : ready, next->until);
            room.look(1);
        }
        if (first == next) {
            all.insert(first, {ready, until});
        } else {
            *first = {first->from.s < ready.s ? first->from : ready, until};
            all.erase(std::next(first), next);
        }
        if (all.size() > most) all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most / 2));
        return until;
    }
    // The rank is through.
    void forget(std::int32_t rank) {
        if (static_cast<std::size_t>(rank) < taken_.size()) taken_[static_cast<std::size_t>(rank)] = {};
    }

    template <class See>
    void each(const See& see) {
        for (std::vector<Taken>& all : taken_)
            for (Taken& one : all) {
                see(one.from);
                see(one.until);
            }
    }

  private:
    // Without a break.
    struct Taken {
        Time from, until;
    };
    std::vector<std::vector<Taken>> taken_;  // by rank
};

}  // namespace hockney
