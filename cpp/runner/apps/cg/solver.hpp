// Conjugate gradients for the problem of problem.hpp, in several formulations that differ in memory traffic
// and in how often ranks wait for each other. Traffic is derived in docs/reference/cg.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../halo/halo.hpp"
#include "problem.hpp"
#include "sweeps.hpp"

namespace hockney::cg {

enum class Variant {
    reference,     // each operation a sweep of its own
    fused,         // p · q with the operator, r · r with the update of r
    joint,         // likewise; x and p updated in one sweep
    single_sweep,  // likewise; that sweep and the operator are one
    pipelined,     // one sum over the ranks in an iteration, not waited for during the operator
};

struct Settings {
    int dimensions;
    Cells whole;
    Variant variant;
    Exchange exchange;
    Faces faces;
    Stores stores;
    double eps;          // ends where r · r ≤ eps² (r · r at the start); 0: after `iterations`
    long iterations;     // at most
    long replace_every;  // r = b − A x where the iteration is a multiple of it; 0: never
    double cell_s;       // charged on a simulated host for each unknown and iteration
    bool computes;       // whether the sweeps are done at all
};

// Where the time of a solve goes on this rank, in seconds.
struct Shares {
    double compute_s = 0, halo_s = 0, sum_s = 0;
};

class Solver {
  public:
    Solver(const Settings& settings, const ProcessGrid& grid);

    // Of the vectors alone, and with the halo's buffers.
    static double vectors_B(const Settings& settings, const ProcessGrid& grid);
    static double memory_B(const Settings& settings, const ProcessGrid& grid);
    // Memory traffic of the variant, replacements left out.
    static double bytes_per_unknown(Variant variant, Stores stores);

    // Collective. Starts from x = 0; returns this rank's seconds from the first residual to the last sweep.
    double solve();
    // Collective: the sweeps of one iteration without neighbours and messages, `times` times over. Returns
    // this rank's seconds for one. x is lost.
    double stream(long times);
    // Collective: ‖b − A x‖₂, by x itself. r is lost.
    double true_residual();
    // Collective: by how much rounding may part the last of `residual_norms` from `true_residual`.
    double residual_tolerance();
    // Collective: the largest |x − u|; infinite where x is not a number.
    double error() const;

    const std::vector<double>& residual_norms() const {
        return norms_;
    }  // ‖r‖₂, the first before any iteration
    long iterations() const { return static_cast<long>(norms_.size()) - 1; }
    bool has_converged() const { return has_converged_; }
    const Shares& shares() const { return shares_; }
    // Memory traffic of the last solve, replacements included, for one unknown and iteration.
    double counted_bytes_per_unknown() const;
    const Space& space() const { return space_; }
    const double* x() const { return x_; }
    double* scratch() { return q_; }  // no iteration needs what it holds
    const Halo& halo() const { return halo_; }

  private:
    template <class Sweep>
    double swept(double bytes_per_unknown, const Sweep& sweep);
    double summed(double mine);
    void exchanged(double* field);
    double applied(double* p, double* q);
    double applied_to_residual();
    double replaced();
    bool goes_on(double square);
    bool replaces(long iteration) const;
    void solve_by_sweeps();
    void solve_in_single_sweeps();
    void solve_pipelined();
    void faces_of_direction(double beta);

    const Settings settings_;
    const ProcessGrid& grid_;
    const Space space_;
    const Sweeps& sweeps_;
    const Problem problem_;
    const double apply_B_;  // traffic of the operator
    std::vector<Vector> vectors_;
    double *x_ = nullptr, *r_ = nullptr, *p_ = nullptr, *q_ = nullptr, *w_ = nullptr, *s_ = nullptr,
           *z_ = nullptr;
    Halo halo_;
    std::vector<double> norms_;
    bool has_converged_ = false;
    Shares shares_;
    double counted_B_ = 0;
};

}  // namespace hockney::cg
