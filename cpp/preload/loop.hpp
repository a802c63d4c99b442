// A loop around tests that found nothing: where it tests until there is something, it waits; where it goes on
// without, it computes, and what its tests take is its time, too.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

namespace hockney::trace {

class Loop {
  public:
    // Of the program, with its tests; and what passed with the layer.
    struct Time {
        std::int64_t ns = 0, cpu_ns = 0, passed_ns = 0;
    };

    bool is_empty() const { return tested_.empty(); }
    const Time& all() const { return all_; }
    void add(const void* site, const Time& more) {
        all_ = {all_.ns + more.ns, all_.cpu_ns + more.cpu_ns, all_.passed_ns + more.passed_ns};
        for (Tested& one : tested_)
            if (one.site == site) {
                ++one.times;
                return;
            }
        tested_.push_back({site, all_, 1});
    }
    // Something was there at that site. Returns what was computing: all, or what came before the loop waited.
    Time end(const void* site) {
        Time computing = std::exchange(all_, {});
        bool is_waiting = false;
        for (const Tested& one : tested_)
            if (one.site == site && passed_.count(site) == 0) {
                is_waiting = true;
                computing = one.first;
            }
        for (const Tested& one : tested_)
            if (!is_waiting && one.times > 1) passed_.insert(one.site);
        tested_.clear();
        return computing;
    }

  private:
    struct Tested {
        const void* site;
        Time first;  // up to it
        int times;
    };

    std::vector<Tested> tested_;
    Time all_;
    // Where the program once went on: it waits for nothing there.
    std::unordered_set<const void*> passed_;
};

}  // namespace hockney::trace
