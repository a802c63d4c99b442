// Takes the steps of ranks that are alike, one step of all ranks after another. What one of them receives,
// all have sent before: in a schedule that does not block, a step comes after the one it is matched with. So
// one rank's steps tell what all do, messages are found by a table of one rank's, and memory is passed from
// end to end: for the messages that are under way, and one rank's steps. Only over links that nobody shares,
// and for messages that meet their receivers where these leave in one order only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "classes.hpp"
#include "order.hpp"
#include "uneven.hpp"

namespace hockney {

// Of the messages that such ranks send.
inline void add_sizes(const std::vector<Act>& acts, const std::optional<Uneven>& uneven, const Sizes& sizes,
                      std::set<Bytes>& sizes_B) {
    for (const Act& act : acts)
        if (act.op == Op::send)
            uneven ? uneven->add_to(sizes_B, act.size) : (void)sizes_B.insert(sizes.all()[act.size]);
}

template <class Sink>
class Rounds {
  public:
    Rounds(const Workload& workload, Sink& sink, int phase, Room& room)
        : workload_(workload), phase_(phase), sink_(sink), room_(room) {
        if (workload.course(phase).uneven != nullptr)
            uneven_.emplace(*workload.course(phase).uneven, is_shifted());
        workload.program(phase, 0, acts_, uneven_ ? &*uneven_ : nullptr);
        if (!uneven_) return;
        std::map<Key, std::uint32_t> part;  // of what is sent; where it is put is the receiver's business
        for (const Act& act : acts_)
            if (act.op == Op::send) part[key(act)] = act.size;
        for (Act& act : acts_)
            if (act.op == Op::receive || act.op == Op::post) act.size = part[key(act)] & most_sizes;
    }

    // Whether messages leave each rank in the same order whichever rank has its turn first: they do unless
    // one that waits for its receiver can be overtaken.
    bool is_ordered() const {
        std::set<Bytes> sizes_B;
        add_sizes(acts_, uneven_, *workload_.sizes, sizes_B);
        bool meets = false, differs = false;
        for (std::size_t locality = 0; locality < workload_.domains.localities(); ++locality) {
            const auto count = std::count_if(sizes_B.begin(), sizes_B.end(),
                                             [&](Bytes size_B) { return workload_.meets(size_B, locality); });
            meets = meets || count > 0;
            differs = differs || (count > 0 && count < static_cast<std::ptrdiff_t>(sizes_B.size()));
        }
        if (!meets) return true;
        std::set<Key> posted, waiting;
        bool has_begun = false;
        for (const Act& act : acts_) {
            if (act.op == Op::sent) waiting.erase(key(act));
            if (act.op == Op::post && phase_ == 0 && !has_begun) posted.insert(key(act));
            has_begun = has_begun || act.op == Op::send || act.op == Op::receive;
            if (act.op != Op::send) continue;
            const bool is_posted = posted.count(key(act)) > 0;
            if (!waiting.empty() && (differs || is_posted || waiting.begin()->first != act.peer))
                return false;
            if (!is_posted) waiting.insert(key(act));
        }
        return true;
    }

    void run() {
        for (std::size_t i = 0; i < acts_.size();) i = step(i);
        finish();
    }

    // By classes of ranks, of which the sink has one each. False where those are too many, or the order
    // matters.
    bool run(Classes& classes) {
        if (uneven_ && workload_.rendezvous && !is_ordered()) return false;
        const int most = std::clamp(workload_.ranks / 16, 64, 4096);
        classes_ = &classes;
        for (std::size_t i = 0, end = 0; i < acts_.size(); i = step(i)) {
            if (!uneven_ || i < end) continue;
            regroup(i, end = settled(i));
            if (classes.count() > most) return false;
        }
        finish();
        return true;
    }
    // Of all ranks.
    std::int64_t sends() const { return sends_; }

  private:
    static constexpr std::int32_t none = -1;
    // Of a message: by the distance that it goes and its tag.
    using Key = std::pair<std::int32_t, std::int32_t>;
    struct Message {
        std::int32_t block = none;  // its first slot
        int uses = 0;               // that are still to come: it is received, and its sender waited for it
        bool is_sent = false;
    };
    using UnderWay = std::map<Key, Message>;
    // Of the slots of one message of every rank, by sender: not a multiple of a large power of two, so that
    // those of one rank are not all in the same few places of the caches.
    static constexpr std::int32_t beside = 8;

    // Does what all do next; returns where the next act is.
    std::size_t step(std::size_t i) {
        const Act& act = acts_[i];
        if (act.op == Op::receive || act.op == Op::sent) return await(i);
        all(act, act.op == Op::send || act.op == Op::post ? open(act) : none);
        return i + 1;
    }
    void finish() { all(Act(none, 0, static_cast<std::uint32_t>(phase_), 0, Op::finish), none); }

    // Until when some messages have been sent, and none is under way.
    std::size_t settled(std::size_t i) const {
        std::map<Key, int> uses;
        for (bool any = false; i < acts_.size() && !(any && uses.empty()); ++i) {
            const Act& act = acts_[i];
            const bool opens = act.op == Op::send || act.op == Op::post;
            any = any || opens;
            if (opens) uses.try_emplace(key(act), workload_.rendezvous ? 2 : 1);
            if ((act.op == Op::receive || act.op == Op::sent) && --uses[key(act)] == 0) uses.erase(key(act));
        }
        return i;
    }
    // Before these acts.
    void regroup(std::size_t first, std::size_t end) {
        std::set<int> distances;
        std::set<std::uint32_t> parts;
        for (std::size_t i = first; i < end; ++i) {
            if (acts_[i].peer != none) distances.insert(acts_[i].peer);
            if (!is_receivers(acts_[i].op)) parts.insert(acts_[i].size);
        }
        const auto is_alike = [&](std::int32_t a, std::int32_t b) { return sink_.is_alike(a, b); };
        const auto is_uniform = [&](int place, int ranks) {
            return std::all_of(parts.begin(), parts.end(),
                               [&](std::uint32_t part) { return uneven_->is_uniform(part, place, ranks); });
        };
        sink_.regroup(classes_->regroup(is_alike, is_uniform, distances));
        room_.look(static_cast<std::size_t>(classes_->count()) * (1 + distances.size() + parts.size()));
        blocks_ = 0;
        free_.clear();
    }

    // That are evaluated.
    std::int32_t ranks() const { return classes_ ? classes_->count() : workload_.ranks; }
    std::int32_t place(std::int32_t rank) const {
        return classes_ ? classes_->place(rank) : uneven_->place(rank);
    }

    bool is_shifted() const { return workload_.course(phase_).alike == Likeness::shift; }
    // `of_first`: a peer of rank 0.
    std::int32_t peer_of(std::int32_t rank, std::int32_t of_first) const {
        if (classes_) return classes_->peer(rank, of_first);
        if (!is_shifted()) return rank ^ of_first;
        const std::int32_t to_last = workload_.ranks - of_first;
        return rank < to_last ? rank + of_first : rank - to_last;
    }

    static bool is_receivers(Op op) { return op == Op::receive || op == Op::post; }
    static bool is_senders(Op op) { return op == Op::send || op == Op::sent; }
    Key key(const Act& act) const { return {is_senders(act.op) ? act.peer : back(act.peer), act.tag}; }

    std::int32_t open(const Act& act) {
        Message& message = under_way_[key(act)];
        is_first_ = message.uses == 0;
        if (is_first_) message = {new_block(), workload_.rendezvous ? 2 : 1, false};
        message.is_sent = message.is_sent || act.op == Op::send;
        return message.block;
    }
    typename UnderWay::iterator find(const Act& act) {
        const auto message = under_way_.find(key(act));
        if (message == under_way_.end() || !message->second.is_sent)
            throw std::invalid_argument("the schedule blocks");
        return message;
    }
    void use(typename UnderWay::iterator message) {
        if (--message->second.uses > 0) return;
        free_.push_back(message->second.block);
        under_way_.erase(message);
    }

    // From that peer to rank 0.
    std::int32_t back(std::int32_t of_first) const {
        return is_shifted() ? workload_.ranks - of_first : of_first;
    }

    std::int32_t new_block() {
        if (!free_.empty()) {
            const std::int32_t block = free_.back();
            free_.pop_back();
            return block;
        }
        const std::int64_t first = blocks_++ * (std::int64_t{ranks()} + beside);
        if (first + ranks() > std::numeric_limits<std::int32_t>::max())
            throw TooLarge("more than 2^31 messages are under way at once\nleave out ranks or messages");
        return static_cast<std::int32_t>(first);
    }

    // Field by field, where it stays: an event that is copied at once waits for what was just stored. False
    // where the act is none of this rank's.
    bool write(Event& event, const Act& act, std::int32_t rank, std::int32_t block) {
        event.rank = rank;
        event.peer = event.slot = none;
        event.step = act.step;
        event.size = act.size;
        event.locality = 0;
        event.op = act.op;
        event.is_first = is_first_ && (act.op == Op::send || act.op == Op::post);
        event.is_last = act.is_last;
        event.is_overtaken = act.is_overtaken;
        event.is_disordered = act.is_disordered;
        if (act.peer != none) {
            event.peer = peer_of(rank, act.peer);
            event.locality = static_cast<std::uint8_t>(workload_.domains.locality(rank, event.peer));
            event.slot = block + (is_senders(act.op) ? rank : event.peer);
        }
        if (!uneven_ || act.op == Op::finish) return true;
        const std::uint32_t size =
            uneven_->size(act.size, place(is_receivers(act.op) ? event.peer : rank), *workload_.sizes);
        event.size = size & most_sizes;
        return size != Uneven::empty;
    }

    void all(const Act& act, std::int32_t block) {
        Event event{};
        Uneven::Holders who{0, ranks()};
        if (uneven_ && !classes_ && act.op != Op::finish) who = uneven_->holders(act.size);
        std::int32_t rank = who.first;
        if (is_receivers(act.op) && !classes_) rank = peer_of(rank, back(act.peer));
        room_.look(static_cast<std::size_t>(who.count));
        for (; who.count > 0; --who.count) {
            if (write(event, act, rank, block)) {
                sink_.take(&event, 1);
                if (classes_ && act.op == Op::send) sends_ += classes_->ranks(rank);
            }
            if (++rank == ranks()) rank = 0;
        }
    }

    // Those that are waited for together, or a message that is out. Returns where the next act is.
    std::size_t await(std::size_t first) {
        std::size_t end = first;
        arrived_.clear();
        do {
            arrived_.push_back(find(acts_[end])->second.block);
        } while (!acts_[end++].is_last);
        if (arrived_.size() == 1) {
            all(acts_[first], arrived_.front());
        } else {
            group_.resize(end - first);
            room_.look(group_.size() * static_cast<std::size_t>(ranks()));
            for (std::int32_t rank = 0; rank < ranks(); ++rank) {
                std::size_t count = 0;
                for (std::size_t i = first; i < end; ++i)
                    if (write(group_[count], acts_[i], rank, arrived_[i - first])) ++count;
                if (count == 0) continue;
                group_[count - 1].is_last = true;
                sink_.take(group_.data(), count);
            }
        }
        for (std::size_t i = first; i < end; ++i) use(find(acts_[i]));
        return end;
    }

    const Workload& workload_;
    int phase_;
    Sink& sink_;
    Room& room_;
    std::vector<Act> acts_;  // of rank 0
    std::optional<Uneven> uneven_;
    UnderWay under_way_;
    Classes* classes_ = nullptr;  // none: each rank by itself
    std::int64_t sends_ = 0;
    bool is_first_ = false;  // that is heard of the latest message
    std::int64_t blocks_ = 0;
    std::vector<std::int32_t> free_, arrived_;
    std::vector<Event> group_;
};

// Eager messages over links that nobody shares come when they come, in whatever order ranks are looked at.
template <bool is_shared, class Sink>
void take_all(const Workload& workload, Sink& sink, Room& room) {
    if constexpr (is_shared) return Order<Sink, true>(workload, sink, room, 0, workload.phases()).run();
    std::deque<Rounds<Sink>> rounds;
    for (int phase = 0; workload.rendezvous && phase < workload.phases(); ++phase)
        if (workload.course(phase).alike != Likeness::none) rounds.emplace_back(workload, sink, phase, room);
    const bool is_ordered =
        static_cast<int>(rounds.size()) == workload.phases() &&
        std::all_of(rounds.begin(), rounds.end(), [](const auto& of) { return of.is_ordered(); });
    if (workload.rendezvous && !is_ordered)
        return Order<Sink>(workload, sink, room, 0, workload.phases()).run();
    for (int phase = 0; phase < workload.phases(); ++phase) {
        if (workload.course(phase).alike != Likeness::none)
            Rounds<Sink>(workload, sink, phase, room).run();
        else
            Order<Sink>(workload, sink, room, phase, phase + 1).run();
    }
}

}  // namespace hockney
