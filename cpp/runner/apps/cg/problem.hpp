// −Δu = f in a box with u = 0 on its sides, and what u is: u = g(x) g(y) g(z) with g(s) = s (L − s) eˢ, where L is
// the length of the box along that direction. No combination of few eigenvectors, so that the iteration has to
// work for it.
#pragma once

#include <array>
#include <vector>

#include "../halo/grid.hpp"
#include "sweeps.hpp"

namespace hockney::cg {

class Problem {
  public:
    // The spacing is 1 / (most unknowns along any direction + 1), in every direction.
    Problem(int dimensions, const Cells& whole, const ProcessGrid& grid);

    double spacing() const { return spacing_; }
    // h² f of this process's unknowns.
    Separable right_side() const;
    // The largest |x − u| of this process's unknowns.
    double error(const Space& space, const double* x) const;

  private:
    double spacing_;
    std::array<std::vector<double>, 3> value_, curvature_;  // g and −g″ at this process's unknowns
};

}  // namespace hockney::cg
