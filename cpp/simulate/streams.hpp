// What ranks give to streams that keep their order, as TCP's do, one to each peer: all that goes to a peer
// follows what went there before, and who asks or answers for a message waits for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "room.hpp"
#include "trace.hpp"
#include "workload.hpp"

namespace hockney {

enum class Part : std::uint8_t { request, answer, message };

// Of a message, and when it comes to its stream. What began later than `seen_s` is not ahead of it.
template <class Time>
struct Given {
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
    bool keep(const Given<Time>& given, Room& room) {
        const std::vector<Passing>& all = passing_[static_cast<std::size_t>(given.from())];
        const auto end = all.size() < most ? all.rend() : all.rbegin() + most;
        const auto ahead = std::find_if(all.rbegin(), end, [&given](const Passing& each) {
            return each.peer == given.to() && each.since_s <= given.seen_s;
        });
        room.look(static_cast<std::size_t>(ahead - all.rbegin()));
        if (ahead == end) return false;
        const auto slot = static_cast<std::size_t>(ahead->slot);
        room.reach(kept_, slot);
        room.reserve_next(kept_[slot]);
        kept_[slot].push_back(given);
        return true;
    }

    // How much of other streams is ahead in the adapter's queue, in seconds: at most `most_s` where one
    // stream passes, the less the more do, because each is paced by its part of the link (TCP small queues).
    double others_s(const Given<Time>& given, double most_s) const {
        const std::vector<Passing>& all = passing_[static_cast<std::size_t>(given.from())];
        const auto end = all.size() < most ? all.rend() : all.rbegin() + most;
        const auto is_under_way = [&given](const Passing& each) { return each.since_s <= given.seen_s; };
        const auto together = static_cast<double>(std::count_if(all.rbegin(), end, is_under_way));
        double left_s = 0;
        for (auto each = all.rbegin(); each != end && left_s < most_s / together; ++each)
            if (is_under_way(*each) && each->peer != given.to())
                left_s += std::max(each->takes_s - (given.seen_s - each->since_s) / together, 0.0);
        return together > 0 ? std::min(left_s, most_s / together) : 0;
    }

    // A message passes the link from then on, which it would take so long alone.
    void begin(const Given<Time>& given, double takes_s, Room& room) {
        std::vector<Passing>& mine = passing_[static_cast<std::size_t>(given.sender)];
        room.reserve_next(mine);
        mine.push_back({given.receiver, given.event.slot, given.ready.s, takes_s});
    }

    // What was kept behind a message that has passed.
    std::vector<Given<Time>> end(std::int32_t sender, std::int32_t slot) {
        std::vector<Passing>& mine = passing_[static_cast<std::size_t>(sender)];
        const auto passed =
            std::find_if(mine.begin(), mine.end(), [slot](const Passing& each) { return each.slot == slot; });
        if (passed != mine.end()) mine.erase(passed);
        const auto place = static_cast<std::size_t>(slot);
        return place < kept_.size() ? std::exchange(kept_[place], {}) : std::vector<Given<Time>>{};
    }

    template <class See>
    void each(const See& see) {
        for (std::vector<Given<Time>>& kept : kept_)
            for (Given<Time>& given : kept) see(given.ready);
    }

  private:
    static constexpr std::ptrdiff_t most = 64;  // messages that are looked at, so that work is bounded
    struct Passing {
        std::int32_t peer, slot;
        double since_s, takes_s;
    };
    std::vector<std::vector<Passing>> passing_;   // by rank
    std::vector<std::vector<Given<Time>>> kept_;  // by the slot of what is ahead
};

}  // namespace hockney
