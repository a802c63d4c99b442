// When the port of a rank is taken whose messages meet their receivers, and what requests and answers wait
// for.
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
        auto next = ending_after(ready.s);
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
        const auto ended = ending_after(now_s);
        if (ended != taken_.begin()) room.look(static_cast<std::size_t>(taken_.end() - ended));
        taken_.erase(taken_.begin(), ended);
    }

    template <class See>
    void each(const See& see) {
        for (Taken& taken : taken_) see(taken.until);
    }

  private:
    // Without a break.
    struct Taken {
        double from_s;
        Time until;
    };
    auto ending_after(double time_s) {
        return std::partition_point(taken_.begin(), taken_.end(),
                                    [time_s](const Taken& one) { return one.until.s <= time_s; });
    }

    std::vector<Taken> taken_;
};

// What the ranks have given to streams that keep their order, one to each peer.
template <class Time>
class Streams {
  public:
    void resize(std::size_t ranks, Room& room) { room.resize(given_, ranks); }

    // `now_s`: hardly anything is asked or answered before it any more.
    void give(std::size_t rank, std::int32_t peer, double now_s, double since_s, const Time& until,
              Room& room) {
        std::vector<Given>& mine = given_[rank];
        const auto place_of = [&mine](double time_s) {
            return std::partition_point(mine.begin(), mine.end(),
                                        [time_s](const Given& each) { return each.until.s <= time_s; });
        };
        if (const auto out = place_of(now_s); 2 * (out - mine.begin()) > mine.end() - mine.begin())
            mine.erase(mine.begin(), out);
        room.reserve_next(mine);
        mine.insert(place_of(until.s), {peer, since_s, until});
    }

    // When what a rank gives to the stream to a peer then, and takes no time itself, is out: each message to
    // others keeps it for as long as `behind` at most.
    Time out(std::size_t rank, std::int32_t peer, const Time& ready, std::size_t behind, Sums<Time>& sums,
             Room& room) const {
        const Given *of_peer = nullptr, *of_others = nullptr;
        const std::vector<Given>& mine = given_[rank];
        int others = 0;
        std::size_t seen = 0;
        for (auto each = mine.rbegin(); each != mine.rend() && each->until.s > ready.s && seen < most;
             ++each) {
            ++seen;
            if (each->since_s > ready.s) continue;
            const Given*& latest = each->peer == peer ? of_peer : of_others;
            if (latest == nullptr) latest = &*each;
            others += each->peer == peer ? 0 : 1;
        }
        room.look(seen);
        Time until = of_peer != nullptr ? of_peer->until : ready;
        if (of_others == nullptr || of_others->until.s <= until.s) return until;
        const Time longest = sums.plus(ready, behind, others);
        const Time& kept = longest.s < of_others->until.s ? longest : of_others->until;
        return kept.s > until.s ? kept : until;
    }

    template <class See>
    void each(const See& see) {
        for (std::vector<Given>& mine : given_)
            for (Given& given : mine) see(given.until);
    }

  private:
    static constexpr std::size_t most = 64;  // messages that are looked at, so that work is bounded
    struct Given {
        std::int32_t peer;
        double since_s;
        Time until;
    };
    std::vector<std::vector<Given>> given_;  // by rank, in the order in which they are out
};

}  // namespace hockney
