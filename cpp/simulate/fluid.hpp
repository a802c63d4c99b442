// Messages that pass the same links at the same time: each has an equal part of every link on its way and is
// as fast as the narrowest of them lets it be (max-min fairness without what others leave over; the fluid
// model of SimGrid's, Casanova et al. 2014), or as its ends are.
//
// Links that have had the same numbers of messages at the same times are a group. Messages of the same costs
// over the same groups are a flow: as fast as each other, they pass in the order in which they came, so that
// only the first can be the next one. Where all nodes do the same, groups and flows are few.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "network.hpp"
#include "room.hpp"

namespace hockney {

class Fluid {
  public:
    // Kinds of links, and at last what holds a message to its own pace.
    static constexpr std::uint8_t kinds = 3, own_pace = 2;
    using OfKinds = std::array<double, kinds>;
    using Link = SharedLink;

    // The first group is nobody's link, the own pace; then, of each kind, the links without a message.
    explicit Fluid(Room& room) : room_(room), groups_{{own_pace, 1}, {0, 0}, {1, 0}} {}

    void resize(std::size_t links) { room_.resize(links_, links); }

    // `costs` is the number of what it costs: of the whole message, alone on a link of each kind.
    void enter(std::int32_t slot, double now_s, std::int32_t costs, const OfKinds& cost_s,
               const std::vector<Link>& links) {
        if (!is_now(now_s)) settle(now_s);
        cost_s_[costs] = cost_s;
        room_.take(1, message_B);
        entries_.push_back({slot, costs, now_s});
        if (static_cast<std::size_t>(slot) >= messages_.size())
            room_.resize(messages_, slot + std::size_t{1});
        messages_[static_cast<std::size_t>(slot)] = --entries_.end();
        entries_.back().links.reserve(links.size());
        for (const auto [link, kind] : links) {
            if (cost_s[kind] == 0) continue;  // never the narrowest
            entries_.back().links.push_back(link);
            if (at(link).group == own) at(link).group = 1 + kind;
            change(link, 1);
        }
    }

    // Of what a message's time on its way is made: how much of it passed at its own pace, and of each kind of
    // link the messages that shared it, on average over the rest. time = Σ shares[kind] · cost_s[kind].
    OfKinds leave(std::int32_t slot) {
        const auto place = messages_[static_cast<std::size_t>(slot)];
        if (place->flow == nullptr || !is_now(end_s(*place))) {
            settle(now_s_);
            now_s_ = end_s(*place);
        }
        Flow& flow = *place->flow;
        place->spent_s[flow.kind] += flow.since_s - end_s(*place);
        OfKinds shares{};
        for (std::size_t kind = 0; kind < kinds; ++kind)
            if (flow.cost_s[kind] > 0)
                shares[kind] = (flow.spent_s[kind] - place->spent_s[kind]) / flow.cost_s[kind];
        for (const std::int32_t link : place->links) change(link, -1);
        unmark(flow);
        flow.messages.erase(place);
        room_.give(1, message_B);
        flow.messages.empty() ? remove(flow) : mark(flow);
        return shares;
    }

    // The next message that is through, and when; none: infinity. Whatever else happens up to `until_s` is
    // told before the next call.
    std::pair<double, std::int32_t> next(double until_s) {
        if (!is_past(until_s) && !is_past(first().first)) settle(now_s_);
        return first();
    }

  private:
    static constexpr std::int32_t own = 0, first_busy = 3;
    using End = std::pair<double, std::int32_t>;
    using Key = std::vector<std::int32_t>;  // costs, and the groups on the way

    static constexpr double shortest_s = 1e-300;  // so that it can be divided by

    struct Flow;
    struct Message {
        std::int32_t slot, costs;
        double start_s;
        std::vector<std::int32_t> links = {};
        Flow* flow = nullptr;
        double end = 0;        // what its flow has passed when it is through
        OfKinds spent_s = {};  // by its flow, before it
    };
    using Messages = std::list<Message>;
    struct Flow {
        OfKinds cost_s{};
        double since_s = 0;            // until then is known
        double passed = 0;             // what has passed, in messages,
        OfKinds spent_s{};             // and how long the narrowest was of each kind
        double whole_s = shortest_s;   // of a message, as fast as now
        std::int32_t narrowest = own;  // group
        std::uint8_t kind = own_pace;  // and its kind
        double next_s = 0;             // the other groups are no narrower
        const Key* key = nullptr;
        Messages messages = {};
        double end_s = 0, least_s = 0;  // of the first, or sooner; while a message takes at least so long
    };
    struct Group {
        std::uint8_t kind = 0;
        double messages = 0;  // on each of its links
        std::int32_t links = 0;
        std::vector<Flow*> flows = {};  // over them
    };
    struct Place {
        std::int32_t group = own, change = 0;  // of its number of messages, at this instant
        bool is_changed = false;
    };

    Place& at(std::int32_t link) { return links_[static_cast<std::size_t>(link)]; }
    Group& group(std::int32_t number) { return groups_[static_cast<std::size_t>(number)]; }

    // Times that differ by rounding are one instant, at which a link changes once whatever comes and goes.
    static constexpr double rounding = 1e-12;
    bool is_past(double time_s) const { return time_s <= now_s_ * (1 + rounding); }
    bool is_now(double time_s) const { return is_past(time_s) && time_s >= now_s_ * (1 - rounding); }

    // No sooner than alone: a trace under other costs comes to some instants after later ones.
    double end_s(const Message& of) const {
        const Flow& flow = *of.flow;
        const double alone_s = of.start_s + flow.cost_s[flow.kind];
        return std::max(flow.since_s + (of.end - flow.passed) * flow.whole_s, alone_s);
    }

    void change(std::int32_t link, std::int32_t by) {
        at(link).change += by;
        if (!at(link).is_changed) changed_.push_back(link);
        at(link).is_changed = true;
    }

    void unmark(const Flow& flow) { ends_.erase({flow.end_s, flow.messages.front().slot}); }
    // Sooner by a part, so that few changes of pace move it.
    void mark(Flow& flow, double part = 0.25) {
        const double end_s = this->end_s(flow.messages.front());
        flow.end_s = end_s - part * (end_s - flow.since_s);
        flow.least_s = (1 - part) * flow.whole_s;
        ends_.emplace(flow.end_s, flow.messages.front().slot);
    }
    End first() {
        while (!ends_.empty()) {
            room_.look(1);
            const Message& message = *messages_[static_cast<std::size_t>(ends_.begin()->second)];
            if (end_s(message) <= ends_.begin()->first) return *ends_.begin();
            unmark(*message.flow);
            mark(*message.flow, 0);
        }
        return {std::numeric_limits<double>::infinity(), -1};
    }

    void advance(Flow& flow) const {
        const double time_s = std::max(now_s_ - flow.since_s, 0.0);
        flow.passed += time_s / flow.whole_s;
        flow.spent_s[flow.kind] += time_s;
        flow.since_s = std::max(flow.since_s, now_s_);
    }
    // The narrowest on its way sets its pace.
    void pace(Flow& flow) {
        double whole_s = shortest_s;
        flow.narrowest = own;
        flow.next_s = 0;
        room_.look(flow.key->size());
        for (std::size_t i = 0; i < flow.key->size(); ++i) {
            const std::int32_t number = i == 0 ? own : (*flow.key)[i];
            const Group& by = group(number);
            const double this_s = flow.cost_s[by.kind] * by.messages;
            flow.next_s = std::max(flow.next_s, std::min(this_s, whole_s));
            if (this_s <= whole_s) continue;
            whole_s = this_s;
            flow.narrowest = number;
        }
        pace(flow, whole_s, group(flow.narrowest).kind);
    }
    void pace(Flow& flow, double whole_s, std::uint8_t kind) {
        if (whole_s == flow.whole_s && kind == flow.kind) return;
        advance(flow);
        flow.whole_s = whole_s;
        flow.kind = kind;
        if (whole_s >= flow.least_s) return;
        unmark(flow);
        mark(flow);
    }
    // The flows over a group that has other numbers of messages: most need no look at the rest of their way.
    void pace(std::int32_t number) {
        const Group& moved = group(number);
        room_.look(moved.flows.size());
        for (Flow* flow : moved.flows) {
            const double this_s = flow->cost_s[moved.kind] * moved.messages;
            if (flow->narrowest != number && this_s < flow->whole_s)
                flow->next_s = std::max(flow->next_s, this_s);
            else if (flow->narrowest == number && this_s > flow->next_s)
                pace(*flow, this_s, moved.kind);
            else
                pace(*flow);
        }
    }

    // The flow over the groups to which a message's links belong now; a new one goes on like the other.
    Flow& find_flow(const Message& message, const Flow& like) {
        Key key{message.costs};
        room_.look(message.links.size());
        for (const std::int32_t link : message.links) key.push_back(at(link).group);
        std::sort(key.begin() + 1, key.end());
        key.erase(std::unique(key.begin() + 1, key.end()), key.end());
        const auto [known, is_new] = flows_.try_emplace(std::move(key), like);
        Flow& flow = known->second;
        if (!is_new) return flow;
        room_.take(1, flow_B);
        flow.key = &known->first;
        for (std::size_t i = 1; i < flow.key->size(); ++i) group((*flow.key)[i]).flows.push_back(&flow);
        pace(flow);
        return flow;
    }
    void append(Flow& flow, Messages& messages) {
        messages.front().flow = &flow;
        flow.messages.splice(flow.messages.end(), messages, messages.begin());
        if (flow.messages.size() == 1) mark(flow);
    }
    void remove(const Flow& flow) {
        for (std::size_t i = 1; i < flow.key->size(); ++i) {
            std::vector<Flow*>& flows = group((*flow.key)[i]).flows;
            room_.look(flows.size());
            flows.erase(std::find(flows.begin(), flows.end(), &flow));
        }
        room_.give(1, flow_B);
        flows_.erase(flows_.find(*flow.key));
    }

    // What came and went at this instant changes how fast the others are from here on, up to the next.
    void settle(double next_s) {
        const auto is_before = [&](std::int32_t a, std::int32_t b) {
            return std::pair(at(a).group, at(a).change) < std::pair(at(b).group, at(b).change);
        };
        room_.look(changed_.size() + moved_.size());
        std::sort(changed_.begin(), changed_.end(), is_before);
        for (auto begin = changed_.begin(), end = begin; begin != changed_.end(); begin = end) {
            end = std::upper_bound(begin, changed_.end(), *begin, is_before);
            if (at(*begin).change != 0) regroup(begin, end);
        }
        for (const std::int32_t link : changed_) at(link).change = at(link).is_changed = 0;
        changed_.clear();
        while (!entries_.empty()) begin(entries_.front());
        for (const std::int32_t number : moved_) pace(number);
        moved_.clear();
        now_s_ = next_s;
    }

    // Links of one group, each of which has so many messages more, or fewer.
    template <class Iterator>
    void regroup(Iterator begin, Iterator end) {
        const std::int32_t from = at(*begin).group;
        const bool was_idle = from < first_busy;
        const auto links = static_cast<std::int32_t>(end - begin);
        const double messages = group(from).messages + at(*begin).change;
        std::int32_t to = from;
        if (messages == 0) {
            to = 1 + group(from).kind;
        } else if (was_idle || links < group(from).links) {
            if (free_.empty()) {
                free_.push_back(static_cast<std::int32_t>(groups_.size()));
                room_.resize(groups_, groups_.size() + 1);
            }
            to = free_.back();
            free_.pop_back();
            group(to).kind = group(from).kind;
        }
        group(to).messages = messages;
        moved_.push_back(to);
        if (to == from) return;
        for (auto link = begin; link != end; ++link) at(*link).group = to;
        group(to).links += links;
        group(from).links -= links;
        if (was_idle) return;
        // What passed links that are idle now has left its flow.
        if (messages > 0) {
            room_.look(group(from).flows.size());
            for (Flow* flow : std::vector(group(from).flows)) split(*flow);
        }
        if (group(from).links == 0) free_.push_back(from);
    }

    // Some links of a group belong to another now.
    void split(Flow& whole) {
        unmark(whole);
        advance(whole);
        Messages messages;
        messages.swap(whole.messages);
        const Flow rest{whole.cost_s, whole.since_s, whole.passed, whole.spent_s};
        while (!messages.empty()) append(find_flow(messages.front(), rest), messages);
        if (whole.messages.empty()) remove(whole);
    }

    void begin(Message& message) {
        Flow& flow = find_flow(message, {cost_s_[message.costs], now_s_});
        advance(flow);
        message.end = flow.passed + 1 - (flow.since_s - now_s_) / flow.whole_s;
        message.spent_s = flow.spent_s;
        message.spent_s[flow.kind] -= flow.since_s - now_s_;
        append(flow, entries_);
    }

    // In a list, with the links on its way; in a tree and in its groups, with its key.
    static constexpr std::size_t message_B = sizeof(Message) + 48, flow_B = sizeof(Flow) + 256;

    Room& room_;
    double now_s_ = 0;
    std::vector<Messages::iterator> messages_;  // by slot
    Messages entries_;                          // those that come at this instant
    std::map<std::int32_t, OfKinds> cost_s_;
    std::map<Key, Flow> flows_;
    std::set<End> ends_;  // of the first message of each flow
    std::vector<Place> links_;
    std::vector<std::int32_t> changed_;  // links, at this instant
    std::vector<Group> groups_;
    std::vector<std::int32_t> moved_, free_;  // groups
};

}  // namespace hockney
