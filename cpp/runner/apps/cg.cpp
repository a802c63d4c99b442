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
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "../clock.hpp"
#include "../statistics.hpp"
#include "app.hpp"
#include "cg/instruction_sets.hpp"
#include "cg/solution.hpp"
#include "cg/solver.hpp"

namespace hockney {
namespace {

using namespace cg;

constexpr long most_iterations = 1000000;
constexpr double likely_cache_B = 32.0 * 1024 * 1024;  // where the system does not say

double last_cache_B() {
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (size > 0) return static_cast<double>(size);
#endif
    return likely_cache_B;
}

// What is next used only after a cache has long been overrun may as well pass by it.
Stores stores_of(const std::string& name, double vectors_B) {
    if (name == "plain") return Stores::plain;
    if (name != "streaming" && name != "auto") throw BadRequest("unknown stores '" + name + "'");
    if (!sweeps().streams) return Stores::plain;
    if (name == "streaming") return Stores::streaming;
    return vectors_B > last_cache_B() ? Stores::streaming : Stores::plain;
}

Settings settings_of(const Request& request, const Cells& whole) {
    Settings settings{};
    settings.dimensions = static_cast<int>(request.whole("dimensions"));
    if (settings.dimensions != 2 && settings.dimensions != 3) throw BadRequest("dimensions must be 2 or 3");
    if (settings.dimensions == 2 && whole[2] != 1) throw BadRequest("nz must be 1 in two dimensions");
    settings.whole = whole;
    settings.variant = variant_of(request.text("variant"));
    settings.exchange = exchange_of(request.text("halo"));
    settings.faces = faces_of(request.text("faces"));
    settings.eps = request.real("eps");
    settings.iterations = request.whole("iterations");
    settings.replace_every = request.whole("replace_every");
    settings.cell_s = request.real("cell_s");
    settings.computes = request.whole("compute") != 0;
    if (!(settings.eps >= 0 && settings.eps < 1)) throw BadRequest("eps must be at least 0 and below 1");
    if (settings.iterations < 1 || settings.iterations > most_iterations)
        throw BadRequest("iterations must be from 1 to " + std::to_string(most_iterations));
    if (settings.replace_every < 0) throw BadRequest("replace_every must not be negative");
    if (!(settings.cell_s >= 0) || !std::isfinite(settings.cell_s))
        throw BadRequest("cell_s must not be negative");
    if (!settings.computes && settings.eps > 0)
        throw BadRequest("without computing nothing converges: eps must be 0");
    if (!settings.computes && settings.faces != Faces::packed)
        throw BadRequest("without computing faces must be packed");
    double vectors_B = settings.variant == Variant::pipelined ? 7 * 8 : 4 * 8;
    for (const long count : whole) vectors_B *= static_cast<double>(count);
    settings.stores = stores_of(request.text("stores"), vectors_B);
    return settings;
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

std::string run(const Request& request, MPI_Comm comm) {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    const Cells whole = cells_of(request);
    const Settings settings = settings_of(request, whole);
    const Repetitions repetitions(request);
    const std::string file = decoded(request.text("file"));
    const long stream = request.whole("stream");
    if (stream < 0) throw BadRequest("stream must not be negative");
    if (!settings.computes && (stream > 0 || !file.empty()))
        throw BadRequest("without computing there is no stream and no file");
    const ProcessGrid grid(comm, grid_of(request, whole, ranks), whole);
    require_all(is_simulated || (settings.computes && settings.cell_s == 0), "constraint",
                "time is only charged (compute, cell_s) on a simulated host", comm);
    require_exchange(settings.exchange, settings.faces, comm);
    require_memory(Solver::memory_B(settings, grid), comm);
    Solver solver(settings, grid);

    std::vector<double> compute_s, halo_s, sum_s, stream_s, fractions;
    const std::vector<double> samples_s = repeat(repetitions, comm, [&] {
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
    add_times(record, samples_s);
    const double iterations = static_cast<double>(std::max(1L, solver.iterations()));
    record.add("iterations", solver.iterations()).add("converged", solver.has_converged());
    const double unknowns = static_cast<double>(whole[0]) * static_cast<double>(whole[1] * whole[2]);
    record.add("unknowns", unknowns);
    record.add("instructions", sweeps().name);
    record.add("stores", settings.stores == Stores::streaming ? "streaming" : "plain");
    record.add("bytes_per_unknown", Solver::bytes_per_unknown(settings.variant, settings.stores));
    record.add("counted_bytes_per_unknown", solver.counted_bytes_per_unknown());
    // The first repetition warms up.
    for (std::vector<double>* shares_s : {&compute_s, &halo_s, &sum_s}) shares_s->erase(shares_s->begin());
    record.add("compute_s", gather(mean(compute_s), comm)).add("halo_s", gather(mean(halo_s), comm));
    record.add("allreduce_s", gather(mean(sum_s), comm));
    record.add("halo_messages", gather(static_cast<double>(solver.halo().messages()), comm));
    record.add("halo_B", gather(solver.halo().bytes(), comm));
    if (stream > 0) {
        for (std::vector<double>* measured : {&stream_s, &fractions}) measured->erase(measured->begin());
        record.add("stream_samples_s", stream_s).add("fractions_of_bound", fractions);
    }
    if (settings.computes) {
        record.add("residual_norms", solver.residual_norms());
        record.add("error_max", solver.error());
        if (!file.empty()) write_solution(file, grid, solver.space(), whole, solver.x(), solver.scratch());
        record.add("true_residual_norm", solver.true_residual());
    }
    record.add("iteration_s", [&] {
        std::vector<double> sorted = samples_s;
        std::sort(sorted.begin(), sorted.end());
        return quantile(sorted, 0.5) / iterations;
    }());
    return record.str();
}

const RegisterApp registered("cg", {run});

}  // namespace
}  // namespace hockney
