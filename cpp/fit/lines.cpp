#include "lines.hpp"

#include <algorithm>

namespace hockney {
namespace {

// Below this share of its largest value the determinant is rounding: the sizes do not tell α from β.
constexpr double least_determinant = 1e-12;

}  // namespace

void RelativeSums::add(double size_B, double time_s, double weight) {
    const double rate = 1 / time_s, scaled = size_B * rate;
    count_ += weight;
    w_ += weight * rate;
    s_ += weight * scaled;
    ww_ += weight * (rate * rate);
    ws_ += weight * (rate * scaled);
    ss_ += weight * (scaled * scaled);
}

NonnegativeLine RelativeSums::line() const {
    const double determinant = ww_ * ss_ - ws_ * ws_;
    const double alpha = (w_ * ss_ - s_ * ws_) / determinant, beta = (s_ * ww_ - w_ * ws_) / determinant;
    if (determinant > least_determinant * ww_ * ss_ && alpha >= 0 && beta >= 0)
        return {alpha, beta, std::max(count_ - alpha * w_ - beta * s_, 0.0)};
    const double flat = w_ / ww_, flat_cost = count_ - flat * w_;
    // No latency at all is no answer where an empty message was timed.
    if (ss_ > 0 && first_B_ > 0) {
        const double steep = s_ / ss_, steep_cost = count_ - steep * s_;
        if (steep_cost < flat_cost) return {0, steep, std::max(steep_cost, 0.0)};
    }
    return {flat, 0, std::max(flat_cost, 0.0)};
}

}  // namespace hockney
