// When a rank's port takes in messages that are waited for in another order than they come.
#pragma once

#include <iterator>
#include <limits>
#include <map>

#include "trace.hpp"

namespace hockney {

// No message has come in yet: the first waits for nothing.
constexpr double before_all = -std::numeric_limits<double>::infinity();

// Of the messages that are there, the port takes first what is waited for first. So those that are waited for
// later have the time that the others left.
template <class Time>
class Intake {
  public:
    // When this message and all that were waited for before are in; `in`: when those before the first were.
    Time take(const Time& arrival, std::size_t drain, double drain_s, bool is_overtaken, const Time& in,
              Sums<Time>& sums, Room& room) {
        if (taken_.empty()) taken_.emplace(before_all, Taken{in, drain, in});
        if (taken_.size() > most) {  // what is long past takes no more
            const auto half = std::next(taken_.begin(), most / 2);
            taken_.begin()->second.until = std::prev(half)->second.until;
            taken_.erase(std::next(taken_.begin()), half);
            room.give(most / 2 - 1, taken_B);
        }
        const double from_s = arrival.s - drain_s;
        const auto next = is_overtaken ? taken_.upper_bound(from_s) : taken_.end();
        auto here = std::prev(next);
        const Time behind = sums.plus(here->second.until, drain);
        if (behind.s > arrival.s) {
            here->second.until = behind;
        } else {
            room.take(1, taken_B);
            here = taken_.emplace_hint(next, from_s, Taken{arrival, drain, arrival});
        }
        // What no longer fits before the next ones puts their end off.
        Time& until = here->second.until;
        for (auto joined = std::next(here); joined != taken_.end() && until.s > joined->first;) {
            until = sums.plus(sums.shift(until, joined->second.first, joined->second.until),
                              joined->second.drain);
            joined = taken_.erase(joined);
            room.give(1, taken_B);
            room.look(1);
        }
        return std::prev(taken_.end())->second.until;
    }

    void clear(Room& room) {
        room.give(taken_.empty() ? 0 : taken_.size() - 1, taken_B);
        taken_.clear();
    }
    template <class See>
    void each(const See& see) {
        for (auto& [from_s, taken] : taken_) {
            see(taken.first);
            see(taken.until);
        }
    }

  private:
    // Without a break. The first message of it has come in as it arrived.
    struct Taken {
        Time first;
        std::size_t drain;  // of the first
        Time until;
    };
    static constexpr std::size_t most = 8192;
    static constexpr std::size_t taken_B = sizeof(Taken) + 48;  // in the tree
    std::multimap<double, Taken> taken_;                        // by when it begins
};

}  // namespace hockney
