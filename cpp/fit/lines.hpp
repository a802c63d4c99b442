// Lines T(n) = α + βn with α, β ≥ 0 that are nearest to timed messages, in relative residuals (α + βn − T)/T.
#pragma once

#include <limits>

namespace hockney {

struct NonnegativeLine {
    double alpha_s = 0, beta_s_per_B = 0;
    double cost = std::numeric_limits<double>::infinity();  // the sum of weighted squared residuals
};

// What the points of a stretch sum up to. Each stretch has sums of its own: were they differences of one
// running sum, its large terms of small messages would swallow the small ones of large messages.
class RelativeSums {
  public:
    explicit RelativeSums(double first_B) : first_B_(first_B) {}

    void add(double size_B, double time_s, double weight);
    // In closed form: the unconstrained solution where it is physical, else the better one of the two edges.
    NonnegativeLine line() const;

  private:
    double first_B_;  // the first size of the stretch
    double count_ = 0;
    // Of rates 1/T and of n/T, of their squares and of their product.
    double w_ = 0, s_ = 0, ww_ = 0, ws_ = 0, ss_ = 0;
};

}  // namespace hockney
