// When a rank's port takes in messages that are waited for in another order than they come.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

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
        room.reserve_next(taken_);
        if (taken_.empty()) taken_.push_back({before_all, in, drain, in});
        const double from_s = arrival.s - drain_s;
        auto next = taken_.end();
        if (is_overtaken)
            next = std::upper_bound(taken_.begin(), next, from_s,
                                    [](double s, const Taken& taken) { return s < taken.from_s; });
        auto here = std::prev(next);
        const Time behind = sums.plus(here->until, drain);
        if (behind.s > arrival.s)
            here->until = behind;
        else
            here = taken_.insert(next, {from_s, arrival, drain, arrival});
        // What no longer fits before the next ones puts their end off.
        auto joined = std::next(here);
        for (; joined != taken_.end() && here->until.s > joined->from_s; ++joined)
            here->until = sums.plus(sums.shift(here->until, joined->first, joined->until), joined->drain);
        taken_.erase(std::next(here), joined);
        return taken_.back().until;
    }

  private:
    // Without a break. The first message of it has come in as it arrived.
    struct Taken {
        double from_s;
        Time first;
        std::size_t drain;  // of the first
        Time until;
    };
    std::vector<Taken> taken_;
};

}  // namespace hockney
