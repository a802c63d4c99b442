#include "regimes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hockney {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Roughly ln N per two parameters and a break, at the 10 to 30 sizes of a series.
constexpr double regime_price = 4;
// Roughly ln N for the size that it leads to.
constexpr double join_price = 3;
// Less than that of the further regime and the two joins that would meet the size.
constexpr double aside_price = 8;
// Further price of a join to the largest size: one disturbed size there is set aside, two that agree are not.
constexpr double last_price = 6;
// A line without a slope at the largest size: beyond it, the last line is all there is.
constexpr double slopeless_price = 1e9;
// The most regimes that a person can still read. Inside a host memory and library have eight jumps, and
// caches end.
constexpr int most_regimes = 12;
// The ratio of neighbouring sizes up to which the place of a jump between them is known well enough.
constexpr double close = 1.1;
constexpr double sigma_step = 1.5;
// A flat line misses each point by less than this, so that at such a scatter no second regime is earned.
constexpr double most_sigma = 1e3;
// The fewest sizes whose line is believed beyond them: of three, one deviates and the line follows it.
constexpr std::size_t believed_sizes = 4;
// Where both cost the same, up to rounding, a clean break is easier to read.
constexpr double rounding = 1e-9;
// Where the piece of the empty message ends: sizes are whole numbers.
constexpr double empty_B = 0.5;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The geometric mean; half of `high` where `low` is zero.
double middle(double low, double high) { return low > 0 ? std::sqrt(low * high) : high / 2; }

double at(const NonnegativeLine& line, double size_B) { return line.alpha_s + line.beta_s_per_B * size_B; }

// Whether the place of a jump between two sizes is known well enough.
bool is_close(double low_B, double high_B) { return high_B <= close * low_B || high_B - low_B <= 1; }

// Where two lines meet; no number where they do not.
double meeting_B(const NonnegativeLine& left, const NonnegativeLine& right) {
    return (right.alpha_s - left.alpha_s) / (left.beta_s_per_B - right.beta_s_per_B);
}

// The cheapest cut that ends with some stretch: its price, the first point of the stretch before, and whether
// the two are apart (the one before ends at the point before this one begins).
struct Cheapest {
    double price = infinite;
    std::size_t before = 0;
    bool apart = false;
};

// The stretches up to the one that begins at `first` and ends the curve. A pair that shares its ends joins.
std::vector<Stretch> traced(const std::vector<Cheapest>& cheapest, std::size_t first, std::size_t count) {
    std::vector<Stretch> stretches;
    std::size_t last = count - 1;
    for (bool gap_after = false;;) {
        const Cheapest& here = cheapest[first * count + last];
        stretches.push_back({first, last, last == first + 1 && !here.apart && !gap_after});
        if (first == 0) break;
        last = here.apart ? first - 1 : first;
        first = here.before;
        gap_after = here.apart;
    }
    std::reverse(stretches.begin(), stretches.end());
    return stretches;
}

}  // namespace

Regimes::Regimes(TimedSizes points) : points_(std::move(points)), sigma_(least_noise) {
    const std::size_t count = points_.count();
    const std::vector<double>& size_B = points_.size_B;
    stated_.resize(count - 1);
    placed_.resize(count - 1);
    for (std::size_t gap = 0; gap + 1 < count; ++gap) {
        const double low_B = size_B[gap], high_B = size_B[gap + 1];
        stated_[gap] = stated_B(low_B, high_B).has_value();
        placed_[gap] = stated_[gap] || is_close(low_B, high_B);
    }
    regime_.resize(count * count);
    for (std::size_t first = 0; first < count; ++first)
        for (std::size_t last = first + 1; last < count; ++last)
            regime_[place(first, last)] = last - first + 1 >= least_sizes ||
                                          (first > 0 && stated_[first - 1]) ||
                                          (last + 1 < count && stated_[last]);
    const double noise = points_.noise.front();
    empty_may_be_alone_ =
        size_B.front() == 0 && noise > 0 && noise <= std::max(least_noise, median(points_.noise));
    find_lines();
    while (true) {
        set_aside();
        best_ = search();
        const auto regimes = std::count_if(best_.begin(), best_.end(), [](const Stretch& stretch) {
            return !stretch.joins && stretch.first < stretch.last;
        });
        if (regimes <= most_regimes || sigma_ > most_sigma) break;
        sigma_ *= sigma_step;
    }
}

double Regimes::gain(std::size_t first, std::size_t last, std::size_t next_first, std::size_t next_last,
                     double joins) const {
    const double whole = line(first, next_last).cost;
    const double apart = line(first, last).cost + line(next_first, next_last).cost;
    return (whole - apart) / (sigma_ * sigma_) - (first < last ? regime_price : join_price) -
           join_price * joins;
}

std::vector<Piece> Regimes::pieces(const std::vector<Stretch>& stretches) const {
    std::vector<Piece> pieces;
    for (std::size_t number = 0; number < stretches.size(); ++number) {
        const Stretch& stretch = stretches[number];
        StretchLine through = line(stretch);
        if (stretch.joins) through = {join(stretches, number), -1};
        double upper_B = infinite;
        if (number + 1 < stretches.size()) {
            upper_B = end_B(stretch, stretches[number + 1]);
            // The times may fall, or jump. No line meets both ends then, and the larger one is left to what
            // follows.
            const bool misses = stretch.joins && (through.alpha_s == 0 || through.beta_s_per_B == 0);
            if (misses && points_.size_B[stretch.last] - points_.size_B[stretch.first] > 1) upper_B -= 1;
        }
        pieces.push_back({stretch, through.alpha_s, through.beta_s_per_B, upper_B, through.aside});
    }
    return pieces;
}

// From the line of the regime before, or a measured point, to that of the regime after.
NonnegativeLine Regimes::join(const std::vector<Stretch>& stretches, std::size_t number) const {
    const Stretch& here = stretches[number];
    const double low_B = points_.size_B[here.first], high_B = points_.size_B[here.last];
    double low_s = points_.time_s[here.first], high_s = points_.time_s[here.last];
    if (number > 0 && !stretches[number - 1].joins) low_s = at(line(stretches[number - 1]), low_B);
    const bool is_last = number + 1 == stretches.size();
    if (!is_last && !stretches[number + 1].joins) high_s = at(line(stretches[number + 1]), high_B);
    // Times that rise faster than the sizes (a cache that is left) give a line with α < 0, which is
    // interpolation; what goes on beyond the largest size has none. Nor has what is nearly a jump, whose α
    // and β would be differences of large numbers, nor a line that is not positive one byte earlier, where a
    // join that falls leaves it to this one.
    const double beta_s_per_B = (high_s - low_s) / (high_B - low_B), alpha_s = low_s - beta_s_per_B * low_B;
    if (!is_last && 0 < beta_s_per_B && beta_s_per_B < low_s && -alpha_s < high_s)
        return {alpha_s, beta_s_per_B, 0};
    RelativeSums ends(low_B);
    ends.add(low_B, low_s, 1);
    ends.add(high_B, high_s, 1);
    return ends.line();
}

// The size at which one stretch ends and the next begins.
double Regimes::end_B(const Stretch& left, const Stretch& right) const {
    double low_B = points_.size_B[left.last], high_B = points_.size_B[right.first];
    if (left.first == left.last) return empty_B;
    if (left.joins || right.joins) return low_B;
    const bool shared = left.last == right.first;
    if (shared) {
        // No farther than halfway to the next point, so that breaks keep their order.
        low_B = middle(points_.size_B[left.last - 1], low_B);
        high_B = middle(high_B, points_.size_B[right.first + 1]);
    } else if (const std::optional<double> limit_B = stated_B(low_B, high_B);
               limit_B && !falls(left.first, left.last, right.last)) {
        // The message of exactly the limit can be on either side: some libraries count their header.
        return *limit_B == high_B ? *limit_B - 1 : *limit_B;
    }
    const double meet_B = meeting_B(line(left), line(right));
    if (low_B <= meet_B && meet_B <= high_B) return meet_B;
    return shared ? points_.size_B[left.last] : middle(low_B, high_B);
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
    std::vector<double> weight;
    std::vector<bool> is_known;
    for (std::size_t point = 0; point < count; ++point) {
        const double noise = points_.noise[point], share = least_noise / std::max(noise, least_noise);
        weight.push_back(share * share);
        is_known.push_back((noise > 0 && noise <= least_noise) || (point == 0 && empty_may_be_alone_));
    }
    // On the largest size alone no bandwidth rests, however well its visits agree.
    is_known.back() = false;
    whole_.resize(count * count);
    without_.resize(count * count);
    const auto add = [&](RelativeSums& sums, std::size_t point) {
        sums.add(points_.size_B[point], points_.time_s[point], weight[point]);
    };
    for (std::size_t first = 0; first < count; ++first) {
        RelativeSums sums(points_.size_B[first]);
        for (std::size_t left = first; left < count; ++left) {
            if (!is_known[left]) {
                RelativeSums others = sums;
                for (std::size_t last = left; last < count; ++last) {
                    if (last > left) add(others, last);
                    if (last - first < least_sizes) continue;
                    const NonnegativeLine line = others.line();
                    StretchLine& least = without_[place(first, last)];
                    if (line.cost < least.cost) least = {line, static_cast<int>(left)};
                }
            }
            add(sums, left);
            whole_[place(first, left)] = {sums.line(), -1};
        }
    }
}

void Regimes::set_aside() {
    lines_ = whole_;
    for (std::size_t stretch = 0; stretch < lines_.size(); ++stretch) {
        StretchLine without = without_[stretch];
        without.cost += aside_price * (sigma_ * sigma_);
        if (without.cost < lines_[stretch].cost) lines_[stretch] = without;
    }
}

// Of every stretch, infinite where there is none.
std::vector<double> Regimes::prices() const {
    const std::size_t count = points_.count(), end = count - 1;
    std::vector<double> prices(count * count, infinite);
    for (std::size_t first = 0; first < count; ++first)
        for (std::size_t last = first + 1; last < count; ++last) {
            const StretchLine& through = line(first, last);
            const double misfit = through.cost / (sigma_ * sigma_);
            double& price = prices[place(first, last)];
            price = last > first + 1 ? misfit + regime_price : join_price + std::min(misfit, join_price);
            if (last != end) continue;
            if (first + 1 == end) price += last_price;
            if (!(through.beta_s_per_B > 0)) price += slopeless_price;
        }
    return prices;
}

// Whether the lines of first … gap and gap + 1 … last say that times fall at the break that the library
// states there, where the measured times do not, and a line of few sizes is led on to it.
bool Regimes::falls(std::size_t first, std::size_t gap, std::size_t last) const {
    const double low_B = points_.size_B[gap], high_B = points_.size_B[gap + 1];
    if (is_close(low_B, high_B) || points_.time_s[gap] > (1 + least_noise) * points_.time_s[gap + 1])
        return false;
    const double break_B = *stated_B(low_B, high_B);
    const bool left_is_led_on = gap + 1 - first < believed_sizes && low_B < break_B;
    const bool right_is_led_on = last - gap < believed_sizes && break_B < high_B;
    return (left_is_led_on || right_is_led_on) &&
           at(line(first, gap), break_B) > (1 + least_noise) * at(line(gap + 1, last), break_B);
}

// Whether the lines of first … gap and gap + 1 … last meet in between, or may jump there.
bool Regimes::meet(std::size_t first, std::size_t gap, std::size_t last) const {
    if (placed_[gap] && !(stated_[gap] && falls(first, gap, last))) return true;
    const double meet_B = meeting_B(line(first, gap), line(gap + 1, last));
    return points_.size_B[gap] <= meet_B && meet_B <= points_.size_B[gap + 1];
}

std::vector<Stretch> Regimes::search() const {
    const std::size_t count = points_.count();
    if (count <= least_sizes) return {{0, count - 1, false}};
    const std::vector<double> price = prices();
    std::vector<Cheapest> cheapest(count * count);
    for (std::size_t last = 1; last < count; ++last)
        if (regime_[place(0, last)]) cheapest[place(0, last)].price = price[place(0, last)];
    const auto cheaper = [&](std::size_t one, std::size_t other) {
        return cheapest[one].price < cheapest[other].price;
    };
    for (std::size_t first = 1; first + 1 < count; ++first) {
        // What shares the point `first` costs the same whatever follows. A lone pair at the start would be a
        // join from a single size.
        std::size_t nearest = 0;
        for (std::size_t before = 1; before < first; ++before)
            if (cheaper(place(before, first), place(nearest, first))) nearest = before;
        const double shared = first > 1 ? cheapest[place(nearest, first)].price : infinite;
        for (std::size_t last = first + 1; last < count; ++last) {
            double jumped = infinite;
            std::size_t start = 0;
            if (regime_[place(first, last)]) {
                for (std::size_t before = 0; before < first; ++before) {
                    const double over = cheapest[place(before, first - 1)].price;
                    if (over < jumped && regime_[place(before, first - 1)] && meet(before, first - 1, last)) {
                        jumped = over;
                        start = before;
                    }
                }
                if (first == 1 && empty_may_be_alone_) jumped = join_price;
            }
            const double here = price[place(first, last)];
            Cheapest& end = cheapest[place(first, last)];
            const bool apart = jumped + here <= shared + here + rounding;
            end = apart ? Cheapest{jumped + here, start, true} : Cheapest{shared + here, nearest, false};
        }
    }
    std::size_t first = 0;
    for (std::size_t other = 1; other < count; ++other)
        if (cheaper(place(other, count - 1), place(first, count - 1))) first = other;
    return traced(cheapest, first, count);
}

}  // namespace hockney
