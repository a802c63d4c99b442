// A small application: a program whose running time a model should explain. One file each, registered in
// itself.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "../json.hpp"
#include "../ranks.hpp"
#include "../references.hpp"
#include "../request.hpp"
#include "../stopping.hpp"
#include "../units.hpp"

namespace hockney {

struct App {
    // Collective over `comm`: each of its ranks calls it with the same request. The record of rank 0 is the
    // answer; what the others return is ignored. Throws Refusal or BadRequest, on every rank or on none.
    std::string (*run)(const Request& request, MPI_Comm comm);
};

using RegisterApp = RegisterUnit<App>;

// How often the timed part is repeated, and for how long at most: from the keys `repetitions` (0: as many as
// the interval asks for), `least_samples`, `budget_s` and `tolerance`.
StoppingRule repetitions(const Request& request);

// Repetitions that were timed, and the references between which they lie.
struct Repeated {
    std::vector<double> samples_s;  // the same on every rank
    References references;          // on rank 0
};

// Collective: repeats `once`, which returns this rank's seconds from a common start, until there are enough;
// each sample is the slowest rank's. The first, unrecorded, warms up.
Repeated repeat(StoppingRule rule, MPI_Comm comm, const std::function<double()>& once);

// `time_s`, `low_s`, `high_s` (median and its 95 % interval, null with fewer than six samples), `samples_s`
// and the references. Returns the median.
double add_times(JsonObject& record, const Repeated& repeated);

// Work that takes this long: a simulated host computes for that time, a real one has done it already.
void compute_simulated(double seconds);

}  // namespace hockney
