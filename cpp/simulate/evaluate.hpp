// When things happen: the clocks of ranks, messages and links, moved on by one event after another. The
// events come in an order in which each finds what it depends on (order.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "cost.hpp"
#include "network.hpp"
#include "order.hpp"

namespace hockney {

// A time, and where it comes from: the critical path is followed backwards from `node`.
struct Plain {
    double s = 0;
};
struct Traced {
    double s = 0;
    std::int32_t node = -1;
};

// Every traced time is an earlier one plus a cost.
struct TraceNode {
    std::int32_t before, cost;
};

// Each act of a rank's processor takes longer by an exponentially distributed time.
struct Noise {
    std::vector<double> mean_s;  // by rank, or one for all; none: no noise
    std::uint64_t seed = 0;
};

// When the processor is busy with each step, and for a receive when its data is there; by rank and step.
struct Timeline {
    std::vector<std::vector<double>> start_s, end_s, arrival_s;
    std::vector<double> finish_s;  // by rank
};

template <class Time>
class Evaluator {
  public:
    Evaluator(std::size_t ranks, std::size_t phases, const Costs& costs, bool rendezvous)
        : finish_(ranks * phases),
          costs_(costs),
          rendezvous_(rendezvous),
          ranks_(ranks),
          ports_(rendezvous ? ranks : 0) {}

    void disturb(const Noise& noise) {
        for (std::uint32_t r = 0; r < ranks_.size() && !noise.mean_s.empty(); ++r) {
            // Hashed together with the rank, so that ranks and neighbouring seeds have nothing in common.
            std::seed_seq seed{static_cast<std::uint32_t>(noise.seed),
                               static_cast<std::uint32_t>(noise.seed >> 32U), r};
            random_.emplace_back(seed);
            mean_noise_s_.push_back(noise.mean_s[noise.mean_s.size() == 1 ? 0 : r]);
        }
    }
    void share(const Network& network) {
        network_ = &network;
        nodes_ = static_cast<std::size_t>(network.nodes());
        links_.resize(2 * nodes_ + static_cast<std::size_t>(network.links()));
    }
    void record(Timeline& timeline) { timeline_ = &timeline; }

    // [phase × ranks + rank]
    const std::vector<Time>& finish() const { return finish_; }
    const std::vector<TraceNode>& trace() const { return trace_; }

    void take(const Event* events, std::size_t count) {
        if (count == 1) return take(*events);
        // Receives that are waited for together complete as they arrive.
        const auto is_earlier = [&](const Event& a, const Event& b) {
            return arrival_[slot(a)].s < arrival_[slot(b)].s;
        };
        group_.assign(events, events + count);
        if (!std::is_sorted(group_.begin(), group_.end(), is_earlier))
            std::stable_sort(group_.begin(), group_.end(), is_earlier);
        for (const Event& event : group_) take(event);
    }

    double now_s(int rank) const { return ranks_[static_cast<std::size_t>(rank)].processor.s; }
    bool is_shared(const Event& event) const {
        if (cost_s(event, Term::insert) > 0) return true;
        return network_ != nullptr &&
               (node(event.rank) != node(event.peer) || cost_s(event, Term::node_link) > 0);
    }

  private:
    struct Rank {
        Time processor, out;
    };
    // When a port is taken, without a break.
    struct Taken {
        double from_s;
        Time until;
    };
    // A message that waits for its receiver.
    struct Meeting {
        Time ready, posted;
        bool is_ready = false, is_posted = false;
    };

    static std::size_t slot(const Event& event) { return static_cast<std::size_t>(event.slot); }
    static const Time& later(const Time& a, const Time& b) { return b.s > a.s ? b : a; }
    std::int32_t node(std::int32_t rank) const {
        return network_->node_of_rank[static_cast<std::size_t>(rank)];
    }
    std::size_t entry(const Event& event, Term term) const {
        return costs_.entry(event.size, event.locality) + static_cast<std::size_t>(term);
    }
    double cost_s(const Event& event, Term term) const { return costs_.time_s[entry(event, term)]; }

    Time plus(const Time& time, std::size_t cost) {
        if constexpr (std::is_same_v<Time, Traced>) {
            trace_.push_back({time.node, static_cast<std::int32_t>(cost)});
            return {time.s + costs_.time_s[cost], static_cast<std::int32_t>(trace_.size() - 1)};
        } else {
            return {time.s + costs_.time_s[cost]};
        }
    }

    void take(const Event& event) {
        Rank& me = ranks_[static_cast<std::size_t>(event.rank)];
        if (event.is_first) open(slot(event));
        switch (event.op) {
            case Op::send:
                return send(event, me);
            case Op::post:
                return post(event, me);
            case Op::receive:
                return receive(event, me);
            case Op::sent:
                if (cost_s(event, Term::handshake) >= 0)
                    me.processor = later(me.processor, arrival_[slot(event)]);
                return;
            case Op::copy:
                return busy(event, me, costs_.work(event.size, false));
            case Op::reduce:
                return busy(event, me, costs_.work(event.size, true));
            case Op::finish:
                finish_[event.step * ranks_.size() + static_cast<std::size_t>(event.rank)] = me.processor;
        }
    }

    void open(std::size_t slot) {
        if (slot >= arrival_.size()) arrival_.resize(slot + 1);
        if (!rendezvous_) return;
        if (slot >= meeting_.size()) meeting_.resize(slot + 1);
        meeting_[slot] = {};
    }

    void busy(const Event& event, Rank& me, std::size_t cost) {
        const double start_s = me.processor.s;
        me.processor = plus(me.processor, cost);
        if (!random_.empty()) {
            const auto r = static_cast<std::size_t>(event.rank);
            if (mean_noise_s_[r] > 0)
                me.processor.s += std::exponential_distribution<>(1 / mean_noise_s_[r])(random_[r]);
        }
        if (timeline_ == nullptr) return;
        const auto r = static_cast<std::size_t>(event.rank);
        timeline_->start_s[r][event.step] = start_s;
        timeline_->end_s[r][event.step] = me.processor.s;
    }

    void send(const Event& event, Rank& me) {
        busy(event, me, entry(event, Term::send));
        if (cost_s(event, Term::insert) > 0) {
            if (queue_.empty()) queue_.resize(ranks_.size());
            Time& queue = queue_[static_cast<std::size_t>(event.peer)];
            queue = me.processor = plus(later(me.processor, queue), entry(event, Term::insert));
        }
        if (cost_s(event, Term::handshake) < 0) return transfer(event, event.rank, event.peer, me.processor);
        Meeting& meeting = meeting_[slot(event)];
        meeting.ready = me.processor;
        meeting.is_ready = true;
        if (meeting.is_posted) meet(event, event.rank, event.peer, meeting);
    }

    void post(const Event& event, Rank& me) {
        Meeting& meeting = meeting_[slot(event)];
        meeting.posted = me.processor;
        meeting.is_posted = true;
        if (meeting.is_ready) meet(event, event.peer, event.rank, meeting);
    }

    void meet(const Event& event, std::int32_t sender, std::int32_t receiver, const Meeting& meeting) {
        const std::size_t handshake = entry(event, Term::handshake);
        const Time asked = plus(meeting.ready, handshake);
        transfer(event, sender, receiver, plus(later(asked, meeting.posted), handshake));
    }

    void transfer(const Event& event, std::int32_t sender, std::int32_t receiver, const Time& ready) {
        Time head = leave(static_cast<std::size_t>(sender), ready, entry(event, Term::gap));
        if (network_ != nullptr) head = pass(event, node(sender), node(receiver), head);
        arrival_[slot(event)] = plus(head, entry(event, Term::transfer));
    }

    // When the head of a message leaves its port. Eager messages do so in the order in which they are
    // started; of those that meet, one that is heard of later may leave before, where it fits.
    Time leave(std::size_t rank, const Time& ready, std::size_t gap) {
        if (!rendezvous_) {
            Time& out = ranks_[rank].out;
            const Time head = later(ready, out);
            out = plus(head, gap);
            return head;
        }
        std::vector<Taken>& taken = ports_[rank];
        Time head = ready;
        auto next = taken.begin();
        // What fits exactly must not be pushed behind by rounding.
        const auto is_after = [](double a_s, double b_s) { return a_s > b_s * (1 + 1e-12); };
        for (; next != taken.end() && is_after(head.s + costs_.time_s[gap], next->from_s); ++next)
            head = later(head, next->until);
        const Time until = plus(head, gap);
        if (next != taken.begin() && !is_after(head.s, std::prev(next)->until.s))
            std::prev(next)->until = until;
        else
            taken.insert(next, {head.s, until});
        return head;
    }

    // The head of a message goes on as soon as a link is free; the links behind it stay taken for as long as
    // the message needs to pass (cut-through).
    Time pass(const Event& event, std::int32_t from, std::int32_t to, Time head) {
        if (cost_s(event, Term::node_link) > 0)
            head = take_link(static_cast<std::size_t>(from), head, entry(event, Term::node_link));
        if (from == to) return head;
        network_->route(from, to, route_);
        for (const std::int32_t link : route_) {
            head = take_link(2 * nodes_ + static_cast<std::size_t>(link), head,
                             entry(event, Term::network_link));
            if (cost_s(event, Term::hop) > 0) head = plus(head, entry(event, Term::hop));
        }
        if (cost_s(event, Term::node_link) > 0)
            head = take_link(nodes_ + static_cast<std::size_t>(to), head, entry(event, Term::node_link));
        return head;
    }

    Time take_link(std::size_t link, const Time& head, std::size_t cost) {
        const Time start = later(head, links_[link]);
        links_[link] = plus(start, cost);
        return start;
    }

    void receive(const Event& event, Rank& me) {
        Time here = arrival_[slot(event)];
        if (timeline_ != nullptr)
            timeline_->arrival_s[static_cast<std::size_t>(event.rank)][event.step] = here.s;
        if (cost_s(event, Term::drain) > 0) {
            if (in_.empty()) in_.resize(ranks_.size(), {-std::numeric_limits<double>::infinity()});
            Time& in = in_[static_cast<std::size_t>(event.rank)];
            in = here = later(here, plus(in, entry(event, Term::drain)));
        }
        me.processor = later(me.processor, here);
        busy(event, me, entry(event, Term::receive));
    }

    std::vector<Time> finish_;
    const Costs& costs_;
    bool rendezvous_;
    std::vector<Rank> ranks_;
    std::vector<std::vector<Taken>> ports_;  // by rank, where messages meet
    std::vector<Time> in_;                   // by rank, where messages take time to drain
    std::vector<Time> queue_;                // by rank, where senders wait for it
    std::vector<Time> arrival_;              // by slot
    std::vector<Meeting> meeting_;
    std::vector<Time> links_;  // out of the nodes, into the nodes, between them
    std::size_t nodes_ = 0;
    const Network* network_ = nullptr;
    std::vector<std::mt19937_64> random_;
    std::vector<double> mean_noise_s_;
    Timeline* timeline_ = nullptr;
    std::vector<TraceNode> trace_;
    std::vector<Event> group_;
    std::vector<std::int32_t> route_;
};

}  // namespace hockney
