// Robust summary of a stream of samples (Hoefler and Belli, SC15, rules 5, 6 and 8).
#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace hockney {
namespace {

constexpr double z95 = 1.959963984540054;

// A window is long enough for its median to be steady and short beside a scheduler's time slice.
constexpr std::size_t window_samples = 8;
// Levels nearer than this are not told apart from ordinary drift.
constexpr double least_rise = 0.04;

std::vector<double> sorted_values(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values;
}

// By how much the interval grows because neighbouring samples resemble each other: √((1+ρ)/(1−ρ)) with ρ the
// lag-1 correlation of "above or below the median", which needs no moments.
double correlation_inflation(const std::vector<double>& values, double median) {
    double same = 0, pairs = 0;
    int previous = 0;
    for (const double value : values) {
        const int sign = value > median ? 1 : (value < median ? -1 : 0);
        if (sign != 0 && previous != 0) {
            same += sign * previous;
            pairs += 1;
        }
        if (sign != 0) previous = sign;
    }
    const double rho = pairs > 0 ? std::clamp(same / pairs, 0.0, 0.95) : 0.0;
    return std::sqrt((1 + rho) / (1 - rho));
}

}  // namespace

double quantile(const std::vector<double>& sorted, double level) {
    const double position = level * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Disturbances only ever lengthen a sample, so they are looked for on one side:
//  1. a sample during which the system preempted a rank;
//  2. a stretch: a window whose median lies above the level of the quietest quarter of the windows by more
//  than
//     `least_rise` and by more than four times the spread within that quarter (a neighbour busy for a while);
//  3. a single sample four spreads above that limit.
// At least a quarter of the samples always remains: with less there is no quiet level to speak of.
std::vector<bool> disturbed(const std::vector<Sample>& samples) {
    const std::size_t n = samples.size();
    std::vector<bool> out(n, false);
    std::size_t quiet = n;
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = samples[i].preempted;
        if (out[i]) --quiet;
    }
    if (quiet * 4 < n) out.assign(n, false);
    if (n < 4 * window_samples) return out;

    struct Window {
        std::size_t begin, end;
        double median, spread;
    };
    std::vector<Window> windows;
    for (std::size_t begin = 0; begin < n; begin += window_samples) {
        // The last window takes the remainder, so that none is too short for a median.
        const std::size_t end = n - begin < 2 * window_samples ? n : begin + window_samples;
        std::vector<double> values;
        for (std::size_t i = begin; i < end; ++i)
            if (!out[i]) values.push_back(samples[i].value_s);
        if (!values.empty()) {
            values = sorted_values(values);
            windows.push_back(
                {begin, end, quantile(values, 0.5), quantile(values, 0.75) - quantile(values, 0.25)});
        }
        if (end == n) break;
    }
    if (windows.size() < 4) return out;
    std::vector<double> medians, spreads;
    for (const Window& window : windows) medians.push_back(window.median);
    const double quiet_level = quantile(sorted_values(medians), 0.25);
    for (const Window& window : windows)
        if (window.median <= quiet_level) spreads.push_back(window.spread);
    const double spread = quantile(sorted_values(spreads), 0.5);
    const double limit = quiet_level + std::max(4 * spread, least_rise * quiet_level);
    for (const Window& window : windows)
        for (std::size_t i = window.begin; i < window.end; ++i)
            if (window.median > limit || samples[i].value_s > limit + 4 * spread) out[i] = true;
    // With less than a quarter left there is no quiet level to speak of: everything counts.
    if (std::count(out.begin(), out.end(), false) * 4 < static_cast<long>(n)) out.assign(n, false);
    return out;
}

Summary summarise(const std::vector<Sample>& samples) {
    Summary summary;
    const std::vector<bool> aside = disturbed(samples);
    std::vector<double> values;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (aside[i])
            summary.disturbed.push_back(static_cast<long>(i));
        else
            values.push_back(samples[i].value_s);
    }
    const std::vector<double> sorted = sorted_values(values);
    const double n = static_cast<double>(sorted.size());
    summary.used = static_cast<long>(sorted.size());
    summary.median_s = quantile(sorted, 0.5);
    // Order statistics around the median (Le Boudec, Performance Evaluation, theorem 2.1), ranks from 1.
    const double half = z95 * std::sqrt(n) * correlation_inflation(values, summary.median_s) / 2;
    const double low_rank = std::max(1.0, std::floor(n / 2 - half));
    const double high_rank = std::min(n, std::ceil(n / 2 + half) + 1);
    summary.low_s = sorted[static_cast<std::size_t>(low_rank) - 1];
    summary.high_s = sorted[static_cast<std::size_t>(high_rank) - 1];
    for (const double level : quantile_levels) summary.quantiles_s.push_back(quantile(sorted, level));
    return summary;
}

}  // namespace hockney
