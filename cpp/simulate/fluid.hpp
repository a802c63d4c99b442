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

    void resize(std::size_t links) { on_link_.resize(links); }

    void enter(std::size_t slot, double now_s, double own_s, const std::vector<Link>& links) {
        if (slot >= flows_.size()) flows_.resize(slot + 1);
        Flow& flow = flows_[slot];
        flow.links = links;
        flow.own_s = own_s;
        flow.last_s = now_s;
        flow.left = 1;
        flow.shares = {};
        for (const Link& link : links) {
            std::vector<std::int32_t>& here = on_link_[at(link)];
            here.push_back(static_cast<std::int32_t>(slot));
            for (const std::int32_t other : here)
                narrow(flows_[static_cast<std::size_t>(other)], link.link, now_s);
        }
        active_.push_back(static_cast<std::int32_t>(slot));
        rate(flow);
    }

    // When the message has passed.
    double leave(std::size_t slot, Shares& shares) {
        Flow& flow = flows_[slot];
        const double now_s = std::max(flow.end_s, flow.last_s);
        pass(flow, flow.left);
        for (const Link& link : flow.links) remove(on_link_[at(link)], slot);
        remove(active_, slot);
        // Faster are those that this one held up.
        for (const Link& link : flow.links) {
            for (const std::int32_t other : on_link_[at(link)]) {
                Flow& behind = flows_[static_cast<std::size_t>(other)];
                if (behind.narrowest < 0 || behind.narrowest_link() != link.link) continue;
                advance(behind, now_s);
                rate(behind);
            }
        }
        shares = flow.shares;
        return now_s;
    }

    // The next message that is through, and when; none: infinity.
    std::pair<double, std::int32_t> next() const {
        std::pair<double, std::int32_t> first{std::numeric_limits<double>::infinity(), -1};
        for (const std::int32_t slot : active_)
            if (const double end_s = flows_[static_cast<std::size_t>(slot)].end_s; end_s < first.first)
                first = {end_s, slot};
        return first;
    }

  private:
    struct Flow {
        std::vector<Link> links;
        double own_s = 0, last_s = 0, end_s = 0, left = 0;
        double whole_s = 0;  // at the pace of now
        int narrowest = -1;  // place in links; -1: its own
        Shares shares;

        std::int32_t narrowest_link() const { return links[static_cast<std::size_t>(narrowest)].link; }
    };

    static std::size_t at(const Link& link) { return static_cast<std::size_t>(link.link); }
    double count(const Link& link) const { return static_cast<double>(on_link_[at(link)].size()); }
    static void remove(std::vector<std::int32_t>& from, std::size_t slot) {
        const auto here = std::find(from.begin(), from.end(), static_cast<std::int32_t>(slot));
        *here = from.back();
        from.pop_back();
    }

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

    // One more message is on the link.
    void narrow(Flow& flow, std::int32_t link, double now_s) {
        for (std::size_t i = 0; i < flow.links.size(); ++i) {
            if (flow.links[i].link != link) continue;
            const double shared_s = flow.links[i].cost_s * count(flow.links[i]);
            if (shared_s <= flow.whole_s) return;
            advance(flow, now_s);
            flow.whole_s = shared_s;
            flow.narrowest = static_cast<int>(i);
            flow.end_s = flow.last_s + flow.left * flow.whole_s;
            return;
        }
    }

    void rate(Flow& flow) {
        flow.whole_s = flow.own_s;
        flow.narrowest = -1;
        for (std::size_t i = 0; i < flow.links.size(); ++i) {
            const Link& link = flow.links[i];
            const double shared_s = link.cost_s * count(link);
            if (shared_s <= flow.whole_s) continue;
            flow.whole_s = shared_s;
            flow.narrowest = static_cast<int>(i);
        }
        flow.end_s = flow.last_s + flow.left * flow.whole_s;
    }

    std::vector<Flow> flows_;  // by slot
    std::vector<std::vector<std::int32_t>> on_link_;
    std::vector<std::int32_t> active_;
};

}  // namespace hockney
