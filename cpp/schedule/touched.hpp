// Which steps of a rank touched a byte of its memories last: what a further step must wait for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <vector>

#include "schedule.hpp"

namespace hockney {

// Who touched a range of a memory last: its writer, and the readers since, of which ranges that were one have
// the earlier ones in common.
struct Touched {
    Bytes end_B = 0;
    int writer = Builder::none;
    std::size_t latest_reader = 0;
};

class TouchedMemories {
  public:
    // The steps that one which reads or writes the region must wait for.
    void before(const Region& region, bool writes, std::vector<int>& steps) {
        ++round_;
        each(region, [&](Touched& range) {
            if (range.writer != Builder::none && !(writes && range.latest_reader))
                steps.push_back(range.writer);
            if (!writes) return;
            // What stands before one that was met has been met.
            for (std::size_t at = range.latest_reader; readers_[at].met < round_; at = readers_[at].earlier) {
                readers_[at].met = round_;
                steps.push_back(readers_[at].step);
                ++visited_;
            }
        });
    }
    void touch(const Region& region, bool writes, int step) {
        each(region, [&](Touched& range) {
            if (writes) {
                range.writer = step;
                range.latest_reader = 0;
            } else {
                readers_.push_back({step, 0, range.latest_reader});
                range.latest_reader = readers_.size() - 1;
            }
        });
        if (!writes || region.length_B == 0) return;
        // One range where several were: all have this writer.
        auto& ranges = of_[static_cast<int>(region.memory)];
        const auto first = ranges.find(region.offset_B);
        ranges.erase(std::next(first), ranges.lower_bound(region.offset_B + region.length_B));
        first->second.end_B = region.offset_B + region.length_B;
    }
    // Ranges and readers that were looked at so far: what all of this costs in time.
    Bytes visited() const { return visited_; }
    Bytes held_B() const {
        // The nodes of a map have four words of their own.
        const std::size_t node_B = sizeof(Ranges::value_type) + 4 * sizeof(void*);
        return static_cast<Bytes>(readers_.capacity() * sizeof(Reader) +
                                  (of_[0].size() + of_[1].size() + of_[2].size()) * node_B);
    }

  private:
    using Ranges = std::map<Bytes, Touched>;
    struct Reader {
        int step;
        std::uint32_t met;
        std::size_t earlier;
    };

    static void cut(Ranges& ranges, Bytes at_B) {
        auto next = ranges.upper_bound(at_B);
        if (next == ranges.begin()) return;
        const auto here = std::prev(next);
        if (here->first == at_B || here->second.end_B <= at_B) return;
        ranges.emplace_hint(next, at_B, here->second);
        here->second.end_B = at_B;
    }
    template <class Visit>
    void each(const Region& region, Visit visit) {
        if (region.length_B == 0) return;
        auto& ranges = of_[static_cast<int>(region.memory)];
        const Bytes end_B = region.offset_B + region.length_B;
        cut(ranges, region.offset_B);
        cut(ranges, end_B);
        Bytes at_B = region.offset_B;
        for (auto next = ranges.lower_bound(at_B); at_B < end_B; ++next) {
            if (next == ranges.end() || next->first > at_B) {
                const Bytes gap_end_B = next == ranges.end() ? end_B : std::min(end_B, next->first);
                next = ranges.emplace_hint(next, at_B, Touched{gap_end_B, Builder::none, 0});
            }
            visit(next->second);
            ++visited_;
            at_B = next->second.end_B;
        }
    }

    Ranges of_[3];
    // The first is nobody.
    std::vector<Reader> readers_{{Builder::none, UINT32_MAX, 0}};
    std::uint32_t round_ = 0;
    Bytes visited_ = 0;
};

}  // namespace hockney
