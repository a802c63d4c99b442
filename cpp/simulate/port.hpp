// When the port of a rank is taken whose messages meet their receivers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "trace.hpp"

namespace hockney {

template <class Time>
class Port {
  public:
    // When the head of a message leaves. One that is heard of later may leave before another, where it fits,
    // rounding aside.
    Time leave(const Time& ready, std::size_t gap, double gap_s, Sums<Time>& sums, Room& room, Time& out) {
        room.reserve_next(taken_);
        auto next = ending_after(taken_, ready.s);
        Time head = ready;
        const auto is_after = [](double a_s, double b_s) { return a_s > b_s * (1 + 1e-12); };
        for (; next != taken_.end() && is_after(head.s + gap_s, next->from_s); ++next) {
            if (next->until.s > head.s) head = next->until;
            room.look(1);
        }
        out = sums.plus(head, gap);
        const bool is_close = next != taken_.begin() && !is_after(head.s, std::prev(next)->until.s);
        room.look(is_close ? 0 : static_cast<std::size_t>(taken_.end() - next));
        is_close ? (void)(std::prev(next)->until = out) : (void)taken_.insert(next, {head.s, out});
        return head;
    }

    // Nothing leaves before now any more.
    void forget(double now_s, Room& room) {
        const auto ended = ending_after(taken_, now_s);
        if (ended != taken_.begin()) room.look(static_cast<std::size_t>(taken_.end() - ended));
        taken_.erase(taken_.begin(), ended);
    }

    template <class See>
    void each(const See& see) {
        for (Taken& taken : taken_) see(taken.until);
    }
    // From now on.
    bool is_alike(const Port& other, double now_s) const {
        const auto mine = ending_after(taken_, now_s), theirs = ending_after(other.taken_, now_s);
        return std::equal(mine, taken_.end(), theirs, other.taken_.end(), [](const Taken& a, const Taken& b) {
            return a.from_s == b.from_s && a.until.s == b.until.s;
        });
    }

  private:
    // Without a break.
    struct Taken {
        double from_s;
        Time until;
    };
    template <class All>
    static auto ending_after(All& taken, double time_s) {
        return std::partition_point(taken.begin(), taken.end(),
                                    [time_s](const Taken& one) { return one.until.s <= time_s; });
    }

    std::vector<Taken> taken_;
};

}  // namespace hockney
