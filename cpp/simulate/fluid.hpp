// Messages that pass the same links at the same time: each has an equal part of every link on its way and is
// as fast as the narrowest of them lets it be (max-min fairness without what others leave over; the fluid
// model of SimGrid's, Casanova et al. 2014), or as its ends are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "room.hpp"

namespace hockney {

// Of what a message's time on its way is made: how much of it passed at its own pace, and of each kind of
// link the messages that shared it, on average over the rest. time = own · own_s + Σ shared[kind] ·
// cost_s[kind].
struct Shares {
    double own = 0;
    std::array<double, 2> shared{};
};

class Fluid {
  public:
    struct Link {
        std::int32_t link;
        std::uint8_t kind;
        double cost_s;  // of the whole message, alone on that link
    };

    explicit Fluid(Room& room) : room_(room) {}

    void resize(std::size_t links) { room_.resize(on_link_, links); }

    void enter(std::size_t slot, double now_s, double own_s, const std::vector<Link>& links) {
        if (slot >= flows_.size()) room_.resize(flows_, slot + 1);
        Flow& flow = flows_[slot];
        // Again here and in the lists of those under way.
        room_.take(links.size(), sizeof(Link) + sizeof(Visit));
        flow.links = links;
        flow.own_s = own_s;
        flow.last_s = now_s;
        flow.left = 1;
        flow.shares = {};
        for (std::size_t place = 0; place < links.size(); ++place) {
            std::vector<Visit>& here = on_link_[at(links[place])];
            for (const Visit& other : here) narrow(other, static_cast<double>(here.size() + 1), now_s);
            here.push_back({static_cast<std::int32_t>(slot), static_cast<std::int32_t>(place)});
        }
        flow.place = active_.size();
        active_.push_back(static_cast<std::int32_t>(slot));
        ends_s_.push_back(0);
        rate(flow);
    }

    // When the message has passed.
    double leave(std::size_t slot, Shares& shares) {
        Flow& flow = flows_[slot];
        const double now_s = std::max(ends_s_[flow.place], flow.last_s);
        pass(flow, flow.left);
        for (const Link& link : flow.links) {
            std::vector<Visit>& here = on_link_[at(link)];
            *std::find_if(here.begin(), here.end(), [&](const Visit& visit) {
                return visit.slot == static_cast<std::int32_t>(slot);
            }) = here.back();
            here.pop_back();
        }
        // The last of those under way takes its place.
        flows_[static_cast<std::size_t>(active_.back())].place = flow.place;
        active_[flow.place] = active_.back();
        ends_s_[flow.place] = ends_s_.back();
        active_.pop_back();
        ends_s_.pop_back();
        // Faster are those that this one held up.
        for (const Link& link : flow.links) {
            for (const Visit& other : on_link_[at(link)]) {
                Flow& behind = flows_[static_cast<std::size_t>(other.slot)];
                if (behind.narrowest != other.link) continue;
                advance(behind, now_s);
                rate(behind);
            }
        }
        room_.give(flow.links.size(), sizeof(Link) + sizeof(Visit));
        shares = flow.shares;
        return now_s;
    }

    // The next message that is through, and when; none: infinity.
    std::pair<double, std::int32_t> next() const {
        const auto first = std::min_element(ends_s_.begin(), ends_s_.end());
        if (first == ends_s_.end()) return {std::numeric_limits<double>::infinity(), -1};
        return {*first, active_[static_cast<std::size_t>(first - ends_s_.begin())]};
    }

  private:
    struct Flow {
        std::vector<Link> links;
        double own_s = 0, last_s = 0, left = 0;
        double whole_s = 0;           // at the pace of now
        std::int32_t narrowest = -1;  // place in links; -1: its own
        std::size_t place = 0;        // among those under way
        Shares shares;
    };
    // A message on a link, which is so many-th of its links.
    struct Visit {
        std::int32_t slot, link;
    };

    static std::size_t at(const Link& link) { return static_cast<std::size_t>(link.link); }
    double count(const Link& link) const { return static_cast<double>(on_link_[at(link)].size()); }
    void pass(Flow& flow, double part) {
        flow.left -= part;
        if (flow.narrowest < 0) {
            flow.shares.own += part;
            return;
        }
        const Link& link = flow.links[static_cast<std::size_t>(flow.narrowest)];
        flow.shares.shared[link.kind] += part * flow.whole_s / link.cost_s;
    }

    void advance(Flow& flow, double now_s) {
        if (now_s <= flow.last_s) return;
        if (flow.whole_s > 0) pass(flow, std::min(flow.left, (now_s - flow.last_s) / flow.whole_s));
        flow.last_s = now_s;
    }

    // There are now so many messages on the link.
    void narrow(const Visit& visit, double messages, double now_s) {
        Flow& flow = flows_[static_cast<std::size_t>(visit.slot)];
        const double shared_s = flow.links[static_cast<std::size_t>(visit.link)].cost_s * messages;
        if (shared_s <= flow.whole_s) return;
        advance(flow, now_s);
        flow.whole_s = shared_s;
        flow.narrowest = visit.link;
        ends_s_[flow.place] = flow.last_s + flow.left * flow.whole_s;
    }

    void rate(Flow& flow) {
        flow.whole_s = flow.own_s;
        flow.narrowest = -1;
        for (std::size_t i = 0; i < flow.links.size(); ++i) {
            const Link& link = flow.links[i];
            const double shared_s = link.cost_s * count(link);
            if (shared_s <= flow.whole_s) continue;
            flow.whole_s = shared_s;
            flow.narrowest = static_cast<std::int32_t>(i);
        }
        ends_s_[flow.place] = flow.last_s + flow.left * flow.whole_s;
    }

    Room& room_;
    std::vector<Flow> flows_;  // by slot
    std::vector<std::vector<Visit>> on_link_;
    std::vector<std::int32_t> active_;  // slots of the messages under way
    std::vector<double> ends_s_;        // when each of them is through, as it is going
};

}  // namespace hockney
