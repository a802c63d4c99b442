// Conjugate gradients for Poisson's equation, without a matrix.
//
//   app operation=cg ranks=2 dimensions=3 nx=256 ny=256 nz=256 px=1 py=1 pz=2 variant=single_sweep
//       halo=nonblocking faces=packed stores=auto eps=1e-6 iterations=1000 replace_every=50 cell_s=0
//       compute=1 stream=10 file= repetitions=0 least_samples=6 budget_s=1 tolerance=0.01
//
// The right-hand side is that of a known solution (cg/problem.hpp). `eps`: the end is where r · r is eps² of
// what it was; 0 does exactly `iterations`. `stream`: before each solve, how often the same memory traffic is
// timed without neighbours and messages, for what memory allows; 0 for never. `file`: where the solution
// goes, percent-encoded, nowhere where empty. `compute=0`: no vectors, only the messages and `cell_s`, for
// simulations.
#include <algorithm>
#include <cmath>

#include "../clock.hpp"
#include "app.hpp"
#include "cache/share.hpp"
#include "cg/instruction_sets.hpp"
#include "cg/solution.hpp"
#include "cg/solver.hpp"

namespace hockney::app_cg {
namespace {

using namespace cg;

constexpr long most_iterations = 1000000;

// What is next used only after a cache has long been overrun may as well pass by it: with `auto` on all ranks
// where it is so on one, since the others wait for that. Collective.
Stores stores_of(const std::string& name, double vectors_B, MPI_Comm comm) {
    if (name == "plain") return Stores::plain;
    if (name == "auto") {
        // Simulated time may not depend on the host that the simulation runs on.
        if (is_simulated) return Stores::plain;
        const CacheShare share = cache_share(comm);
        int overruns = vectors_B > std::max(share.own_B, share.shared_B) ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &overruns, 1, MPI_INT, MPI_MAX, comm);
        if (overruns == 0) return Stores::plain;
    }
    return sweeps().streams ? Stores::streaming : Stores::plain;
}

Settings settings_of(const Request& request, const Cells& whole) {
    Settings settings{};
    settings.dimensions = static_cast<int>(request.whole("dimensions", 2, 3));
    if (settings.dimensions == 2 && whole[2] != 1) throw BadRequest("nz must be 1 in two dimensions");
    settings.whole = whole;
    settings.variant = static_cast<Variant>(
        request.choice("variant", {"reference", "fused", "joint", "single_sweep", "pipelined"}));
    request.choice("stores", {"auto", "plain", "streaming"});
    settings.exchange = exchange_of(request);
    settings.faces = faces_of(request);
    settings.eps = request.real("eps", 0, 1);
    settings.iterations = request.whole("iterations", 1, most_iterations);
    settings.replace_every = request.whole("replace_every", 0);
    settings.cell_s = request.real("cell_s", 0);
    settings.computes = request.whole("compute") != 0;
    if (!settings.computes && settings.eps > 0)
        throw BadRequest("without computing nothing converges: eps must be 0");
    if (!settings.computes && settings.faces != Faces::packed)
        throw BadRequest("without computing faces must be packed");
    return settings;
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

std::string run(const Request& request, MPI_Comm comm) {
    const int ranks = ranks_of(comm);
    const Cells whole = cells_of(request);
    Settings settings = settings_of(request, whole);
    const StoppingRule rule = repetitions(request);
    const std::string file = decoded(request.text("file"));
    const long stream = request.whole("stream", 0);
    if (!settings.computes && (stream > 0 || !file.empty()))
        throw BadRequest("without computing there is no stream and no file");
    const ProcessGrid grid(comm, grid_of(request, whole, ranks), whole);
    settings.stores = stores_of(request.text("stores"), Solver::vectors_B(settings, grid), comm);
    require_all(is_simulated || (settings.computes && settings.cell_s == 0), "constraint",
                "time is only charged (compute, cell_s) on a simulated host", comm);
    require_exchange(settings.exchange, settings.faces, comm);
    require_memory(Solver::memory_B(settings, grid), comm);
    Solver solver(settings, grid);

    std::vector<double> compute_s, halo_s, sum_s, stream_s, fractions;
    const Repeated repeated = repeat(rule, comm, [&] {
        double streamed_s = stream > 0 ? solver.stream(stream) : 0;
        double mine_s = solver.solve();
        compute_s.push_back(solver.shares().compute_s);
        halo_s.push_back(solver.shares().halo_s);
        sum_s.push_back(solver.shares().sum_s);
        if (stream > 0) {
            double both_s[2] = {streamed_s, mine_s}, slowest_s[2];
            MPI_Allreduce(both_s, slowest_s, 2, MPI_DOUBLE, MPI_MAX, comm);
            stream_s.push_back(slowest_s[0]);
            fractions.push_back(slowest_s[0] * static_cast<double>(solver.iterations()) / slowest_s[1]);
        }
        return mine_s;
    });

    JsonObject record;
    record.add("type", "record");
    const double time_s = add_times(record, repeated);
    const double iterations = static_cast<double>(std::max(1L, solver.iterations()));
    record.add("iterations", solver.iterations()).add("converged", solver.has_converged());
    record.add("unknowns", whole[0] * whole[1] * whole[2]);
    record.add("instructions", sweeps().name);
    record.add("stores", settings.stores == Stores::streaming ? "streaming" : "plain");
    record.add("bytes_per_unknown", Solver::bytes_per_unknown(settings.variant, settings.stores));
    record.add("counted_bytes_per_unknown", solver.counted_bytes_per_unknown());
    // The first repetition warms up.
    for (std::vector<double>* shares_s : {&compute_s, &halo_s, &sum_s}) shares_s->erase(shares_s->begin());
    record.add("compute_s", gather(mean(compute_s), comm)).add("halo_s", gather(mean(halo_s), comm));
    record.add("allreduce_s", gather(mean(sum_s), comm));
    record.add("halo_messages", gather(static_cast<long>(solver.halo().messages()), comm));
    record.add("halo_B", gather(static_cast<long>(solver.halo().bytes()), comm));
    if (stream > 0) {
        for (std::vector<double>* measured : {&stream_s, &fractions}) measured->erase(measured->begin());
        record.add("stream_samples_s", stream_s).add("fractions_of_bound", fractions);
    }
    if (settings.computes) {
        record.add("residual_norms", solver.residual_norms());
        const double error = solver.error(), tolerance = solver.residual_tolerance();
        record.add("error_max", error);
        if (!file.empty()) {
            const FileTimes times =
                write_solution(file, grid, solver.space(), whole, solver.x(), solver.scratch());
            record.add("file_B", sizeof(double) * static_cast<double>(whole[0]) *
                                     static_cast<double>(whole[1]) * static_cast<double>(whole[2]));
            record.add("file_write_s", times.write_s).add("file_read_s", times.read_s);
        }
        const double true_norm = solver.true_residual();
        const std::vector<double>& norms = solver.residual_norms();
        const bool is_finite =
            std::all_of(norms.begin(), norms.end(), [](double norm) { return std::isfinite(norm); });
        record.add("true_residual_norm", true_norm).add("residual_tolerance", tolerance);
        record.add("verified",
                   is_finite && std::isfinite(error) && std::abs(true_norm - norms.back()) <= tolerance);
    }
    record.add("iteration_s", time_s / iterations);
    return record.str();
}

const RegisterApp registered("cg", {run});

}  // namespace
}  // namespace hockney::app_cg
