// When the port of a rank is taken whose messages meet their receivers, and what requests and answers wait
// for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
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

    // `now_s`: nothing is asked or answered before it any more.
    void give(std::size_t rank, std::int32_t peer, double now_s, double since_s, const Time& until,
              Room& room) {
        std::vector<Given>& mine = given_[rank];
        if (mine.size() >= kept / 2) {
            const auto is_out = [now_s](const Given& each) { return each.until.s <= now_s; };
            mine.erase(std::remove_if(mine.begin(), mine.end(), is_out), mine.end());
        }
        // The latest are out last.
        if (mine.size() == kept) mine.erase(mine.begin(), mine.begin() + kept / 2);
        room.reserve_next(mine);
        mine.push_back({peer, since_s, until});
    }

    // When what a rank gives to the stream to a peer then, and takes no time itself, is out: each other
    // stream keeps it for as long as `behind` at most.
    Time out(std::size_t rank, std::int32_t peer, const Time& ready, std::size_t behind, Sums<Time>& sums,
             Room& room) {
        Time of_peer = ready, of_others = ready;
        others_.clear();
        for (const Given& each : given_[rank]) {
            if (each.since_s > ready.s || each.until.s <= ready.s) continue;
            Time& latest = each.peer == peer ? of_peer : of_others;
            if (each.until.s > latest.s) latest = each.until;
            if (each.peer != peer) others_.insert(each.peer);
        }
        room.look(given_[rank].size());
        if (of_others.s <= of_peer.s) return of_peer;
        const Time longest = sums.plus(ready, behind, static_cast<double>(others_.size()));
        const Time& latest = longest.s < of_others.s ? longest : of_others;
        return latest.s > of_peer.s ? latest : of_peer;
    }

    template <class See>
    void each(const See& see) {
        for (std::vector<Given>& mine : given_)
            for (Given& given : mine) see(given.until);
    }

  private:
    static constexpr std::size_t kept = 64;
    struct Given {
        std::int32_t peer;
        double since_s;
        Time until;
    };
    std::vector<std::vector<Given>> given_;  // by rank
    std::set<std::int32_t> others_;
};

}  // namespace hockney
