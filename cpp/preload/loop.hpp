// A loop around tests that found nothing: where it tests until there is something, it waits; where it goes on
// without, it computes, and what its tests take is its time, too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
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
        const auto known = at(site);
        if (known == tested_.end())
            tested_.push_back({site, all_, tests_, 1});
        else
            ++known->tests;
        ++tests_;
    }
    // Something was there at that site. Returns what was computing: all, or what came before the loop waited.
    Time end(const void* site) {
        Time computing = std::exchange(all_, {});
        const auto last = at(site);
        const std::int64_t until = last == tested_.end() ? tests_ : last->before;
        for (const Tested& tested : tested_)
            if (const std::int64_t passed = std::min(tested.tests, until - tested.before); passed > 1)
                missed_[tested.site].passed += passed;
        if (last != tested_.end()) {
            Missed& missed = missed_[site];
            missed.waited += last->tests;
            if (missed.waited > waits * missed.passed) computing = last->first;
        }
        tested_.clear();
        tests_ = 0;
        return computing;
    }

  private:
    struct Tested {
        const void* site;
        Time first;                  // up to it
        std::int64_t before, tests;  // in the loop: of all before its first, and its own
    };
    // Tests of a site that found nothing: until it found something, and until the program went on without.
    struct Missed {
        std::int64_t waited = 0, passed = 0;
    };
    // A program that computes goes on without about as often as not, one that waits hardly ever.
    static constexpr std::int64_t waits = 4;

    std::vector<Tested>::iterator at(const void* site) {
        return std::find_if(tested_.begin(), tested_.end(),
                            [=](const Tested& tested) { return tested.site == site; });
    }

    std::vector<Tested> tested_;
    std::int64_t tests_ = 0;
    Time all_;
    std::unordered_map<const void*, Missed> missed_;
};

}  // namespace hockney::trace
