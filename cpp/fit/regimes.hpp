// Cut a curve into straight regimes: number and place of the breaks chosen together by dynamic programming.
//
// At most `most_regimes` regimes cover the curve, each of three sizes or more. The best of all cuts minimises
//
//     Σ ((α + βn − T)/T)² / σ²  +  regime per regime  +  aside per size set aside,
//
// after Bellman (1961, "On the approximation of curves by line segments using dynamic programming") with the
// penalty of an information criterion. A regime of four sizes or more may set one of them aside, so that a
// single disturbed size, or an empty message on a path of its own, neither makes a regime nor bends one.
//
// A regime ends where the library states a break between its last size and the next one (but where the lines
// meet before it, and so would fall there); or where its line meets that of the next regime; or in the
// middle.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lines.hpp"

namespace hockney {

// Time grows as the cube of the points.
constexpr std::size_t most_points = 96;

// The fewest sizes of a regime, where the curve has as many.
constexpr std::size_t least_sizes = 3;

// The most regimes that a person can still read.
constexpr std::size_t most_regimes = 5;

// σ: a deviation below this is not worth a regime, however quiet the measurement. A time that is less certain
// weighs (least_noise / noise)².
constexpr double least_noise = 0.02;

// Sizes increase; `noise` is the relative standard error of each time.
struct TimedSizes {
    std::vector<double> size_B, time_s, noise;
    std::optional<double> eager_limit_B;  // what the library says of itself
    std::vector<double> breaks_B;         // increasing: further sizes at which it does something else

    std::size_t count() const { return size_B.size(); }
};

// Points first … last (inclusive) of one regime.
struct Stretch {
    std::size_t first, last;
};

// The line through a stretch, and the point that had no say in it: its place, −1 for none.
struct StretchLine : NonnegativeLine {
    int aside = -1;
};

// A stretch with its line, which holds up to and including `upper_B`.
struct Piece {
    Stretch stretch;
    double alpha_s, beta_s_per_B, upper_B;
    int aside;
};

// The best line through every stretch of a curve of 1 to `most_points` points, and the best cut.
class Regimes {
  public:
    explicit Regimes(TimedSizes points);

    const TimedSizes& points() const { return points_; }
    const std::vector<Stretch>& best() const { return best_; }
    // The lines of stretches that cover the curve in order, and where they end.
    std::vector<Piece> pieces(const std::vector<Stretch>& stretches) const;
    // What the break after `last` saves beyond its cost, in units of σ²: first … last and … next_last are the
    // regimes beside it.
    double gain(std::size_t first, std::size_t last, std::size_t next_last) const;

  private:
    std::size_t place(std::size_t first, std::size_t last) const { return first * points_.count() + last; }
    const StretchLine& line(std::size_t first, std::size_t last) const { return lines_[place(first, last)]; }
    void find_lines();
    std::vector<Stretch> search() const;
    double end_B(const Stretch& left, const Stretch& right) const;
    // A size from `low_B` to `high_B` at which the library states a break. Of several the points beside the
    // gap cannot tell: the eager limit, at which times change most, or else the last.
    std::optional<double> stated_B(double low_B, double high_B) const;

    TimedSizes points_;
    std::vector<StretchLine> lines_;  // by stretch
    std::vector<Stretch> best_;
};

}  // namespace hockney
