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
    long disturbed_but_counted = 0;              // of these, because too few others are left
};

struct MedianInterval {
    double median_s = 0, low_s = 0, high_s = 0;
    double effective = 0;  // independent samples that would say as much
};

// Between so many standard deviations on either side lie 96 and 99 % of normal values.
constexpr double normal_96 = 2.053749, normal_99 = 2.575829;

// The median of `values` (at least one, in the order of time) and an interval that holds the true one: wider
// by what neighbours have in common, as their signs and the means of batches tell, whichever is more. At 96 %
// it holds the true median 95 times in 100 even if a stopping rule has waited for a narrow one.
MedianInterval median_interval(const std::vector<double>& values, double normal_quantile = normal_96);

inline const std::vector<double> quantile_levels = {0.01, 0.05, 0.25, 0.75, 0.95, 0.99};

// What a disturbance does to a sample. One that is the difference of two times is too short where the second
// was disturbed.
enum class Disturbance { lengthens, either };

// Which samples were disturbed (a preemption, a neighbour that was busy for a while): see statistics.cpp.
std::vector<bool> disturbed(const std::vector<Sample>& samples,
                            Disturbance disturbance = Disturbance::lengthens);

// Summary over the undisturbed samples; `samples` is not empty.
Summary summarise(const std::vector<Sample>& samples, Disturbance disturbance = Disturbance::lengthens);

// Linear interpolation between order statistics of sorted values; 0 ≤ level ≤ 1.
double quantile(const std::vector<double>& sorted, double level);
// Of values in any order.
double median(std::vector<double> values);

}  // namespace hockney
