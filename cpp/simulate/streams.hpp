// What ranks send by streams that keep their order, as TCP's do, one to each peer: all that goes to a peer
// follows what went there before, and who asks or answers for a message waits for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "room.hpp"
#include "trace.hpp"
#include "workload.hpp"

namespace hockney {

enum class Part : std::uint8_t { request, answer, message };

// Of a message, and when it comes to its stream. What began later than `seen_s` is not ahead of it.
template <class Time>
struct Sending {
    Event event;
    std::int32_t sender, receiver;
    Part part;
    Time ready;
    double seen_s;

    std::int32_t from() const { return part == Part::answer ? receiver : sender; }
    std::int32_t to() const { return part == Part::answer ? sender : receiver; }
};

template <class Time>
class Streams {
  public:
    void resize(std::size_t ranks, Room& room) { room.resize(passing_, ranks); }

    // Whether a message is ahead; it is kept until that has passed.
    bool keep(const Sending<Time>& sending, Room& room) {
        const auto stream = streams_.find(key(sending.from(), sending.to()));
        if (stream == streams_.end() || !stream->second.is_ahead(sending.seen_s)) return false;
        room.take(1, sizeof(Sending<Time>));
        stream->second.kept.push_back(sending);
        return true;
    }

    // How much of other streams is ahead in the adapter's queue, in seconds: at most `most_s` where one
    // stream passes, the less the more do, because each is paced by its part of the link (TCP small queues).
    double others_s(const Sending<Time>& sending, double most_s, Room& room) const {
        const std::vector<Passing>& all = passing_[static_cast<std::size_t>(sending.from())];
        const auto together = static_cast<double>(all.size());
        const std::size_t end = std::min(all.size(), most);
        double left_s = 0;
        std::size_t seen = 0;
        for (; seen < end && left_s < most_s / together; ++seen)
            if (const Passing& each = all[seen]; each.peer != sending.to() && each.since_s <= sending.seen_s)
                left_s += std::max(each.takes_s - (sending.seen_s - each.since_s) / together, 0.0);
        room.look(seen);
        return together > 0 ? std::min(left_s, most_s / together) : 0;
    }

    // A message passes the link from then on, which it would take so long alone.
    void begin(const Sending<Time>& sending, double takes_s, Room& room) {
        const auto [stream, is_new] = streams_.try_emplace(key(sending.sender, sending.receiver));
        if (is_new) room.take(1, stream_B);
        stream->second.passing.push_back({sending.event.slot, sending.ready.s});
        std::vector<Passing>& mine = passing_[static_cast<std::size_t>(sending.sender)];
        const auto slot = static_cast<std::size_t>(sending.event.slot);
        room.reach(place_, slot);
        place_[slot] = static_cast<std::uint32_t>(mine.size());
        room.reserve_next(mine);
        mine.push_back({sending.receiver, sending.event.slot, sending.ready.s, takes_s});
    }

    // It has passed by then: calls `hand_over` for what was kept behind it, in order, until another is ahead.
    template <class HandOver>
    void end(const Event& event, const Time& passed, Room& room, const HandOver& hand_over) {
        std::vector<Passing>& mine = passing_[static_cast<std::size_t>(event.rank)];
        const std::uint32_t place = place_[static_cast<std::size_t>(event.slot)];
        place_[static_cast<std::size_t>(mine.back().slot)] = place;
        mine[place] = mine.back();
        mine.pop_back();
        Stream& stream =
            streams_.at(key(event.rank, event.peer));  // stays where it is while others are added
        stream.passing.erase(std::find_if(stream.passing.begin(), stream.passing.end(),
                                          [&event](const auto& each) { return each.first == event.slot; }));
        while (!stream.kept.empty() && !stream.is_ahead(std::max(stream.kept.front().seen_s, passed.s))) {
            Sending<Time> next = std::move(stream.kept.front());
            if (passed.s > next.ready.s) next.ready = passed;
            next.seen_s = next.ready.s;
            stream.kept.pop_front();
            room.look(1);
            room.give(1, sizeof(Sending<Time>));
            hand_over(std::move(next));
        }
        if (!stream.passing.empty() || !stream.kept.empty()) return;
        room.give(1, stream_B);
        streams_.erase(key(event.rank, event.peer));
    }

    template <class See>
    void each(const See& see) {
        for (auto& stream : streams_)
            for (Sending<Time>& sending : stream.second.kept) see(sending.ready);
    }

  private:
    static constexpr std::size_t most = 64;  // messages that are looked at, so that work is bounded
    struct Passing {
        std::int32_t peer, slot;
        double since_s, takes_s;
    };
    struct Stream {
        std::vector<std::pair<std::int32_t, double>> passing;  // slots, and since when: hardly ever several
        std::deque<Sending<Time>> kept;

        bool is_ahead(double seen_s) const {
            return std::any_of(passing.begin(), passing.end(),
                               [seen_s](const auto& each) { return each.second <= seen_s; });
        }
    };
    // A deque takes a block when it is made.
    static constexpr std::size_t stream_B = sizeof(Stream) + 640;

    static std::uint64_t key(std::int32_t from, std::int32_t to) {
        return static_cast<std::uint64_t>(from) << 32U | static_cast<std::uint32_t>(to);
    }

    std::unordered_map<std::uint64_t, Stream> streams_;  // those in which something passes or is kept
    std::vector<std::vector<Passing>> passing_;          // by rank
    std::vector<std::uint32_t> place_;                   // by slot: where among those of its rank
};

}  // namespace hockney
