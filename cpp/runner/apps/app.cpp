#include "app.hpp"

#include <algorithm>
#include <cmath>

#include "../clock.hpp"
#include "../point.hpp"
#include "../statistics.hpp"
#include "../stopping.hpp"

#ifdef SMPI_H
#include <simgrid/actor.h>
#endif

namespace hockney {
namespace {

// With fewer repetitions than this no interval of the median lies inside their extremes.
constexpr long most_repetitions = 100000;

}  // namespace

StoppingRule repetitions(const Request& request) {
    const long fixed = request.whole("repetitions", 0, most_repetitions);
    StoppingRule rule;
    rule.tolerance = request.positive("tolerance");
    rule.budget_s = request.positive("budget_s");
    rule.least = rule.least_in_budget = fixed > 0 ? fixed : request.whole("least_samples", 1);
    rule.most = fixed > 0 ? fixed : most_repetitions;
    // A repetition of an application takes long: as many as asked for are enough.
    rule.least_effective = static_cast<double>(rule.least);
    // A narrow interval of too short a time may be luck, but nothing disturbs a simulation.
    rule.least_s = is_simulated ? 0 : least_budget_share * rule.budget_s;
    return rule;
}

Repeated repeat(StoppingRule rule, MPI_Comm comm, const std::function<double()>& once) {
    std::vector<Sample> samples;
    Repeated repeated;
    MPI_Barrier(comm);
    once();
    const double start_s = now_s();
    Rounds rounds(comm);
    while (rounds.next(samples.empty() || rule.reached(samples, now_s() - start_s).empty())) {
        MPI_Barrier(comm);
        double mine_s = once(), slowest_s = 0;
        MPI_Allreduce(&mine_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, comm);
        samples.push_back({slowest_s, false});
        repeated.samples_s.push_back(slowest_s);
    }
    repeated.references = rounds.references();
    return repeated;
}

double add_times(JsonObject& record, const Repeated& repeated) {
    std::vector<Sample> samples;
    for (const double sample_s : repeated.samples_s) samples.push_back({sample_s, false});
    const Summary summary = summarise(samples);
    const bool is_bounded = static_cast<long>(samples.size()) >= least_samples;
    record.add("time_s", summary.median_s);
    record.add("low_s", is_bounded ? summary.low_s : std::nan(""));
    record.add("high_s", is_bounded ? summary.high_s : std::nan(""));
    record.add("samples_s", repeated.samples_s).add("disturbed_at", summary.disturbed);
    repeated.references.add_to(record);
    return summary.median_s;
}

#ifdef SMPI_H
void compute_simulated(double seconds) {
    // Not `smpi_execute`: that counts in operations of a host speed it may first measure, and leaves out what
    // takes less than a microsecond.
    sg_actor_sleep_for(seconds);
}
#else
void compute_simulated(double) {}
#endif

}  // namespace hockney
