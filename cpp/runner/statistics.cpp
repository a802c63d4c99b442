// Robust summary of a stream of samples (Hoefler and Belli, SC15, rules 5, 6 and 8).
#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace hockney {
namespace {

// A window is long enough for its median to be steady and short beside a scheduler's time slice.
constexpr std::size_t window_samples = 8;
// Fewer windows than this show no stretch that stands out.
constexpr std::size_t least_windows = 8;
// A stretch lies above the quiet windows by this share of their level, and by so many of their spreads, and
// this share of the way from one to the other is empty: correlated samples wander all the way.
constexpr double least_rise = 0.04, separation = 8, valley = 0.6;
// Of windows or samples: with fewer left there is no quiet level to speak of.
constexpr std::size_t least_quiet = 4;
// Caches that a preemption has left cold warm up from sample to sample by more than this share.
constexpr double least_fall = 0.03;
// Below so many standard deviations lie 95 % of normal values.
constexpr double normal_95 = 1.644854;

// Batch means need batches longer than the memory of the stream, and enough of them for a variance.
constexpr double least_batch = 10;
constexpr long least_batches = 5, most_batches = 20;
// How far the correlation of n neighbours is underestimated, in units of (1 + 3ρ)/n: chosen by simulation.
constexpr double correlation_bias = 1.5;

// The spread of a normal distribution in units of the distance between its quartiles.
constexpr double spread_of_quartiles = 1 / 1.349;

std::vector<double> sorted_values(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values;
}

// Student's t where the normal quantile is z (Abramowitz and Stegun, 26.7.5); within 1 % from 4 degrees on.
double student(double z, double freedom) {
    const double g1 = (std::pow(z, 3) + z) / 4;
    const double g2 = (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / 96;
    const double g3 = (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * std::pow(z, 3) - 15 * z) / 384;
    return z + g1 / freedom + g2 / std::pow(freedom, 2) + g3 / std::pow(freedom, 3);
}

// By how much the variance of "below the median", counted over all values, grows because neighbours resemble
// each other: 1 + 2 Σ ρ_k of that sign, for a process that remembers only its last value. Its own correlation
// ρ follows from that of the signs, which needs no moments: ρ_sign = (2/π) asin ρ.
double sign_inflation(const std::vector<double>& values, double median) {
    const double n = static_cast<double>(values.size());
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
    constexpr double half_pi = 1.5707963267948966, least = 1e-4;
    double rho = pairs > 0 ? std::sin(half_pi * same / pairs) : 0;
    rho = std::clamp(rho + correlation_bias * (1 + 3 * std::max(rho, 0.0)) / n, 0.0, 0.995);
    double inflation = 1, power = rho;
    for (double lag = 1; lag < n && power > least; ++lag, power *= rho)
        inflation += 2 * (1 - lag / n) * std::asin(power) / half_pi;
    return inflation;
}

// The same from the variance between the means of `batches`, whatever the process remembers.
double batch_inflation(const std::vector<double>& values, double median, std::size_t batches) {
    const std::size_t length = values.size() / batches, first = values.size() - length * batches;
    double sum = 0, squares = 0;
    for (std::size_t batch = 0; batch < batches; ++batch) {
        double below = 0;
        for (std::size_t i = 0; i < length; ++i) {
            const double value = values[first + batch * length + i];
            below += value < median ? 1 : (value > median ? 0 : 0.5);
        }
        const double mean = below / static_cast<double>(length);
        sum += mean;
        squares += mean * mean;
    }
    const double count = static_cast<double>(batches);
    // The variance of one sign is 1/4.
    return 4 * static_cast<double>(length) * std::max(0.0, squares - sum * sum / count) / (count - 1);
}

bool has_too_few(const std::vector<bool>& out) {
    return static_cast<std::size_t>(std::count(out.begin(), out.end(), false)) * least_quiet < out.size();
}

// Whether samples right after a preempted one take longer than the others: Mann and Whitney (Annals of
// Mathematical Statistics 18, 1947), one-sided at 5 %.
bool is_cold_after(const std::vector<Sample>& samples, const std::vector<bool>& preempted) {
    std::vector<double> after, others;
    for (std::size_t i = 0; i < samples.size(); ++i)
        if (!preempted[i]) (i > 0 && preempted[i - 1] ? after : others).push_back(samples[i].value_s);
    std::sort(others.begin(), others.end());
    double longer = 0;
    for (const double value : after) {
        const auto [first, last] = std::equal_range(others.begin(), others.end(), value);
        longer += static_cast<double>((first - others.begin()) + (last - others.begin())) / 2;
    }
    const double n = static_cast<double>(after.size()), m = static_cast<double>(others.size());
    return n * m > 0 && longer - n * m / 2 > normal_95 * std::sqrt(n * m * (n + m + 1) / 12);
}

// Those that were preempted, and the samples after them as long as they fall; only the former where caches
// need no time to warm up, or too few were left.
std::vector<bool> with_cold(const std::vector<Sample>& samples, const std::vector<bool>& preempted) {
    if (!is_cold_after(samples, preempted)) return preempted;
    std::vector<bool> out = preempted;
    for (std::size_t i = 1; i + 1 < samples.size(); ++i) {
        const bool falls = samples[i].value_s > (1 + least_fall) * samples[i + 1].value_s;
        if (out[i - 1] && !preempted[i + 1] && falls) out[i] = true;
    }
    return has_too_few(out) ? preempted : out;
}

// Above which medians of windows, sorted, stand apart from the quietest ones; infinity where none do.
double stretch_limit(const std::vector<double>& medians) {
    const std::size_t count = medians.size();
    double limit = HUGE_VAL, widest = 0;
    for (std::size_t low = std::max<std::size_t>(count / least_quiet, 2); low < count; ++low) {
        const std::vector<double> quiet(medians.begin(), medians.begin() + static_cast<long>(low));
        const std::vector<double> busy(medians.begin() + static_cast<long>(low), medians.end());
        const double level = quantile(quiet, 0.5), distance = quantile(busy, 0.5) - level;
        const double spread = (quantile(quiet, 0.75) - quantile(quiet, 0.25)) * spread_of_quartiles;
        // From quartile to quartile: windows at the edge of a stretch are half of it.
        const double empty = quantile(busy, 0.25) - quantile(quiet, 0.75), gap = busy.front() - quiet.back();
        if (distance < least_rise * std::abs(level) || distance < separation * spread) continue;
        if (empty < valley * distance || gap <= widest) continue;
        widest = gap;
        limit = quiet.back();
    }
    return limit;
}

}  // namespace

MedianInterval median_interval(const std::vector<double>& values, double normal_quantile) {
    const std::vector<double> sorted = sorted_values(values);
    const double n = static_cast<double>(sorted.size());
    MedianInterval interval;
    interval.median_s = quantile(sorted, 0.5);
    const double inflation = sign_inflation(values, interval.median_s);
    interval.effective = n / inflation;
    double half = student(normal_quantile, std::max(4.0, std::floor(interval.effective) - 1)) *
                  std::sqrt(n * inflation) / 2;
    if (n >= least_batch * static_cast<double>(least_batches)) {
        const auto batches = std::min(most_batches, static_cast<long>(n / least_batch));
        const double between = batch_inflation(values, interval.median_s, static_cast<std::size_t>(batches));
        half = std::max(
            half, student(normal_quantile, static_cast<double>(batches - 1)) * std::sqrt(n * between) / 2);
    }
    // Order statistics around the median (Le Boudec, Performance Evaluation, theorem 2.1), ranks from 1.
    const double low_rank = std::max(1.0, std::floor(n / 2 - half));
    const double high_rank = std::min(n, std::ceil(n / 2 + half) + 1);
    interval.low_s = sorted[static_cast<std::size_t>(low_rank) - 1];
    interval.high_s = sorted[static_cast<std::size_t>(high_rank) - 1];
    return interval;
}

double quantile(const std::vector<double>& sorted, double level) {
    const double position = level * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values) { return quantile(sorted_values(std::move(values)), 0.5); }

// Set aside are
//  1. a sample during which the system preempted a rank;
// and, where disturbances lengthen,
//  2. the samples after it while they fall: the caches are cold;
//  3. a stretch (a neighbour busy for a while): windows whose medians stand apart from the quietest ones.
// A single long sample stays: it does not move a median, and the median without it would be another.
std::vector<bool> disturbed(const std::vector<Sample>& samples, Disturbance disturbance) {
    const std::size_t n = samples.size();
    std::vector<bool> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = samples[i].preempted;
    if (disturbance == Disturbance::lengthens) out = with_cold(samples, out);
    if (has_too_few(out)) out.assign(n, false);
    if (disturbance == Disturbance::either) return out;

    struct Window {
        std::size_t begin, end;
        double median;
    };
    std::vector<Window> windows;
    std::vector<double> medians;
    for (std::size_t begin = 0; begin + window_samples <= n;) {
        // The last window takes the remainder, so that none is too short for a median.
        const std::size_t end = n - begin < 2 * window_samples ? n : begin + window_samples;
        std::vector<double> values;
        for (std::size_t i = begin; i < end; ++i)
            if (!out[i]) values.push_back(samples[i].value_s);
        if (!values.empty()) {
            windows.push_back({begin, end, quantile(sorted_values(values), 0.5)});
            medians.push_back(windows.back().median);
        }
        begin = end;
    }
    if (windows.size() < least_windows) return out;
    const double limit = stretch_limit(sorted_values(medians));
    for (const Window& window : windows)
        for (std::size_t i = window.begin; i < window.end; ++i)
            if (window.median > limit) out[i] = true;
    if (has_too_few(out)) out.assign(n, false);
    return out;
}

Summary summarise(const std::vector<Sample>& samples, Disturbance disturbance) {
    Summary summary;
    const std::vector<bool> aside = disturbed(samples, disturbance);
    std::vector<double> values;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (aside[i])
            summary.disturbed.push_back(static_cast<long>(i));
        else
            values.push_back(samples[i].value_s);
    }
    const std::vector<double> sorted = sorted_values(values);
    summary.used = static_cast<long>(sorted.size());
    if (summary.disturbed.empty())
        summary.disturbed_but_counted =
            std::count_if(samples.begin(), samples.end(), [](const Sample& s) { return s.preempted; });
    const MedianInterval interval = median_interval(values);
    summary.median_s = interval.median_s;
    summary.low_s = interval.low_s;
    summary.high_s = interval.high_s;
    for (const double level : quantile_levels) summary.quantiles_s.push_back(quantile(sorted, level));
    return summary;
}

}  // namespace hockney
