#include "solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../../clock.hpp"
#include "../app.hpp"

namespace hockney::cg {
namespace {

// Bytes that a sweep moves for each unknown: 8 for a vector read, 8 for one written, and 8 more where a line
// is read only because it is about to be overwritten.
constexpr double dot_B = 16, square_B = 8, update_B = 24, joint_B = 40, pipelined_B = 104, residual_B = 24;

double apply_traffic_B(Stores stores) { return stores == Stores::streaming ? 16 : 24; }

std::size_t vectors_of(const Settings& settings) {
    if (!settings.computes) return 0;
    return settings.variant == Variant::pipelined ? 7 : 4;
}

std::vector<Vector> vectors(const Settings& settings, const Space& space) {
    std::vector<Vector> made;
    for (std::size_t n = 0; n < vectors_of(settings); ++n) made.emplace_back(space, static_cast<int>(n));
    return made;
}

}  // namespace

double Solver::vectors_B(const Settings& settings, const ProcessGrid& grid) {
    return static_cast<double>(vectors_of(settings)) * Vector::bytes(Space(settings.dimensions, grid.cells));
}

double Solver::memory_B(const Settings& settings, const ProcessGrid& grid) {
    return vectors_B(settings, grid) + Halo::buffers_B(grid, settings.faces);
}

double Solver::bytes_per_unknown(Variant variant, Stores stores) {
    const double apply_B = apply_traffic_B(stores);
    switch (variant) {
        case Variant::reference:
            return apply_B + dot_B + update_B + update_B + square_B + update_B;
        case Variant::fused:
            return apply_B + update_B + update_B + update_B;
        case Variant::joint:
            return apply_B + update_B + joint_B;
        // p is read once for its update and for the operator.
        case Variant::single_sweep:
            return joint_B + apply_B - 8 + update_B;
        case Variant::pipelined:
            return apply_B + pipelined_B;
    }
    return 0;
}

Solver::Solver(const Settings& settings, const ProcessGrid& grid)
    : settings_(settings),
      grid_(grid),
      space_(settings.dimensions, grid.cells),
      sweeps_(sweeps()),
      problem_(settings.dimensions, settings.whole, grid),
      apply_B_(apply_traffic_B(settings.stores)),
      vectors_(vectors(settings, space_)),
      halo_(grid, space_, settings.exchange, settings.faces, [this] {
          std::vector<double*> fields;
          for (const Vector& vector : vectors_) fields.push_back(vector.data());
          return fields;
      }()) {
    double** const names[] = {&x_, &r_, &p_, &q_, &w_, &s_, &z_};
    for (std::size_t n = 0; n < vectors_.size(); ++n) *names[n] = vectors_[n].data();
}

// A sweep over all unknowns of this process.
template <class Sweep>
double Solver::swept(double bytes_per_unknown, const Sweep& sweep) {
    const double start_s = now_s();
    // Without sweeps all products are 1, which neither ends an iteration nor divides by zero.
    const double product = settings_.computes ? sweep() : 1.0;
    counted_B_ += bytes_per_unknown;
    const double share = bytes_per_unknown / Solver::bytes_per_unknown(settings_.variant, settings_.stores);
    compute_simulated(settings_.cell_s * space_.unknowns() * share);
    shares_.compute_s += now_s() - start_s;
    return product;
}

double Solver::summed(double mine) {
    const double start_s = now_s();
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, grid_.comm);
    shares_.sum_s += now_s() - start_s;
    return all;
}

void Solver::exchanged(double* field) {
    const double start_s = now_s();
    halo_.start(field);
    halo_.finish(field);
    shares_.halo_s += now_s() - start_s;
}

// q = A p with the halo of p; p · q. While an overlapping halo travels, all that does not
// need it is computed.
double Solver::applied(double* p, double* q) {
    const auto part = [&](const Cuboid& box) {
        return sweeps_.apply_dot(space_, box, p, q, settings_.stores);
    };
    if (settings_.exchange != Exchange::overlap) {
        exchanged(p);
        return swept(apply_B_, [&] { return part(whole(space_)); });
    }
    std::vector<Cuboid> layers;
    const Cuboid inner = grid_.inner(layers);
    const double start_s = now_s();
    halo_.start(p);
    shares_.halo_s += now_s() - start_s;
    const double inside = inner.cells() / space_.unknowns();
    double product = swept(inside * apply_B_, [&] { return part(inner); });
    const double travelled_s = now_s();
    halo_.finish(p);
    shares_.halo_s += now_s() - travelled_s;
    product += swept((1 - inside) * apply_B_, [&] {
        double more = 0;
        for (const Cuboid& layer : layers) more += part(layer);
        return more;
    });
    return settings_.computes ? product : 1.0;
}

// r = b − A x; this process's part of r · r.
double Solver::replaced() {
    exchanged(x_);
    return swept(residual_B,
                 [&] { return sweeps_.residual_dot(space_, whole(space_), problem_.right_side(), x_, r_); });
}

// Notes r · r and says whether another iteration follows: on all ranks alike, since all have the same sum.
// MPI only recommends that. Open MPI, MPICH and SimGrid add up one number by trees, whose root tells the
// others, or by recursive doubling, where two partners add the same two numbers, and a + b is b + a to the
// last bit.
bool Solver::goes_on(double square) {
    norms_.push_back(std::sqrt(square));
    // At zero nothing is left to be divided by.
    has_converged_ = norms_.back() <= settings_.eps * norms_.front();
    return !has_converged_ && square > 0 && iterations() < settings_.iterations;
}

bool Solver::replaces(long iteration) const {
    return settings_.replace_every > 0 && iteration % settings_.replace_every == 0;
}

double Solver::solve() {
    for (const Vector& vector : vectors_) vector.clear(space_);
    norms_.clear();
    shares_ = {};
    counted_B_ = 0;
    MPI_Barrier(grid_.comm);
    const double start_s = now_s();
    switch (settings_.variant) {
        case Variant::single_sweep:
            solve_in_single_sweeps();
            break;
        case Variant::pipelined:
            solve_pipelined();
            break;
        default:
            solve_by_sweeps();
    }
    return now_s() - start_s;
}

void Solver::solve_by_sweeps() {
    const bool is_fused = settings_.variant != Variant::reference,
               is_joint = settings_.variant == Variant::joint;
    const Cuboid all = whole(space_);
    double square = summed(replaced()), beta = 0;
    if (!goes_on(square)) return;
    swept(update_B, [&] { return sweeps_.direction(space_, all, r_, 0, p_), 0.0; });
    for (long iteration = 0;; ++iteration) {
        double product = applied(p_, q_);
        if (!is_fused) product = swept(dot_B, [&] { return sweeps_.dot(space_, all, p_, q_); });
        const double alpha = square / summed(product);
        const bool is_replaced = replaces(iteration);
        const bool waits = is_joint && !is_replaced;  // x is updated together with p
        if (!waits) swept(update_B, [&] { return sweeps_.add(space_, all, alpha, p_, x_), 0.0; });
        double next = 0;
        if (is_replaced) {
            next = replaced();
        } else if (is_fused) {
            next = swept(update_B, [&] { return sweeps_.add_dot(space_, all, -alpha, q_, r_); });
        } else {
            swept(update_B, [&] { return sweeps_.add(space_, all, -alpha, q_, r_), 0.0; });
            next = swept(square_B, [&] { return sweeps_.dot(space_, all, r_, r_); });
        }
        next = summed(next);
        beta = next / square;
        square = next;
        if (!goes_on(square)) {
            if (waits) swept(update_B, [&] { return sweeps_.add(space_, all, alpha, p_, x_), 0.0; });
            return;
        }
        if (waits)
            swept(joint_B, [&] { return sweeps_.joint(space_, all, alpha, beta, r_, p_, x_), 0.0; });
        else
            swept(update_B, [&] { return sweeps_.direction(space_, all, r_, beta, p_), 0.0; });
    }
}

// The neighbours' p beside this process's unknowns, from their r, as they compute it themselves.
void Solver::faces_of_direction(double beta) {
    for (std::size_t d = 0; d < 3; ++d)
        for (const int side : {0, 1}) {
            if (!grid_.has_neighbour(static_cast<int>(d), side)) continue;
            Cuboid layer = whole(space_);
            layer.from[d] = side == 0 ? -1 : layer.to[d];
            layer.to[d] = layer.from[d] + 1;
            sweeps_.direction(space_, layer, r_, beta, p_);
        }
}

void Solver::solve_in_single_sweeps() {
    const Cuboid all = whole(space_);
    double square = summed(replaced()), beta = 0, alpha_before = 0;
    if (!goes_on(square)) return;
    exchanged(r_);
    for (long iteration = 0;; ++iteration) {
        const double product = swept(joint_B + apply_B_ - 8, [&] {
            faces_of_direction(beta);
            return sweeps_.single_dot(space_, alpha_before, beta, r_, p_, x_, q_, settings_.stores);
        });
        const double alpha = square / summed(product);
        double next = 0;
        if (replaces(iteration)) {
            swept(update_B, [&] { return sweeps_.add(space_, all, alpha, p_, x_), 0.0; });
            alpha_before = 0;
            next = replaced();
        } else {
            alpha_before = alpha;
            next = swept(update_B, [&] { return sweeps_.add_dot(space_, all, -alpha, q_, r_); });
        }
        // The halo of r may travel while the ranks wait for the sum.
        const bool is_overlapped = settings_.exchange == Exchange::overlap;
        const double start_s = now_s();
        halo_.start(r_);
        if (!is_overlapped) halo_.finish(r_);
        shares_.halo_s += now_s() - start_s;
        next = summed(next);
        const double summed_s = now_s();
        if (is_overlapped) halo_.finish(r_);
        shares_.halo_s += now_s() - summed_s;
        beta = next / square;
        square = next;
        if (!goes_on(square)) break;
    }
    if (alpha_before != 0)
        swept(update_B, [&] { return sweeps_.add(space_, all, alpha_before, p_, x_), 0.0; });
}

void Solver::solve_pipelined() {
    const Cuboid all = whole(space_);
    double dots[2] = {replaced(), 0};
    dots[1] = applied_to_residual();
    double before = 0, alpha = 0;
    for (long iteration = 0;; ++iteration) {
        double sums[2] = {0, 0};
        MPI_Request request;
        const double start_s = now_s();
        MPI_Iallreduce(dots, sums, 2, MPI_DOUBLE, MPI_SUM, grid_.comm, &request);
        shares_.sum_s += now_s() - start_s;
        applied(w_, q_);
        const double wait_s = now_s();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        shares_.sum_s += now_s() - wait_s;
        if (!goes_on(sums[0])) return;
        const double beta = iteration == 0 ? 0 : sums[0] / before;
        alpha = iteration == 0 ? sums[0] / sums[1] : sums[0] / (sums[1] - beta * sums[0] / alpha);
        if (!settings_.computes) alpha = 1;
        before = sums[0];
        swept(pipelined_B, [&] {
            sweeps_.pipelined_dots(space_, all, alpha, beta, q_, z_, s_, p_, x_, r_, w_, dots);
            return 0.0;
        });
        if (replaces(iteration)) {
            dots[0] = replaced();
            dots[1] = applied_to_residual();
            applied(p_, s_);
            applied(s_, z_);
        }
        if (!settings_.computes) dots[0] = dots[1] = 1;
    }
}

// w = A r; this process's part of r · w.
double Solver::applied_to_residual() { return applied(r_, w_); }

double Solver::stream(long times) {
    const Cuboid all = whole(space_);
    const Stores stores = settings_.stores;
    // Small enough that no number grows, whatever was there before.
    constexpr double tiny = 1e-3, half = 0.5;
    for (const Vector& vector : vectors_) vector.clear(space_);
    double sink = 0;
    MPI_Barrier(grid_.comm);
    const double start_s = now_s();
    for (long time = 0; time < times; ++time) {
        if (settings_.variant == Variant::single_sweep) {
            sink += sweeps_.joint_copy_dot(space_, all, tiny, half, r_, p_, x_, q_, stores);
        } else {
            sink +=
                sweeps_.copy_dot(space_, all, settings_.variant == Variant::pipelined ? w_ : p_, q_, stores);
        }
        if (settings_.variant == Variant::pipelined) {
            double dots[2];
            sweeps_.pipelined_dots(space_, all, tiny, half, q_, z_, s_, p_, x_, r_, w_, dots);
            sink += dots[0];
            continue;
        }
        if (settings_.variant == Variant::reference) {
            sink += sweeps_.dot(space_, all, p_, q_);
            sweeps_.add(space_, all, tiny, p_, x_);
            sweeps_.add(space_, all, tiny, q_, r_);
            sink += sweeps_.dot(space_, all, r_, r_);
            sweeps_.direction(space_, all, r_, half, p_);
            continue;
        }
        sink += sweeps_.add_dot(space_, all, tiny, q_, r_);
        if (settings_.variant == Variant::fused) {
            sweeps_.add(space_, all, tiny, p_, x_);
            sweeps_.direction(space_, all, r_, half, p_);
        } else if (settings_.variant == Variant::joint) {
            sweeps_.joint(space_, all, tiny, half, r_, p_, x_);
        }
    }
    const double seconds = now_s() - start_s;
    // The products are asked for, so that no compiler may leave out what they come from.
    return std::isfinite(sink) ? seconds / static_cast<double>(times) : std::nan("");
}

double Solver::true_residual() { return std::sqrt(summed(replaced())); }

// Each iteration rounds x once more than r knows of, by ε |x| at most, of which A makes ε ‖A‖ ‖x‖; the
// largest x is the last, since ‖x‖ grows from 0 (Greenbaum, SIAM J. Matrix Anal. Appl. 18, 1997, 535–551: ε
// ‖A‖ ‖x‖ times the order of the iterations). ‖A‖ is below 4 · dimensions. The residual itself has as many
// roundings as A has points, and some for b.
double Solver::residual_tolerance() {
    constexpr double roundings_of_residual = 10;
    const double square = summed(sweeps_.dot(space_, whole(space_), x_, x_));
    return std::numeric_limits<double>::epsilon() *
           (static_cast<double>(iterations()) + roundings_of_residual) * 4 * settings_.dimensions *
           std::sqrt(square);
}

double Solver::error() const {
    double mine = settings_.computes ? problem_.error(space_, x_) : 0, largest = 0;
    MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, grid_.comm);
    return largest;
}

double Solver::counted_bytes_per_unknown() const {
    return counted_B_ / static_cast<double>(std::max(1L, iterations()));
}

}  // namespace hockney::cg
