// A solution that is known after any number of sweeps: a polynomial that the mean of six neighbours leaves as
// it is, plus the slowest mode of the iteration, which each sweep multiplies by the same factor.
//
// With cells numbered 1 to N along x, y, z and walls at 0 and N + 1:
//
//     u = h² (x² + y² − 2 z²) + h³ x y z + factor^sweeps · sin(π x/(Nx+1)) sin(π y/(Ny+1)) sin(π z/(Nz+1))
//
// h = 1/(the largest N + 1). Second differences of the polynomial add up to zero.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "../halo/field.hpp"
#include "../halo/grid.hpp"

namespace hockney {

class Solution {
  public:
    Solution(const ProcessGrid& grid, const Cells& whole);
    // Of the mode, by one sweep.
    double factor() const { return factor_; }
    // Cells and ghosts as they are before the first sweep; rows are written by the thread that sweeps them.
    void start(const Layout& layout, int threads, double* field) const;
    // At a cell of this rank's box, after infinitely many sweeps.
    double limit(long x, long y, long z) const;
    // What the mode adds to it before the first sweep.
    double mode(long x, long y, long z) const;

  private:
    bool is_of_another(long x, long y, long z) const;
    Cells first_, whole_;
    double h_, factor_;
    std::array<std::vector<double>, 3> sines_;  // by the cell's number in the whole
};

// What can be said of a field after a number of sweeps. The same to the last bit for any grid of processes.
struct Check {
    double error = 0;            // the largest distance from the limit
    double deviation = 0;        // the largest distance from what is known after so many sweeps
    double residual = 0;         // the largest change of a cell by the last sweep
    std::uint64_t checksum = 0;  // of all bits and where they are
};

// Collective. `sweeps`: since the start.
Check check(const ProcessGrid& grid, const Layout& layout, const Cells& whole, const Solution& solution,
            long sweeps, const double* field, const double* before);

}  // namespace hockney
