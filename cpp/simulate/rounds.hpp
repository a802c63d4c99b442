// Takes the steps of ranks that are alike, one step of all ranks after another. What one of them receives,
// all have sent before: in a schedule that does not block, a step comes after the one it is matched with. So
// one rank's steps tell what all do, messages are found by a table of one rank's, and memory is passed from
// end to end: for the messages that are under way, and one rank's steps. Only for eager messages over links
// that nobody shares.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "order.hpp"
#include "uneven.hpp"

namespace hockney {

template <class Sink>
class Rounds {
  public:
    Rounds(const Workload& workload, Sink& sink, int phase)
        : workload_(workload), phase_(phase), sink_(sink) {
        if (workload.course(phase).uneven != nullptr)
            uneven_.emplace(*workload.course(phase).uneven, is_shifted());
        workload.program(phase, 0, acts_, uneven_ ? &*uneven_ : nullptr);
    }

    void run() {
        for (std::size_t i = 0; i < acts_.size();) {
            if (acts_[i].op == Op::receive) {
                i = receive(i);
            } else if (acts_[i].op == Op::send) {
                const std::int32_t block = new_block();
                under_way_[{acts_[i].peer, acts_[i].tag}] = {block, std::uint32_t{acts_[i].size}};
                all(acts_[i++], block);
            } else {
                all(acts_[i++], none);
            }
        }
        all(Act(none, 0, static_cast<std::uint32_t>(phase_), 0, Op::finish), none);
    }

  private:
    static constexpr std::int32_t none = -1;
    // Of the slots of one message of every rank, by sender: not a multiple of a large power of two, so that
    // those of one rank are not all in the same few places of the caches.
    static constexpr std::int32_t beside = 8;

    bool is_shifted() const { return likeness() == Symmetry::Kind::translation; }
    Symmetry::Kind likeness() const { return workload_.course(phase_).alike.kind; }
    // `of_first`: a peer of rank 0.
    std::int32_t peer_of(std::int32_t rank, std::int32_t of_first) const {
        if (!is_shifted()) return rank ^ of_first;
        const std::int32_t to_last = workload_.ranks - of_first;
        return rank < to_last ? rank + of_first : rank - to_last;
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
        const std::int64_t first = blocks_++ * (std::int64_t{workload_.ranks} + beside);
        if (first + workload_.ranks > std::numeric_limits<std::int32_t>::max())
            throw TooLarge("more than 2^31 messages are under way at once");
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
        event.is_first = act.op == Op::send;
        event.is_last = act.is_last;
        event.is_overtaken = act.is_overtaken;
        event.is_disordered = act.is_disordered;
        if (act.peer != none) {
            event.peer = peer_of(rank, act.peer);
            event.locality = static_cast<std::uint8_t>(workload_.domains.locality(rank, event.peer));
            event.slot = block + (act.op == Op::send ? rank : event.peer);
        }
        if (!uneven_ || act.op == Op::finish) return true;
        const std::uint32_t size =
            uneven_->size(act.size, act.op == Op::receive ? event.peer : rank, *workload_.sizes);
        event.size = size & most_sizes;
        return size != Uneven::empty;
    }

    void all(const Act& act, std::int32_t block) {
        Event event{};
        Uneven::Holders who{0, workload_.ranks};
        if (uneven_ && act.op != Op::finish) who = uneven_->holders(act.size);
        std::int32_t rank = who.first;
        if (act.op == Op::receive) rank = peer_of(rank, back(act.peer));
        for (; who.count > 0; --who.count) {
            if (write(event, act, rank, block)) sink_.take(&event, 1);
            if (++rank == workload_.ranks) rank = 0;
        }
    }

    // Those that are waited for together. Returns where the next act is.
    std::size_t receive(std::size_t first) {
        std::size_t end = first;
        arrived_.clear();
        do {
            Act& act = acts_[end];
            const auto sent = under_way_.find({back(act.peer), act.tag});
            if (sent == under_way_.end()) throw std::invalid_argument("the schedule blocks");
            arrived_.push_back(sent->second.first);
            act.size = sent->second.second & most_sizes;
            under_way_.erase(sent);
        } while (!acts_[end++].is_last);
        if (arrived_.size() == 1) {
            all(acts_[first], arrived_.front());
        } else {
            group_.resize(end - first);
            for (std::int32_t rank = 0; rank < workload_.ranks; ++rank) {
                std::size_t count = 0;
                for (std::size_t i = first; i < end; ++i)
                    if (write(group_[count], acts_[i], rank, arrived_[i - first])) ++count;
                if (count == 0) continue;
                group_[count - 1].is_last = true;
                sink_.take(group_.data(), count);
            }
        }
        free_.insert(free_.end(), arrived_.begin(), arrived_.end());
        return end;
    }

    const Workload& workload_;
    int phase_;
    Sink& sink_;
    std::vector<Act> acts_;  // of rank 0
    std::optional<Uneven> uneven_;
    // By the distance that it goes and its tag: the first slot, and its size.
    std::map<std::pair<std::int32_t, std::int32_t>, std::pair<std::int32_t, std::uint32_t>> under_way_;
    std::int64_t blocks_ = 0;
    std::vector<std::int32_t> free_, arrived_;
    std::vector<Event> group_;
};

// Eager messages over links that nobody shares come when they come, in whatever order ranks are looked at.
template <bool is_shared, class Sink>
void take_all(const Workload& workload, Sink& sink, Room& room) {
    if constexpr (is_shared) return Order<Sink, true>(workload, sink, room, 0, workload.phases()).run();
    if (workload.rendezvous || workload.symmetry.classes > 0)
        return Order<Sink>(workload, sink, room, 0, workload.phases()).run();
    for (int phase = 0; phase < workload.phases(); ++phase) {
        if (workload.course(phase).alike.classes == 1)
            Rounds<Sink>(workload, sink, phase).run();
        else
            Order<Sink>(workload, sink, room, phase, phase + 1).run();
    }
}

}  // namespace hockney
