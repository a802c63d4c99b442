#include "stopping.hpp"

#include <algorithm>

namespace hockney {
namespace {

// A stop at the first narrow interval picks those that are too narrow by chance. So the interval that is
// looked at is of 99 %, two looks in a row must find it narrow, and it must stand on enough independent
// samples: then the final one of 95 % holds the true median as often as it says (tests/cpp/test_coverage.py).
constexpr long least_looks = 2;

// A simulated clock that has come far rounds what it tells apart.
constexpr double equal = 1e-6;

}  // namespace

std::string StoppingRule::reached(const std::vector<Sample>& samples, double elapsed_s) {
    const long n = static_cast<long>(samples.size());
    if (is_interval_narrow(samples, elapsed_s)) return "interval";
    if (elapsed_s >= budget_s && n >= least_in_budget) return "budget";
    return n >= most ? "count" : "";
}

bool StoppingRule::is_interval_narrow(const std::vector<Sample>& samples, double elapsed_s) {
    const long n = static_cast<long>(samples.size());
    // Looking at every sample costs n² log n and finds a lucky moment; looking ever more rarely does neither.
    if (n < std::max(least, next_look_) || elapsed_s < least_s) return false;
    next_look_ = n + n / 4 + 1;
    std::vector<double> values;
    const std::vector<bool> aside = disturbed(samples, disturbance);
    for (std::size_t i = 0; i < samples.size(); ++i)
        if (!aside[i]) values.push_back(samples[i].value_s);
    const MedianInterval interval = median_interval(values, normal_99);
    // Equal times, of a simulation or a coarse clock, need no statistics.
    if (interval.high_s - interval.low_s <= equal * interval.median_s) return tolerance > 0;
    const bool is_narrow = interval.effective >= least_effective &&
                           interval.high_s - interval.low_s < 2 * tolerance * interval.median_s;
    narrow_looks_ = is_narrow ? narrow_looks_ + 1 : 0;
    return narrow_looks_ >= least_looks;
}

}  // namespace hockney
