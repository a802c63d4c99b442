#include "point.hpp"

#include <sys/resource.h>

#include "clock.hpp"
#include "placement.hpp"

namespace hockney {

long involuntary_switches() {
    if (is_simulated) return 0;
    rusage usage{};
#ifdef RUSAGE_THREAD
    getrusage(RUSAGE_THREAD, &usage);
#else
    getrusage(RUSAGE_SELF, &usage);
#endif
    return usage.ru_nivcsw;
}

StoppingRule stopping_rule(const Request& request, long most) {
    StoppingRule rule;
    rule.tolerance = request.positive("tolerance");
    rule.least = request.whole("least_samples", 1);
    rule.budget_s = request.positive("budget_s");
    rule.least_s = rule.budget_s * least_budget_share;
    rule.least_in_budget = least_samples;
    rule.most = most;
    return rule;
}

void add_summary(JsonObject& record, const Summary& summary, const std::vector<Sample>& samples) {
    JsonObject quantiles;
    for (std::size_t i = 0; i < quantile_levels.size(); ++i)
        quantiles.add(json_number(quantile_levels[i]), summary.quantiles_s[i]);
    std::vector<double> samples_s;
    for (const Sample& sample : samples) samples_s.push_back(sample.value_s);
    record.add("median_s", summary.median_s).add("low_s", summary.low_s).add("high_s", summary.high_s);
    record.raw("quantiles_s", quantiles.str());
    record.add("samples_s", samples_s).add("disturbed_at", summary.disturbed);
    record.add("disturbed_but_counted", summary.disturbed_but_counted);
}

}  // namespace hockney
