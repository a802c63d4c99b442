// Which steps of a rank touched a byte of its memories last: what a further step must wait for.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "schedule.hpp"

namespace hockney {

// Who touched a range of a memory last: its writer, and the readers since.
struct Touched {
    Bytes end_B = 0;
    int writer = Builder::none;
    std::vector<int> readers;
};

class TouchedMemories {
  public:
    // The steps that one which reads or writes the region must wait for.
    void before(const Region& region, bool writes, std::vector<int>& steps) {
        each(region, [&](Touched& range) {
            if (writes && !range.readers.empty())
                steps.insert(steps.end(), range.readers.begin(), range.readers.end());
            else if (range.writer != Builder::none)
                steps.push_back(range.writer);
        });
    }
    void touch(const Region& region, bool writes, int step) {
        each(region, [&](Touched& range) {
            if (writes) {
                range.writer = step;
                range.readers.clear();
            } else {
                range.readers.push_back(step);
            }
        });
        if (!writes || region.length_B == 0) return;
        // One range where several were: all have this writer.
        auto& ranges = of_[static_cast<int>(region.memory)];
        const auto first = ranges.find(region.offset_B);
        ranges.erase(std::next(first), ranges.lower_bound(region.offset_B + region.length_B));
        first->second.end_B = region.offset_B + region.length_B;
    }

  private:
    using Ranges = std::map<Bytes, Touched>;

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
                next = ranges.emplace_hint(next, at_B, Touched{gap_end_B, Builder::none, {}});
            }
            visit(next->second);
            at_B = next->second.end_B;
        }
    }

    Ranges of_[3];
};

}  // namespace hockney
