// Where times come from: each is an earlier one plus a cost, so that a critical path can be followed
// backwards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "cost.hpp"
#include "room.hpp"

namespace hockney {

// When the processor is busy with each step, and for a receive when its data is there; by rank and step.
struct Timeline {
    std::vector<std::vector<double>> start_s, end_s, arrival_s;
    std::vector<double> finish_s;  // by rank
};

// A time, and where it comes from: the critical path is followed backwards from `node`.
struct Plain {
    double s = 0;
};
struct Traced {
    double s = 0;
    std::int32_t node = -1;
};

// Every traced time is an earlier one plus a multiple of a cost, or of another time: `cost` is ~node there.
struct TraceNode {
    std::int32_t before, cost;
    double times;
};

// What a rank does from when until when, and what it belongs to.
struct Moment {
    enum class Kind : std::uint8_t { computes, late, under_way };  // waits for who is late, for a message
    std::int32_t rank;
    std::uint32_t number;
    Kind kind;
    double start_s, end_s;
};
// Of which time moments are kept, and how many at most.
struct Window {
    double from_s = 0, until_s = 0;
    std::size_t most = 0;
};

// What ranks wait for, by the numbers of what their acts belong to: seconds without work, and those of them
// before the other end of the message had come.
// `moments` are those between two times, and no more than `most`.
struct Waits {
    std::vector<double> idle_s, late_s;
    double worked_s = 0;                                  // computing of all ranks
    std::unordered_map<std::uint64_t, double> of_pair_s;  // idle, by rank << 32 | the one it waits for
    Window window;
    std::vector<Moment> moments;

    void add(std::int32_t rank, std::int32_t peer, std::uint32_t number, double now_s, double idle,
             double late) {
        if (number >= idle_s.size()) {
            idle_s.resize(number + 1);
            late_s.resize(number + 1);
        }
        idle_s[number] += idle;
        late_s[number] += late;
        of_pair_s[static_cast<std::uint64_t>(rank) << 32U | static_cast<std::uint32_t>(peer)] += idle;
        see(rank, number, Moment::Kind::late, now_s, now_s + late);
        see(rank, number, Moment::Kind::under_way, now_s + late, now_s + idle);
    }
    void see(std::int32_t rank, std::uint32_t number, Moment::Kind kind, double start_s, double end_s) {
        if (moments.size() >= window.most || start_s >= window.until_s || end_s <= window.from_s) return;
        if (end_s > start_s) moments.push_back({rank, number, kind, start_s, end_s});
    }
};

// Adds costs to times, and remembers of traced ones what was added.
template <class Time>
class Sums {
  public:
    Sums(const Costs& costs, Room& room) : costs_(costs), room_(room) {}

    Time plus(const Time& time, std::size_t cost, double times = 1) {
        const double s = time.s + times * costs_.time_s[cost];
        if constexpr (std::is_same_v<Time, Traced>)
            return {s, add(time.node, static_cast<std::int32_t>(cost), times)};
        else
            return {s};
    }
    // As long after `time` as `until` is after `from`.
    Time shift(const Time& time, const Time& from, const Time& until) {
        const double s = time.s + (until.s - from.s);
        if constexpr (std::is_same_v<Time, Traced>)
            return {s, add(add(time.node, ~until.node, 1), ~from.node, -1)};
        else
            return {s};
    }
    const std::vector<TraceNode>& trace() const { return trace_; }
    // What each sum belongs to from here on.
    void belong(std::uint32_t number) {
        if constexpr (std::is_same_v<Time, Traced>) owner_ = static_cast<std::int32_t>(number);
    }
    const std::vector<std::int32_t>& owners() const { return owners_; }

    // Sums from which no time comes any more are forgotten when there are many: `each` shows all times.
    bool is_crowded() const { return trace_.size() >= most_; }
    template <class Each>
    void forget(const Each& each) {
        std::vector<std::int32_t> place(trace_.size(), none);
        each([&](Time& time) {
            if constexpr (std::is_same_v<Time, Traced>)
                if (time.node >= 0) place[static_cast<std::size_t>(time.node)] = 0;
        });
        const auto need = [&](std::int32_t node) {
            if (node >= 0) place[static_cast<std::size_t>(node)] = 0;
        };
        for (std::size_t i = trace_.size(); i-- > 0;) {
            if (place[i] == none) continue;
            need(trace_[i].before);
            if (trace_[i].cost < 0) need(~trace_[i].cost);
        }
        std::size_t kept = 0;
        for (std::size_t i = 0; i < trace_.size(); ++i) {
            if (place[i] == none) continue;
            place[i] = static_cast<std::int32_t>(kept);
            TraceNode node = trace_[i];
            if (node.before >= 0) node.before = place[static_cast<std::size_t>(node.before)];
            if (node.cost < 0) node.cost = ~place[static_cast<std::size_t>(~node.cost)];
            trace_[kept] = node;
            owners_[kept++] = owners_[i];
        }
        trace_.resize(kept);
        owners_.resize(kept);
        most_ = std::max(least_crowd, 2 * kept);
        each([&](Time& time) {
            if constexpr (std::is_same_v<Time, Traced>)
                if (time.node >= 0) time.node = place[static_cast<std::size_t>(time.node)];
        });
    }

  private:
    static constexpr std::int32_t none = -1;
    static constexpr std::size_t least_crowd = std::size_t{1} << 22U;

    std::int32_t add(std::int32_t before, std::int32_t cost, double times) {
        if (trace_.size() == trace_.capacity()) grow();
        trace_.push_back({before, cost, times});
        if (owner_ != none) {
            room_.reserve_next(owners_);
            owners_.push_back(owner_);
        }
        return static_cast<std::int32_t>(trace_.size() - 1);
    }

    // To a power of two.
    void grow() {
        if (trace_.size() > std::numeric_limits<std::int32_t>::max())
            throw TooLarge("a critical path has more than 2^31 sums\nleave out ranks, or the critical path");
        room_.reserve_next(trace_);
    }

    const Costs& costs_;
    Room& room_;
    std::vector<TraceNode> trace_;
    std::vector<std::int32_t> owners_;
    std::int32_t owner_ = none;
    std::size_t most_ = least_crowd;
};

// Adds what lies on the way back from each seed; a node's own weight is passed on to the one before it.
inline void trace_back(const std::vector<TraceNode>& trace, std::vector<double>& weight,
                       std::vector<double>& counts) {
    for (std::size_t i = trace.size(); i-- > 0;) {
        if (weight[i] == 0) continue;
        const std::int32_t cost = trace[i].cost;
        (cost < 0 ? weight[static_cast<std::size_t>(~cost)] : counts[static_cast<std::size_t>(cost)]) +=
            weight[i] * trace[i].times;
        if (trace[i].before >= 0) weight[static_cast<std::size_t>(trace[i].before)] += weight[i];
    }
}

}  // namespace hockney
