// When things happen: the clocks of ranks, messages and links, moved on by one event after another. The
// events come in an order in which each finds what it depends on (order.hpp). One file, because all that
// happens moves the same clocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "cost.hpp"
#include "fluid.hpp"
#include "intake.hpp"
#include "network.hpp"
#include "noise.hpp"
#include "occupied.hpp"
#include "order.hpp"
#include "port.hpp"
#include "streams.hpp"
#include "trace.hpp"

namespace hockney {

template <class Time>
class Evaluator {
  public:
    Evaluator(std::size_t ranks, std::size_t phases, const Costs& costs, bool rendezvous, Room& room)
        : room_(room), costs_(costs), sums_(costs, room), rendezvous_(rendezvous), fluid_(room) {
        room_.resize(finish_, ranks * phases);
        room_.resize(ranks_, ranks);
        if (rendezvous) room_.resize(ports_, ranks);
    }

    void disturb(const Noise& noise) {
        noise_ = noise;
        if (!noise.mean_s.empty()) room_.resize(phase_, ranks_.size());
    }
    void share(const Network& network) {
        network_ = &network;
        room_.resize(links_, static_cast<std::size_t>(network.first_memory() + network.memories()));
        fluid_.resize(links_.size());
        streams_.resize(ranks_.size(), room_);
    }
    // So many messages at once.
    void hold(std::size_t slots) {
        room_.resize(arrival_, slots);
        if (!rendezvous_) return;
        room_.resize(meeting_, slots);
        room_.resize(left_, slots);
    }
    void record(Timeline& timeline) { timeline_ = &timeline; }
    // What steps belong to is their number.
    void account(Waits& waits) { waits_ = &waits; }

    // [phase × ranks + rank]
    const std::vector<Time>& finish() const { return finish_; }
    const std::vector<TraceNode>& trace() const { return sums_.trace(); }
    const std::vector<std::int32_t>& owners() const { return sums_.owners(); }

    // Of ranks that stand for classes, when nothing is under way: which each was so far.
    void regroup(const std::vector<std::int32_t>& was) {
        const auto pick = [&](auto& states) {
            if (states.empty()) return;
            const auto before = states;
            room_.resize(states, was.size());
            for (std::size_t i = 0; i < was.size(); ++i) states[i] = before[static_cast<std::size_t>(was[i])];
        };
        both_ways_.regroup(pick, ranks_.size(), room_);
        pick(finish_);
        pick(ranks_);
        pick(ports_);
        pick(in_);
        pick(intakes_);
    }
    // Whether two are at the same times: what is over is the same to what follows.
    bool is_alike(std::int32_t first, std::int32_t second) const {
        const auto a = static_cast<std::size_t>(first), b = static_cast<std::size_t>(second);
        const double now_s = ranks_[a].processor.s;
        return now_s == ranks_[b].processor.s &&
               std::max(now_s, ranks_[a].out.s) == std::max(now_s, ranks_[b].out.s) &&
               (in_.empty() || in_[a].s == in_[b].s) &&
               (ports_.empty() || ports_[a].is_alike(ports_[b], now_s)) && intakes_.empty() &&
               both_ways_.is_alike(a, b);
    }

    void take(const Event* events, std::size_t count) {
        departures_.clear();
        answered_.clear();
        if (waits_ != nullptr && sums_.is_crowded()) sums_.forget([&](const auto& see) { each_time(see); });
        if (count == 1) return take(*events);
        // Receives that are waited for together are taken as their messages begin to arrive.
        const auto begins_s = [&](const Event& event) {
            return arrival_[slot(event)].s - cost_s(event, Term::drain);
        };
        const auto is_earlier = [&](const Event& a, const Event& b) { return begins_s(a) < begins_s(b); };
        group_.assign(events, events + count);
        if (!std::is_sorted(group_.begin(), group_.end(), is_earlier))
            std::stable_sort(group_.begin(), group_.end(), is_earlier);
        for (const Event& event : group_) take(event);
    }

    // Messages that came to the links they share, by the last event, and when.
    const std::vector<std::pair<double, Event>>& departures() const { return departures_; }
    // Those that are out of their senders' hands, while they pass such links.
    const std::vector<Event>& answered() const { return answered_; }
    std::pair<double, std::int32_t> next_arrival(double until_s) { return fluid_.next(until_s); }
    // Whether the sender has its hands full until the message is out.
    bool is_held(const Event& event) const { return cost_s(event, Term::handshake) != buffered; }
    bool meets(const Event& event) const { return cost_s(event, Term::handshake) >= 0; }
    // Whether it shares its links fairly: it consists of many packets, which take turns.
    bool flows(const Event& event) const {
        return is_streamed(event) || (is_shared_link(event) && costs_.size_B[event.size] > packet_B);
    }

    // Whether it goes by a stream that keeps its order: one to each peer, all of them on their node's link.
    bool is_streamed(const Event& event) const {
        return cost_s(event, Term::behind) > 0 && network_ != nullptr && node(event.rank) != node(event.peer);
    }
    bool waits_in_stream(const Event& event) const { return is_streamed(event) && meets(event); }
    // Whether its sender's hands are free before it has arrived: the stream holds what is left.
    bool is_held_by_stream(const Event& event) const {
        return waits_in_stream(event) &&
               cost_s(event, Term::node_link) <= held_by_stream * cost_s(event, Term::behind);
    }
    bool is_answered(std::int32_t slot) const { return meeting_[static_cast<std::size_t>(slot)].is_answered; }
    double now_s(int rank) const { return ranks_[static_cast<std::size_t>(rank)].processor.s; }
    bool is_shared(const Event& event) const {
        return cost_s(event, Term::insert) > 0 || is_streamed(event) || is_shared_link(event);
    }

  private:
    template <class See>
    void each_time(const See& see) {
        for (std::vector<Time>* times : {&finish_, &in_, &queue_, &arrival_, &left_, &start_, &links_})
            std::for_each(times->begin(), times->end(), see);
        for (Rank& rank : ranks_) {
            see(rank.processor);
            see(rank.out);
        }
        for (Port<Time>& port : ports_) port.each(see);
        streams_.each(see);
        for (Meeting& meeting : meeting_) {
            see(meeting.ready);
            see(meeting.posted);
        }
        for (Intake<Time>& intake : intakes_) intake.each(see);
        both_ways_.each(see);
        far_links_.each(see);
        first_links_.each(see);
        see(released_);
    }

    // As many times as what is in the adapter's queue: 2 MiB, half of the memory that Linux gives a socket.
    static constexpr double held_by_stream = 16;
    static constexpr Bytes packet_B = 4096;
    static constexpr std::uint8_t of_node = SharedLink::of_node, between = SharedLink::between;
    // What a message takes of each kind of links.
    static constexpr std::array<Term, 2> link_terms{Term::node_link, Term::network_link};

    bool is_shared_link(const Event& event) const {
        if (network_ == nullptr) return false;
        if (node(event.rank) == node(event.peer) && network_->memory_of_rank.empty()) return false;
        return cost_s(event, Term::node_link) > 0 || cost_s(event, Term::network_link) > 0;
    }

    struct Rank {
        Time processor, out;
        double waited_s = 0;  // when it last waited
        int unmet = 0;        // messages that wait for their receivers
    };
    // A message that waits for its receiver.
    struct Meeting {
        Time ready, posted;
        double waited_s = 0;  // when its sender had last waited
        bool is_ready = false, is_posted = false, is_answered = false;
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

    Time both(const Event& event, std::int32_t rank, const Time& ready) {
        return both_ways_.take(rank, ready, entry(event, Term::duplex), sums_, room_);
    }
    Time plus(const Time& time, std::size_t cost, double times = 1) { return sums_.plus(time, cost, times); }

    void take(const Event& event) {
        Rank& me = ranks_[static_cast<std::size_t>(event.rank)];
        if (waits_ != nullptr) sums_.belong(event.step);
        if (event.is_first) open(slot(event));
        switch (event.op) {
            case Op::send:
                return send(event, me);
            case Op::post:
                return post(event, me);
            case Op::receive:
                return receive(event, me);
            case Op::sent:
                if (meets(event)) {
                    const Time& done = is_streamed(event) ? left_[slot(event)] : arrival_[slot(event)];
                    idle(event, me, done.s, meeting_[slot(event)].posted.s);
                    me.processor = later(me.processor, done);
                } else if (cost_s(event, Term::handshake) == held)
                    me.processor = later(me.processor, left_[slot(event)]);
                me.waited_s = me.processor.s;
                return;
            case Op::copy:
                return busy(event, me, costs_.work(event.size, false));
            case Op::reduce:
                return busy(event, me, costs_.work(event.size, true));
            case Op::work:
                if (waits_ != nullptr) {
                    const double takes_s = event.ticks() * costs_.time_s[costs_.work(event.size, true)];
                    waits_->worked_s += takes_s;
                    waits_->see(event.rank, event.step, Moment::Kind::computes, me.processor.s,
                                me.processor.s + takes_s);
                }
                return busy(event, me, costs_.work(event.size, true), event.ticks());
            case Op::enter:
                return enter(event);
            case Op::arrive:
                return arrive(event);
            case Op::finish:
                finish_[event.step * ranks_.size() + static_cast<std::size_t>(event.rank)] = me.processor;
                if (!intakes_.empty()) intakes_[static_cast<std::size_t>(event.rank)] = {};
                both_ways_.forget(event.rank);
                if (!phase_.empty()) ++phase_[static_cast<std::size_t>(event.rank)];
        }
    }

    void open(std::size_t slot) {
        if (slot >= arrival_.size()) hold(std::max(slot + 1, 2 * arrival_.size()));
        if (rendezvous_) meeting_[slot] = {};
    }

    void busy(const Event& event, Rank& me, std::size_t cost, double times = 1) {
        const double start_s = me.processor.s;
        me.processor = plus(me.processor, cost, times);
        if (!phase_.empty()) {
            const auto r = static_cast<std::size_t>(event.rank);
            me.processor.s += noise_.drawn_s(r, phase_[r], event.step);
        }
        if (timeline_ == nullptr) return;
        const auto r = static_cast<std::size_t>(event.rank);
        timeline_->start_s[r][event.step] = start_s;
        timeline_->end_s[r][event.step] = me.processor.s;
    }

    void send(const Event& event, Rank& me) {
        if (rendezvous_ && me.unmet == 0)
            ports_[static_cast<std::size_t>(event.rank)].forget(me.processor.s, room_);
        if (waits_ != nullptr) {
            room_.reach(started_s_, slot(event));
            started_s_[slot(event)] = me.processor.s;
        }
        busy(event, me, entry(event, Term::send));
        if (cost_s(event, Term::insert) > 0) {
            if (queue_.empty()) room_.resize(queue_, ranks_.size());
            Time& queue = queue_[static_cast<std::size_t>(event.peer)];
            queue = me.processor = plus(later(me.processor, queue), entry(event, Term::insert));
        }
        if (!meets(event)) return transfer(event, event.rank, event.peer, me.processor);
        Meeting& meeting = meeting_[slot(event)];
        meeting.ready = me.processor;
        meeting.waited_s = me.waited_s;
        meeting.is_ready = true;
        me.unmet += meeting.is_posted ? 0 : 1;
        if (meeting.is_posted) meet(event, event.rank, event.peer, meeting);
    }

    void post(const Event& event, Rank& me) {
        Meeting& meeting = meeting_[slot(event)];
        meeting.posted = me.processor;
        meeting.is_posted = true;
        if (!meeting.is_ready) return;
        --ranks_[static_cast<std::size_t>(event.peer)].unmet;
        meet(event, event.peer, event.rank, meeting);
    }

    void meet(const Event& event, std::int32_t sender, std::int32_t receiver, const Meeting& meeting) {
        if (is_streamed(event))
            return hand_over({event, sender, receiver, Part::request, meeting.ready, meeting.waited_s});
        const std::size_t handshake = entry(event, Term::handshake);
        const Time asked = plus(meeting.ready, handshake);
        transfer(event, sender, receiver, plus(later(asked, meeting.posted), handshake));
    }

    // To its stream. Requests and answers take nothing of the link, but wait in the adapter's queue.
    void hand_over(Sending<Time> sending) {
        const Event& event = sending.event;
        const double behind_s = cost_s(event, Term::behind);
        if (waits_ != nullptr) sums_.belong(event.step);
        while (!streams_.keep(sending, room_)) {
            if (sending.part == Part::message) {
                streams_.begin(sending, cost_s(event, Term::node_link), room_);
                return depart(event, sending.sender, sending.receiver, sending.ready);
            }
            sending.ready = plus(sending.ready, entry(event, Term::behind),
                                 streams_.others_s(sending, behind_s, room_) / behind_s);
            sending.ready = plus(sending.ready, entry(event, Term::handshake));
            Meeting& meeting = meeting_[slot(event)];
            if (sending.part == Part::answer) {
                meeting.is_answered = true;
                left_[slot(event)] = sending.ready;
                answered_.push_back(event);
                answered_.back().rank = sending.sender;
                sending.part = Part::message;
            } else {
                sending.ready = later(sending.ready, meeting.posted);
                sending.part = Part::answer;
            }
            sending.seen_s = sending.ready.s;
        }
    }

    // To the links that it shares.
    void depart(const Event& event, std::int32_t sender, std::int32_t receiver, const Time& head) {
        room_.reach(start_, slot(event));
        start_[slot(event)] = head;
        Event entering = event;
        entering.rank = sender;
        entering.peer = receiver;
        entering.op = Op::enter;
        entering.is_first = false;
        departures_.emplace_back(head.s, entering);
    }

    void transfer(const Event& event, std::int32_t sender, std::int32_t receiver, const Time& ready) {
        if (is_streamed(event)) return hand_over({event, sender, receiver, Part::message, ready, ready.s});
        // What takes nothing of a port waits for nobody there.
        const bool has_port = cost_s(event, Term::gap) > 0;
        const auto from = static_cast<std::size_t>(sender);
        Time head = has_port ? leave(from, ready, entry(event, Term::gap)) : ready;
        if (cost_s(event, Term::duplex) > 0) both(event, sender, head);
        if (network_ != nullptr && flows(event))
            return depart(event, sender, receiver, queued(event, sender, receiver, head));
        if (network_ != nullptr) head = pass(event, sender, receiver, head);
        if (rendezvous_) {
            Time& left = left_[slot(event)] = network_ != nullptr ? released_ : head;
            if (has_port) left = later(left, ranks_[from].out);
        }
        // Its end comes after its head at the pace of the ends, or of the slowest link.
        const bool is_held_up = network_ != nullptr && released_.s + costs_.time_s[empty(event)] >
                                                           head.s + cost_s(event, Term::transfer);
        arrival_[slot(event)] =
            is_held_up ? plus(released_, empty(event)) : plus(head, entry(event, Term::transfer));
    }

    // When the head of a message leaves its port. Eager messages do so in the order in which they are
    // started.
    Time leave(std::size_t rank, const Time& ready, std::size_t gap) {
        if (!rendezvous_) {
            Time& out = ranks_[rank].out;
            const Time head = later(ready, out);
            out = plus(head, gap);
            return head;
        }
        return ports_[rank].leave(ready, gap, costs_.time_s[gap], sums_, room_, ranks_[rank].out);
    }

    // What a rank sends over the same link of a torus goes one after another; over others at the same time.
    Time queued(const Event& event, std::int32_t sender, std::int32_t receiver, const Time& head) {
        const std::size_t cost = entry(event, Term::network_link);
        if (network_->kind != Network::Kind::torus || costs_.time_s[cost] == 0) return head;
        find_way(sender, receiver);
        const auto first = std::find_if(way_.begin(), way_.end(),
                                        [](const SharedLink& link) { return link.kind == between; });
        if (first == way_.end()) return head;
        const auto directions = 2 * static_cast<std::int32_t>(network_->torus.size());
        const std::int32_t direction = (first->link - 2 * network_->nodes()) % directions;
        return plus(first_links_.take(sender * directions + direction, head, cost, sums_, room_), cost, -1);
    }

    void find_way(std::int32_t sender, std::int32_t receiver) {
        network_->find_way(sender, receiver, way_);
        room_.look(way_.size());
    }

    // The head of a message goes on as soon as a link is free; the links behind it stay taken for as long as
    // the message needs to pass (cut-through).
    Time pass(const Event& event, std::int32_t sender, std::int32_t receiver, Time head) {
        released_ = head;
        find_way(sender, receiver);
        for (const SharedLink& link : way_) {
            // What takes nothing of a link comes in no order of time, and waits for nobody.
            const auto number = static_cast<std::size_t>(link.link);
            if (const std::size_t cost = entry(event, link_terms[link.kind]); costs_.time_s[cost] > 0)
                head = cost_s(event, Term::hop) > 0 ? take_far_link(number, head, cost)
                                                    : take_link(number, head, cost);
            if (link.kind == between && cost_s(event, Term::hop) > 0) {
                head = plus(head, entry(event, Term::hop));
                released_ = plus(released_, entry(event, Term::hop));
            }
        }
        return head;
    }

    void enter(const Event& event) {
        find_way(event.rank, event.peer);
        const double own_s = cost_s(event, Term::transfer) - costs_.time_s[empty(event)];
        fluid_.enter(
            event.slot, start_[slot(event)].s, static_cast<std::int32_t>(entry(event, Term::transfer)),
            {cost_s(event, Term::node_link), cost_s(event, Term::network_link), std::max(own_s, 0.0)}, way_);
    }

    void arrive(const Event& event) {
        const Fluid::OfKinds shares = fluid_.leave(event.slot);
        Time time = start_[slot(event)];
        for (const std::uint8_t kind : {of_node, between})
            if (shares[kind] > 0) time = plus(time, entry(event, link_terms[kind]), shares[kind]);
        if (const double own = shares[Fluid::own_pace]; own > 0) {
            time = plus(time, entry(event, Term::transfer), own);
            time = plus(time, empty(event), -own);
        }
        // Its last byte is on its way.
        if (rendezvous_ && !is_held_by_stream(event)) left_[slot(event)] = time;
        const Time passed = time;
        time = plus(time, empty(event));
        if (cost_s(event, Term::hop) > 0) {
            find_way(event.rank, event.peer);
            const auto hops = std::count_if(way_.begin(), way_.end(),
                                            [](const SharedLink& link) { return link.kind == between; });
            time = plus(time, entry(event, Term::hop), static_cast<double>(hops));
        }
        arrival_[slot(event)] = time;
        if (!is_streamed(event)) return;
        streams_.end(event, passed, room_, [this](Sending<Time> kept) { hand_over(std::move(kept)); });
    }

    // What an empty message takes from end to end: sizes begin with 0 where links are shared.
    std::size_t empty(const Event& event) const {
        return costs_.entry(0, event.locality) + static_cast<std::size_t>(Term::transfer);
    }

    Time take_link(std::size_t link, const Time& head, std::size_t cost) {
        const Time start = later(head, links_[link]);
        links_[link] = plus(start, cost);
        released_ = later(released_, links_[link]);
        return start;
    }

    // Where each link adds to a latency, messages come to one in another order than they left in; elsewhere
    // in nearly the same.
    Time take_far_link(std::size_t link, const Time& head, std::size_t cost) {
        const Time until = far_links_.take(static_cast<std::int32_t>(link), head, cost, sums_, room_);
        released_ = later(released_, until);
        return plus(until, cost, -1);
    }

    // Until then, for what the other end began at that time.
    void idle(const Event& event, const Rank& me, double until_s, double began_s) {
        const double idle_s = until_s - me.processor.s;
        if (waits_ != nullptr && idle_s > 0)
            waits_->add(event.rank, event.peer, event.step, me.processor.s, idle_s,
                        std::clamp(began_s - me.processor.s, 0.0, idle_s));
    }

    void receive(const Event& event, Rank& me) {
        Time here = arrival_[slot(event)];
        if (timeline_ != nullptr)
            timeline_->arrival_s[static_cast<std::size_t>(event.rank)][event.step] = here.s;
        const Time arrived = here;
        if (cost_s(event, Term::drain) > 0 && !is_streamed(event)) {
            const auto r = static_cast<std::size_t>(event.rank);
            const std::size_t drain = entry(event, Term::drain);
            if (in_.empty()) room_.resize(in_, ranks_.size(), {before_all});
            if (event.is_disordered) {
                if (intakes_.empty()) room_.resize(intakes_, ranks_.size());
                here = intakes_[r].take(here, drain, costs_.time_s[drain], event.is_overtaken, in_[r], sums_,
                                        room_);
            } else {
                if (!intakes_.empty()) intakes_[r].clear(room_);
                here = later(here, plus(in_[r], drain));
            }
            in_[r] = here;
        }
        if (cost_s(event, Term::duplex) > 0 && !is_streamed(event)) {
            const Time through = both(event, event.rank, plus(arrived, entry(event, Term::transfer), -1));
            // Alone it takes as long to drain.
            here =
                later(here, plus(plus(through, entry(event, Term::transfer)), entry(event, Term::drain), -1));
        }
        if (waits_ != nullptr) idle(event, me, here.s, started_s_[slot(event)]);
        me.processor = later(me.processor, here);
        me.waited_s = me.processor.s;
        busy(event, me, entry(event, Term::receive));
    }

    Room& room_;
    std::vector<Time> finish_;
    const Costs& costs_;
    Sums<Time> sums_;
    bool rendezvous_;
    std::vector<Rank> ranks_;
    std::vector<Port<Time>> ports_;  // by rank, where messages meet
    Streams<Time> streams_;
    std::vector<Time> in_;               // by rank, where messages take time to drain
    std::vector<Intake<Time>> intakes_;  // by rank, where receives are overtaken
    Occupied<Time, 8192> both_ways_;
    std::vector<Time> queue_;    // by rank, where senders wait for it
    std::vector<Time> arrival_;  // by slot
    std::vector<Meeting> meeting_;
    std::vector<Time> left_;  // by slot: when a message is out of its sender's hands
    Time released_;           // the last link that the latest message took
    Fluid fluid_;
    std::vector<Time> start_;  // by slot: when the message came to the links
    std::vector<std::pair<double, Event>> departures_;
    std::vector<Event> answered_;
    std::vector<SharedLink> way_;
    std::vector<Time> links_;         // out of the nodes, into the nodes, between them
    Occupied<Time, 64> far_links_;    // the same, where each adds to a latency
    Occupied<Time, 64> first_links_;  // by rank and direction on a torus
    const Network* network_ = nullptr;
    Noise noise_;
    std::vector<std::uint8_t> phase_;  // by rank, where there is noise
    Timeline* timeline_ = nullptr;
    Waits* waits_ = nullptr;
    std::vector<double> started_s_;  // by slot: when its sender came to it
    std::vector<Event> group_;
};

}  // namespace hockney
