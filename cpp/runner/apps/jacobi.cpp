// A Jacobi solver in three dimensions: in each sweep every cell becomes the mean of its six neighbours.
//
//   app operation=jacobi ranks=4 nx=400 ny=400 nz=400 px=1 py=2 pz=2 halo=overlap faces=packed iterations=10
//       threads=1 instructions=auto stores=auto block_rows=0 bound=1 compute=1 cell_s=0
//       repetitions=0 least_samples=6 budget_s=1 tolerance=0.01
//
// A repetition is `iterations` sweeps, each behind an exchange of halos. With `bound`, each is followed by as
// many copies with the same reads and writes on all ranks at once, whose bandwidth bounds that of the sweep.
// On a simulated host an update is charged with `cell_s` seconds; without `compute` only messages are left.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include "../clock.hpp"
#include "../statistics.hpp"
#include "app.hpp"
#include "halo/field.hpp"
#include "halo/grid.hpp"
#include "halo/halo.hpp"
#include "jacobi/kernel.hpp"
#include "jacobi/solution.hpp"

namespace hockney::app_jacobi {
namespace {

// Of a rank, by repetition.
struct Parts {
    std::vector<double> compute_s, pack_s, mpi_s;
};

struct Problem {
    Cells whole{};
    Grid along{};
    Exchange exchange = Exchange::sendrecv;
    Faces faces = Faces::datatype;
    long iterations = 1;
    bool is_bounded = false, is_computed = true;
    double cell_s = 0;

    Problem(const Request& request, int ranks)
        : whole(cells_of(request)),
          along(grid_of(request, whole, ranks)),
          exchange(exchange_of(request)),
          faces(faces_of(request)),
          iterations(request.whole("iterations", 1)),
          is_bounded(request.whole("bound") != 0),
          is_computed(request.whole("compute") != 0),
          cell_s(request.real("cell_s", 0)) {
        if (!is_computed && (is_bounded || faces != Faces::packed))
            throw BadRequest("compute=0 leaves nothing but packed messages: faces=packed bound=0");
    }
};

class Solver {
  public:
    Solver(const Problem& problem, const ProcessGrid& grid, const Traversal& how, const Layout& layout)
        : problem_(problem), grid_(grid), how_(how), layout_(layout), solution_(grid, problem.whole) {
        if (problem.is_computed) {
            for (std::size_t n = 0; n < 2; ++n) {
                memory_.push_back(std::make_unique<Field>(layout.size));
                fields_[n] = memory_.back()->data();
                solution_.start(layout, how.threads, fields_[n]);
            }
        }
        halo_ = std::make_unique<Halo>(
            grid, layout, problem.exchange, problem.faces,
            problem.is_computed ? std::vector<double*>{fields_[0], fields_[1]} : std::vector<double*>{});
    }

    // Returns the seconds that `iterations` sweeps took.
    double once() {
        halo_->reset();
        compute_s_ = 0;
        const double start_s = now_s();
        for (long n = 0; n < problem_.iterations; ++n) sweep_all();
        const double sweeps_s = now_s() - start_s;
        parts.compute_s.push_back(compute_s_);
        parts.pack_s.push_back(halo_->pack_s());
        parts.mpi_s.push_back(halo_->mpi_s());
        if (!checked_) {
            checked_ = true;
            if (problem_.is_computed) first = checked();
            first_sweeps = sweeps;
        }
        if (problem_.is_bounded) copy(sweeps_s);
        return sweeps_s;
    }

    Check checked() const {
        return check(grid_, layout_, problem_.whole, solution_, sweeps, fields_[now_], fields_[1 - now_]);
    }

    // Is every cell what it is known to be after so many sweeps?
    static bool is_right(const Check& seen, long after) {
        // A sweep rounds values below 3 six times.
        return seen.deviation <=
               20 * std::numeric_limits<double>::epsilon() * (1.0 + static_cast<double>(after));
    }

    const Halo& halo() const { return *halo_; }

    Parts parts;
    std::vector<double> copies_s, fractions;  // by repetition: of the slowest rank
    double copied_B = 0;                      // of this rank, by a copy
    Check first;                              // after the first repetition
    long first_sweeps = 0, sweeps = 0;

  private:
    void sweep_all() {
        double* from = fields_[now_];
        double* to = fields_[1 - now_];
        halo_->start(from);
        if (problem_.exchange == Exchange::overlap) {
            std::vector<Cuboid> shell;
            compute(to, from, grid_.inner(shell));
            halo_->finish(from);
            for (const Cuboid& layer : shell) compute(to, from, layer);
        } else {
            halo_->finish(from);
            compute(to, from, {{0, 0, 0}, layout_.cells});
        }
        now_ = 1 - now_;
        ++sweeps;
    }

    void compute(double* to, const double* from, const Cuboid& region) {
        if (region.is_empty()) return;
        const double start_s = now_s();
        if (problem_.is_computed) sweep(how_, layout_, to, from, region);
        compute_simulated(region.cells() * problem_.cell_s);
        compute_s_ += now_s() - start_s;
    }

    void copy(double sweeps_s) {
        MPI_Barrier(grid_.comm);
        const double start_s = now_s();
        for (long n = 0; n < problem_.iterations; ++n)
            copied_B = stream(how_, layout_, fields_[1 - now_], fields_[now_]);
        double mine_s[2] = {sweeps_s, now_s() - start_s}, slowest_s[2] = {};
        MPI_Allreduce(mine_s, slowest_s, 2, MPI_DOUBLE, MPI_MAX, grid_.comm);
        copies_s.push_back(slowest_s[1] / static_cast<double>(problem_.iterations));
        fractions.push_back(slowest_s[1] / slowest_s[0]);
    }

    const Problem& problem_;
    const ProcessGrid& grid_;
    const Traversal& how_;
    const Layout& layout_;
    const Solution solution_;
    std::vector<std::unique_ptr<Field>> memory_;
    std::array<double*, 2> fields_{};
    std::unique_ptr<Halo> halo_;
    std::size_t now_ = 0;
    bool checked_ = false;
    double compute_s_ = 0;
};

// Without the first, which warmed up.
double median_s(const std::vector<double>& by_repetition) {
    return median({by_repetition.begin() + 1, by_repetition.end()});
}

// All digits: these are compared to the last bit.
std::string exactly(double value) {
    if (!std::isfinite(value)) return "null";
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

std::string run(const Request& request, MPI_Comm comm) {
    const int ranks = ranks_of(comm);
    const Problem problem(request, ranks);
    const StoppingRule rule = repetitions(request);
    const CacheShare cache = cache_share(comm);
    const ProcessGrid grid(comm, problem.along, problem.whole);
    require_all(is_simulated || (problem.is_computed && problem.cell_s == 0), "constraint",
                "time is only charged (compute, cell_s) on a simulated host", comm);
    require_exchange(problem.exchange, problem.faces, comm);
    require_memory(
        (problem.is_computed ? 2 * Layout::bytes_for(grid.cells) : 0) + Halo::buffers_B(grid, problem.faces),
        comm);
    const Layout layout(grid.cells);
    std::string refused;
    Traversal how = traversal_of(request, layout, cache, refused);
    // Rows whose ends wait for a neighbour are not swept whole.
    if (problem.exchange == Exchange::overlap && problem.along[0] > 1) {
        how.non_temporal = false;
        how.instructions = "portable";
    }
    require_all(refused.empty(), "constraint", refused, comm);
    Solver solver(problem, grid, how, layout);
    const Repeated repeated = repeat(rule, comm, [&solver] { return solver.once(); });

    const double updates = static_cast<double>(problem.whole[0]) * static_cast<double>(problem.whole[1]) *
                           static_cast<double>(problem.whole[2]);
    JsonObject record;
    record.add("type", "record");
    const double sweep_s = add_times(record, repeated) / static_cast<double>(problem.iterations);
    record.add("mlups", updates / sweep_s / 1e6);
    record.add("compute_s", gather(median_s(solver.parts.compute_s), comm));
    record.add("pack_s", gather(median_s(solver.parts.pack_s), comm));
    record.add("wait_s", gather(median_s(solver.parts.mpi_s), comm));
    record.add("halo_B", gather(static_cast<long>(solver.halo().bytes()), comm));
    record.add("messages", gather(static_cast<long>(solver.halo().messages()), comm));
    record.add("instructions", how.instructions).add("non_temporal", how.non_temporal);
    record.add("block_rows", how.block_rows).add("threads", how.threads);
    if (problem.is_computed) {
        const Check last = solver.checked();
        record.add("is_layer_kept", how.is_layer_kept);
        record.add("sweeps_checked", solver.first_sweeps);
        record.raw("error", exactly(solver.first.error)).raw("residual", exactly(solver.first.residual));
        record.add("checksum", std::to_string(solver.first.checksum));
        record.add("verified", solver.is_right(solver.first, solver.first_sweeps) &&
                                   solver.is_right(last, solver.sweeps));
    }
    if (problem.is_bounded) {
        double cells = 1;
        for (const long count : grid.cells) cells *= static_cast<double>(count);
        // What was copied and what a sweep moves: ranks may go through their boxes in different ways.
        const double mine_B[2] = {solver.copied_B, cells * how.bytes_per_update()};
        double all_B[2] = {};
        MPI_Allreduce(mine_B, all_B, 2, MPI_DOUBLE, MPI_SUM, grid.comm);
        const double stream_B_per_s = all_B[0] / median_s(solver.copies_s);
        const double bytes_per_update = all_B[1] / updates;
        record.add("stream_bandwidth_B_per_s", stream_B_per_s);
        record.add("bytes_per_update", bytes_per_update);
        record.add("bound_mlups", stream_B_per_s / bytes_per_update / 1e6);
        record.add("fraction_of_bound", median_s(solver.fractions) * all_B[1] / all_B[0]);
    }
    return record.str();
}

const RegisterApp registered("jacobi", {run});

}  // namespace
}  // namespace hockney::app_jacobi
