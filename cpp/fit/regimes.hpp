// Cut a curve into straight regimes: number and place of the breaks chosen together by dynamic programming.
//
// A regime rests on three sizes or more, or on two beside a break that the library states. Where no regime is
// earned, joins lead from one measured size to the next. The best of all cuts minimises
//
//     Σ ((α + βn − T)/T)² / σ²  +  regime per regime  +  join per join  +  aside per size set aside,
//
// after Bellman (1961, "On the approximation of curves by line segments using dynamic programming") with the
// penalty of an information criterion. A regime of four sizes or more may set one of them aside (between the
// ends, only one whose visits do not agree), and joins to the largest size cost more than others: a single
// disturbed size neither makes a regime nor bends one. The empty message, which many libraries send on a path
// of its own, may stand alone at the price of a join where it is as certain as other sizes.
//
// Neighbouring regimes share a measured point; or their lines meet between two points; or they jump there,
// where the points are close together or the library states the break. A line of two or three sizes
// that is led on to a stated break must not say that times fall there, unless the measured ones do.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lines.hpp"

namespace hockney {

// Time and memory grow as the cube and the square of the points.
constexpr std::size_t most_points = 96;

// The fewest sizes of a regime whose breaks the library does not state.
constexpr std::size_t least_sizes = 3;

// A deviation below this is not worth a regime, however quiet the measurement. A time that is less certain
// weighs (least_noise / noise)².
constexpr double least_noise = 0.02;

// Sizes increase; `noise` is the relative standard error of each time.
struct TimedSizes {
    std::vector<double> size_B, time_s, noise;
    std::optional<double> eager_limit_B;  // what the library says of itself
    std::vector<double> breaks_B;         // increasing: further sizes at which it does something else

    std::size_t count() const { return size_B.size(); }
};

// Points first … last (inclusive) of one regime, or the two between which a join leads. A single point is the
// empty message alone.
struct Stretch {
    std::size_t first, last;
    bool joins;
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
    // The scatter that needs no explanation: more than that of a quiet measurement where the best cut would
    // otherwise have more regimes than a person can read.
    double sigma() const { return sigma_; }
    // The lines of stretches that cover the curve in order, and where they end. Each begins at the last point
    // of the one before, or at the next point; only the first may be a single point.
    std::vector<Piece> pieces(const std::vector<Stretch>& stretches) const;
    // What a break between two regimes saves beyond its cost and that of `joins`, in units of sigma².
    double gain(std::size_t first, std::size_t last, std::size_t next_first, std::size_t next_last,
                double joins) const;

  private:
    std::size_t place(std::size_t first, std::size_t last) const { return first * points_.count() + last; }
    const StretchLine& line(std::size_t first, std::size_t last) const { return lines_[place(first, last)]; }
    const StretchLine& line(const Stretch& stretch) const { return line(stretch.first, stretch.last); }
    void find_lines();
    void set_aside();
    std::vector<double> prices() const;
    bool falls(std::size_t first, std::size_t gap, std::size_t last) const;
    bool meet(std::size_t first, std::size_t gap, std::size_t last) const;
    std::vector<Stretch> search() const;
    NonnegativeLine join(const std::vector<Stretch>& stretches, std::size_t number) const;
    double end_B(const Stretch& left, const Stretch& right) const;
    // A size from `low_B` to `high_B` at which the library states a break. Of several the points beside the
    // gap cannot tell: the eager limit, at which times change most, or else the last.
    std::optional<double> stated_B(double low_B, double high_B) const;

    TimedSizes points_;
    std::vector<bool> stated_,
        placed_;                // by gap: the library states a break there; the place of a jump is known
    std::vector<bool> regime_;  // by stretch: may be one
    bool empty_may_be_alone_ = false;
    std::vector<StretchLine> whole_,
        without_;                     // by stretch: of all its points; of all but the best one to miss
    std::vector<StretchLine> lines_;  // the better one, at the price of setting aside
    double sigma_;
    std::vector<Stretch> best_;
};

}  // namespace hockney
