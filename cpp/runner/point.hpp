// What the measurement of a point shares, between two ranks or among many.
#pragma once

#include <vector>

#include "json.hpp"
#include "request.hpp"
#include "statistics.hpp"
#include "stopping.hpp"

namespace hockney {

// Fewer samples than this have no 95 % interval inside their extremes (1 − 2^(1−n)).
constexpr long least_samples = 6;
constexpr long most_samples = 4000;
// A point that converges at once still spreads its samples over this share of its budget.
constexpr double least_budget_share = 0.2;
// By the request's `tolerance`, `least_samples` and `budget_s`, with at most that many samples.
StoppingRule stopping_rule(const Request& request, long most);
// Of the memory that is free, the share that buffers may take.
constexpr double memory_share = 0.8;

// How often the operating system took the processor away from this rank.
long involuntary_switches();

// Median, interval, quantiles and the samples themselves.
void add_summary(JsonObject& record, const Summary& summary, const std::vector<Sample>& samples);

}  // namespace hockney
