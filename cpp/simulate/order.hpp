// Takes the steps of all ranks in an order in which each finds what it depends on: every rank goes on until
// it needs a message that has not been sent yet. Ranks are generated when their turn comes and forgotten when
// they are through, so that trees over millions of ranks never stand in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <vector>

#include "../schedule/written.hpp"
#include "messages.hpp"
#include "room.hpp"
#include "workload.hpp"

namespace hockney {

// Sink: take(const Event*, count), one event or receives that are waited for together. `in_time`: messages
// over shared links, and what goes by streams that keep their order, come in the order of their times, which
// the sink knows: now_s(rank), is_shared(event) of a send, waits_in_stream(event) of a post.
template <class Sink, bool in_time = false>
class Order {
  public:
    // From a phase to before another.
    Order(const Workload& workload, Sink& sink, Room& room, int first_phase, int end_phase)
        : workload_(workload),
          sink_(sink),
          room_(&room),
          first_phase_(first_phase),
          end_phase_(end_phase),
          messages_(static_cast<std::size_t>(workload.ranks), in_time ? 2 * sizeof(Entering) : 0, room_) {
        room_.resize(running_, static_cast<std::size_t>(workload_.ranks), none);
    }

    void run() {
        // Receives that are posted from the start: whose messages meet must not depend on which rank has its
        // turn first, because a rank's messages leave through one port.
        for (int i = 0; workload_.rendezvous && i < workload_.ranks; ++i) post_at_once(nth(i));
        for (int i = 0; i < workload_.ranks; ++i) {
            const int rank = nth(i);
            if (!workload_.rendezvous) begin(rank);
            ready_.push_back(rank);
            settle();
        }
        if constexpr (in_time)
            while (one_later()) settle();
        if (finished_ == workload_.ranks) return;
        if (!workload_.stop) throw WrittenWrong(endless);
        for (int rank = 0; rank < workload_.ranks; ++rank) {
            if (running_[static_cast<std::size_t>(rank)] < 0) continue;
            const Running& mine = at(rank);
            workload_.stop(rank, mine.acts[mine.next].step);
            finish(rank, mine.phase);
        }
    }

  private:
    static constexpr std::int32_t none = -1;

    // The next thing that happens at something shared: a message passes its links, comes to them, or is sent.
    bool one_later() {
        const double entry_s = entering_.empty() ? never : entering_.top().first;
        const double leaving_s = leaving_.empty() ? never : leaving_.top().first;
        const auto [arrival_s, slot] = sink_.next_arrival(std::min(entry_s, leaving_s));
        if (slot >= 0 && arrival_s <= std::min(entry_s, leaving_s)) {
            arrive(slot);
        } else if (!entering_.empty() && entry_s <= leaving_s) {
            Event event = entering_.top().second;
            entering_.pop();
            sink_.take(&event, 1);
            if (static_cast<std::size_t>(event.slot) >= under_way_.size())
                under_way_.resize(static_cast<std::size_t>(event.slot) + 1);
            event.op = Op::arrive;
            under_way_[static_cast<std::size_t>(event.slot)] = event;
        } else if (!leaving_.empty()) {
            const int rank = leaving_.top().second;
            leaving_.pop();
            at(rank).may_leave = true;
            ready_.push_back(rank);
        } else {
            return false;
        }
        return true;
    }

    void arrive(std::int32_t slot) {
        const Event event = under_way_[static_cast<std::size_t>(slot)];
        take(event);
        messages_[slot].is_sent = true;
        const MessageKey message = messages_[slot].key;
        wake(event.rank, message);
        wake(event.peer, message);
    }

    void take(const Event& event) {
        sink_.take(&event, 1);
        if constexpr (in_time) {
            for (const auto& departure : sink_.departures()) entering_.push(departure);
            for (const Event& answered : sink_.answered()) wake(answered.rank, messages_[answered.slot].key);
        }
    }
    bool flows(const Event& event) const {
        if constexpr (in_time) return sink_.flows(event);
        return false;
    }
    bool is_out(std::int32_t slot, const Event& event) const {
        if constexpr (in_time)
            if (sink_.is_held_by_stream(event)) return sink_.is_answered(slot);
        return messages_[slot].is_posted && messages_[slot].is_sent;
    }
    bool waits(const Event& event) const {
        if constexpr (in_time) return sink_.is_held(event);
        return !workload_.buffers || meets(event);
    }
    bool meets(const Event& event) const {
        const std::size_t localities = workload_.domains.localities();
        const std::size_t place = event.size * localities + event.locality;
        if (place >= meets_.size()) meets_.resize(place + 256 * localities, unknown);
        std::int8_t& known = meets_[place];
        if (known == unknown)
            known = workload_.sizes->terms(event.size).is_synchronous ||
                            workload_.meets(workload_.sizes->all()[event.size], event.locality)
                        ? 1
                        : 0;
        return known == 1;
    }

    struct Running {
        std::vector<Act> acts;
        std::size_t next = 0;
        int phase = 0;
        std::size_t found = 0;  // receives of the group whose messages have been sent
        MessageKey awaited;
        bool is_waiting = false, may_leave = false;
    };

    Running& at(int rank) {
        return pool_[static_cast<std::size_t>(running_[static_cast<std::size_t>(rank)])];
    }

    void begin(int rank) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::int32_t>(pool_.size()));
            room_.reserve_next(pool_);
            pool_.emplace_back();
        }
        running_[static_cast<std::size_t>(rank)] = free_.back();
        free_.pop_back();
        at(rank).phase = first_phase_;
        load(rank);
    }

    int nth(int i) const {
        const Course& course = workload_.course(first_phase_);
        const int rank = (course.is_inward ? workload_.ranks - 1 - i : i) + course.first;
        return rank < workload_.ranks ? rank : rank - workload_.ranks;
    }

    void post_at_once(int rank) {
        begin(rank);
        Running& mine = at(rank);
        const auto is_local = [](Op op) {
            return op == Op::post || op == Op::copy || op == Op::reduce || op == Op::work;
        };
        for (; mine.next < mine.acts.size() && is_local(mine.acts[mine.next].op); act(rank, mine))
            mine.may_leave = true;
        mine.may_leave = false;
    }

    void load(int rank) {
        Running& mine = at(rank);
        const std::size_t before = mine.acts.capacity();
        workload_.program(mine.phase, rank, mine.acts, nullptr);
        room_.take(mine.acts.capacity() - before, sizeof(Act));
        mine.next = mine.found = 0;
    }

    void finish(int rank, int phase) {
        const Event end{rank,  none,  none, static_cast<std::uint32_t>(phase), 0, 0, Op::finish, false, true,
                        false, false, false};
        sink_.take(&end, 1);
    }

    void settle() {
        while (!ready_.empty()) {
            const int rank = ready_.back();
            ready_.pop_back();
            advance(rank);
        }
    }

    void advance(int rank) {
        for (;;) {
            Running& mine = at(rank);
            if (mine.next == mine.acts.size()) {
                if (workload_.course(mine.phase).is_streamed && !mine.acts.empty()) {
                    load(rank);
                    continue;
                }
                finish(rank, mine.phase);
                if (++mine.phase < end_phase_) {
                    load(rank);
                    continue;
                }
                free_.push_back(running_[static_cast<std::size_t>(rank)]);
                running_[static_cast<std::size_t>(rank)] = none;
                ++finished_;
                return;
            }
            if (!act(rank, mine)) return;
        }
    }

    // False where the rank must wait.
    bool act(int rank, Running& mine) {
        const Act& act = mine.acts[mine.next];
        room_.look(1);
        switch (act.op) {
            case Op::send:
                return send(rank, mine, act);
            case Op::receive:
                return receive(rank, mine);
            case Op::sent:
                return sent(rank, mine, act);
            case Op::post:
                return post(rank, mine, act);
            default:
                break;
        }
        Event event = event_of(rank, act, none);
        if (act.op == Op::work) event.slot = act.tag;
        sink_.take(&event, 1);
        ++mine.next;
        return true;
    }

    Event event_of(int rank, const Act& act, std::int32_t slot) const {
        Event event{rank,   act.peer, slot,        act.step,         act.size,          0,
                    act.op, false,    act.is_last, act.is_overtaken, act.is_disordered, false};
        if (act.peer < 0 || act.op == Op::work) return event;
        event.locality = static_cast<std::uint8_t>(workload_.domains.locality(rank, act.peer));
        return event;
    }

    static std::int32_t tag_of(const Running& mine, const Act& act) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(mine.phase) * most_tags +
                                         static_cast<std::uint32_t>(act.tag));
    }

    static MessageKey key(int sender, int receiver, const Running& mine, const Act& act) {
        return {receiver, sender, tag_of(mine, act)};
    }

    bool send(int rank, Running& mine, const Act& act) {
        Event event = event_of(rank, act, none);
        if constexpr (in_time) {
            if (!mine.may_leave && sink_.is_shared(event)) return leave_later(rank);
        }
        mine.may_leave = false;
        const MessageKey message = key(rank, act.peer, mine, act);
        bool is_new = false;
        event.slot = messages_.get(message, workload_.rendezvous ? 2 : 1, is_new);
        event.is_first = is_new;
        messages_[event.slot].size = act.size;
        messages_[event.slot].is_sent = !flows(event);
        take(event);
        ++mine.next;
        wake(act.peer, message);
        return true;
    }

    bool post(int rank, Running& mine, const Act& act) {
        const MessageKey message = key(act.peer, rank, mine, act);
        Event event = event_of(rank, act, none);
        if constexpr (in_time) {
            if (!mine.may_leave && sink_.waits_in_stream(event)) return leave_later(rank);
        }
        mine.may_leave = false;
        bool is_new = false;
        event.slot = messages_.get(message, 2, is_new);
        event.is_first = is_new;
        if (!is_new) event.size = messages_[event.slot].size;
        messages_[event.slot].is_posted = true;
        take(event);
        ++mine.next;
        wake(act.peer, message);
        return true;
    }

    // When its time has come.
    bool leave_later(int rank) {
        leaving_.push({sink_.now_s(rank), rank});
        return false;
    }

    // All receives that are waited for together, once all have been sent.
    bool receive(int rank, Running& mine) {
        for (;; ++mine.found) {
            room_.look(1);
            Act& act = mine.acts[mine.next + mine.found];
            const MessageKey message = key(act.peer, rank, mine, act);
            const std::int32_t slot = messages_.find(message);
            if (slot == none || !messages_[slot].is_sent) return wait_for(mine, message);
            act.tag = slot;
            if (act.is_last) break;
        }
        if (mine.found == 0) {
            const Act& act = mine.acts[mine.next++];
            const Event event = taken(rank, act);
            sink_.take(&event, 1);
            return true;
        }
        group_.clear();
        for (std::size_t i = 0; i <= mine.found; ++i) {
            const Act& act = mine.acts[mine.next + i];
            group_.push_back(taken(rank, act));
        }
        mine.next += group_.size();
        mine.found = 0;
        sink_.take(group_.data(), group_.size());
        return true;
    }

    // A receive whose slot is known; a message is as long as its sender says.
    Event taken(int rank, const Act& act) {
        Event event = event_of(rank, act, act.tag);
        event.size = messages_[act.tag].size;
        messages_.use(act.tag);
        return event;
    }

    bool sent(int rank, Running& mine, const Act& act) {
        const MessageKey message = key(rank, act.peer, mine, act);
        const std::int32_t slot = messages_.find(message);
        const Event event = event_of(rank, act, slot);
        if (waits(event) && !is_out(slot, event)) return wait_for(mine, message);
        messages_.use(slot);
        sink_.take(&event, 1);
        ++mine.next;
        return true;
    }

    bool wait_for(Running& mine, const MessageKey& message) {
        mine.awaited = message;
        mine.is_waiting = true;
        return false;
    }

    void wake(int rank, const MessageKey& message) {
        if (running_[static_cast<std::size_t>(rank)] < 0) return;
        Running& theirs = at(rank);
        if (!theirs.is_waiting || !(theirs.awaited == message)) return;
        theirs.is_waiting = false;
        ready_.push_back(rank);
    }

    const Workload& workload_;
    Sink& sink_;
    Room room_;
    int first_phase_, end_phase_, finished_ = 0;
    std::vector<std::int32_t> running_;  // by rank: where in the pool
    static constexpr std::int8_t unknown = -1;
    mutable std::vector<std::int8_t> meets_;  // by size and locality
    static constexpr double never = std::numeric_limits<double>::infinity();
    using Leaving = std::pair<double, int>;
    using Entering = std::pair<double, Event>;
    Messages messages_;
    std::vector<Running> pool_;
    std::vector<std::int32_t> free_;
    std::vector<int> ready_;
    std::vector<Event> group_;
    std::priority_queue<Leaving, std::vector<Leaving>, std::greater<>> leaving_;
    struct Later {
        bool operator()(const Entering& a, const Entering& b) const { return a.first > b.first; }
    };
    std::priority_queue<Entering, std::vector<Entering>, Later> entering_;
    std::vector<Event> under_way_;  // by slot
};

}  // namespace hockney
