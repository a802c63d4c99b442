#include "regimes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace hockney {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

constexpr double variance = least_noise * least_noise;
// Roughly ln N per two parameters and a break, at the 10 to 30 sizes of a series.
constexpr double regime_price = 4;
// Less than that of two further regimes, which would meet the size.
constexpr double aside_price = 8;
// A line without a slope at the largest size: beyond it, the last line is all there is.
constexpr double slopeless_price = 1e9;
// Where both cost the same, up to rounding, fewer regimes are easier to read.
constexpr double rounding = 1e-9;

// The geometric mean; half of `high` where `low` is zero.
double middle(double low, double high) { return low > 0 ? std::sqrt(low * high) : high / 2; }

double at(const NonnegativeLine& line, double size_B) { return line.alpha_s + line.beta_s_per_B * size_B; }

// The cheapest cut into so many regimes that ends at some point: its price, and where the last one begins.
struct Cheapest {
    double price = infinite;
    std::size_t first = 0;
};

}  // namespace

Regimes::Regimes(TimedSizes points) : points_(std::move(points)) {
    find_lines();
    best_ = search();
}

double Regimes::gain(std::size_t first, std::size_t last, std::size_t next_last) const {
    const double apart = line(first, last).cost + line(last + 1, next_last).cost;
    return (line(first, next_last).cost - apart) / variance - regime_price;
}

std::vector<Piece> Regimes::pieces(const std::vector<Stretch>& stretches) const {
    std::vector<Piece> pieces;
    for (std::size_t number = 0; number < stretches.size(); ++number) {
        const Stretch& here = stretches[number];
        const StretchLine& through = line(here.first, here.last);
        const bool is_last = number + 1 == stretches.size();
        const double upper_B = is_last ? infinite : end_B(here, stretches[number + 1]);
        pieces.push_back({here, through.alpha_s, through.beta_s_per_B, upper_B, through.aside});
    }
    return pieces;
}

double Regimes::end_B(const Stretch& left, const Stretch& right) const {
    const double low_B = points_.size_B[left.last], high_B = points_.size_B[right.first];
    const StretchLine &before = line(left.first, left.last), &after = line(right.first, right.last);
    const double meet_B = (after.alpha_s - before.alpha_s) / (before.beta_s_per_B - after.beta_s_per_B);
    const bool meet = low_B <= meet_B && meet_B < high_B;
    const std::optional<double> limit_B = stated_B(low_B, high_B);
    // Where lines meet first, led on to a stated break they would say that times fall there.
    if (limit_B && !(meet && at(before, *limit_B) > (1 + least_noise) * at(after, *limit_B)))
        // The message of exactly the limit can be on either side: some libraries count their header.
        return *limit_B == high_B ? *limit_B - 1 : *limit_B;
    return meet ? meet_B : middle(low_B, high_B);
}

std::optional<double> Regimes::stated_B(double low_B, double high_B) const {
    const std::optional<double> limit_B = points_.eager_limit_B;
    if (limit_B && low_B <= *limit_B && *limit_B <= high_B) return limit_B;
    const std::vector<double>& all = points_.breaks_B;
    const auto above = std::upper_bound(all.begin(), all.end(), high_B);
    if (above == all.begin() || *(above - 1) < low_B) return std::nullopt;
    return *(above - 1);
}

void Regimes::find_lines() {
    const std::size_t count = points_.count();
    lines_.resize(count * count);
    const auto add = [&](RelativeSums& sums, std::size_t point) {
        const double share = least_noise / std::max(points_.noise[point], least_noise);
        sums.add(points_.size_B[point], points_.time_s[point], share * share);
    };
    for (std::size_t first = 0; first < count; ++first) {
        RelativeSums sums(points_.size_B[first]);
        for (std::size_t left = first; left < count; ++left) {
            RelativeSums others = sums;
            for (std::size_t last = left + 1; last < count; ++last) {
                add(others, last);
                if (last - first < least_sizes) continue;
                StretchLine without{others.line(), static_cast<int>(left)};
                without.cost += aside_price * variance;
                if (without.cost < line(first, last).cost) lines_[place(first, last)] = without;
            }
            // The largest size: `others` is what comes before it.
            if (left - first >= least_sizes) {
                StretchLine without{sums.line(), static_cast<int>(left)};
                without.cost += aside_price * variance;
                if (without.cost < line(first, left).cost) lines_[place(first, left)] = without;
            }
            add(sums, left);
            const StretchLine whole{sums.line(), -1};
            if (whole.cost <= line(first, left).cost) lines_[place(first, left)] = whole;
        }
    }
}

std::vector<Stretch> Regimes::search() const {
    const std::size_t count = points_.count(), end = count - 1, least = std::min(least_sizes, count);
    // By number of regimes, less one, and by the last point.
    std::vector<std::array<Cheapest, most_regimes>> cheapest(count);
    for (std::size_t last = least - 1; last < count; ++last)
        for (std::size_t first = 0; first + least <= last + 1; ++first) {
            const StretchLine& through = line(first, last);
            double here = through.cost / variance + regime_price;
            if (last == end && !(through.beta_s_per_B > 0)) here += slopeless_price;
            for (std::size_t before = first > 0 ? 1 : 0; before < (first > 0 ? most_regimes : 1); ++before) {
                const double price = here + (first > 0 ? cheapest[first - 1][before - 1].price : 0);
                if (price < cheapest[last][before].price) cheapest[last][before] = {price, first};
            }
        }
    std::size_t regimes = 0;
    for (std::size_t more = 1; more < most_regimes; ++more)
        if (cheapest[end][more].price < cheapest[end][regimes].price - rounding) regimes = more;
    std::vector<Stretch> stretches;
    for (std::size_t last = end;; --regimes) {
        const std::size_t first = cheapest[last][regimes].first;
        stretches.push_back({first, last});
        if (first == 0) break;
        last = first - 1;
    }
    std::reverse(stretches.begin(), stretches.end());
    return stretches;
}

}  // namespace hockney
