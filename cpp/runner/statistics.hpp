// Median, nonparametric interval and disturbances of a stream of samples.
#pragma once

#include <vector>

namespace hockney {

struct Sample {
    double value_s;
    bool preempted;  // the operating system took a processor away from one of the ranks during it
};

struct Summary {
    double median_s = 0, low_s = 0, high_s = 0;  // 95 % interval of the median
    std::vector<double> quantiles_s;             // at quantile_levels, of the undisturbed samples
    std::vector<long> disturbed;                 // indices of the samples set aside
    long used = 0;                               // samples behind the median
};

inline const std::vector<double> quantile_levels = {0.01, 0.05, 0.25, 0.75, 0.95, 0.99};

// Which samples were disturbed (a preemption, a neighbour that was busy for a while): see statistics.cpp.
std::vector<bool> disturbed(const std::vector<Sample>& samples);

// Summary over the undisturbed samples; `samples` is not empty.
Summary summarise(const std::vector<Sample>& samples);

// Linear interpolation between order statistics of sorted values; 0 ≤ level ≤ 1.
double quantile(const std::vector<double>& sorted, double level);

}  // namespace hockney
