#include "stopping.hpp"

#include <algorithm>

namespace hockney {

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
    const Summary summary = summarise(samples);
    // The extremes of fewer than six samples are no 95 % interval.
    return summary.used >= 6 && summary.high_s - summary.low_s < 2 * tolerance * summary.median_s;
}

}  // namespace hockney
