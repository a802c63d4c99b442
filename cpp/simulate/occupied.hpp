// When something is occupied that serves one message at a time, and to which they come out of order: what
// both directions of a rank share (its link where that is half duplex, its processor where that copies), and
// a link of the network.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "trace.hpp"

namespace hockney {

// At most so many stretches are kept of each place: to those long past no message comes.
template <class Time, std::size_t most>
class Occupied {
  public:
    // When a message is through that comes to this place then, behind and between what was there before.
    Time take(std::int32_t number, const Time& ready, std::size_t cost, Sums<Time>& sums, Room& room) {
        const auto place = static_cast<std::size_t>(number);
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
    // No message comes any more.
    void forget(std::int32_t number) {
        if (static_cast<std::size_t>(number) < taken_.size()) taken_[static_cast<std::size_t>(number)] = {};
    }
    // See Evaluator.
    template <class Pick>
    void regroup(const Pick& pick, std::size_t places, Room& room) {
        if (taken_.empty()) return;
        room.reach(taken_, places - 1);
        pick(taken_);
    }
    bool is_alike(std::size_t a, std::size_t b) const {
        if (taken_.empty()) return true;
        return std::equal(taken_[a].begin(), taken_[a].end(), taken_[b].begin(), taken_[b].end(),
                          [](const Taken& one, const Taken& other) {
                              return one.from.s == other.from.s && one.until.s == other.until.s;
                          });
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
    std::vector<std::vector<Taken>> taken_;  // by place
};

}  // namespace hockney
