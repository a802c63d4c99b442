// A small application: a program whose running time a model should explain. One file each, registered in
// itself.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "../json.hpp"
#include "../references.hpp"
#include "../request.hpp"

namespace hockney {

struct App {
    // Collective over `comm`: each of its ranks calls it with the same request. The record of rank 0 is the
    // answer; what the others return is ignored. Throws Refusal or BadRequest, on every rank or on none.
    std::string (*run)(const Request& request, MPI_Comm comm);
};

std::map<std::string, App>& apps();

struct RegisterApp {
    RegisterApp(const char* name, const App& app) { apps()[name] = app; }
};

// What an application cannot do here, as the answer that says so.
class Refusal : public std::runtime_error {
  public:
    // `reason` is `memory`, `file` or `constraint`.
    Refusal(const char* reason, const std::string& message);
    explicit Refusal(const std::string& json) : std::runtime_error(json) {}
};

// The record that `run` returns, or the answer that says what it threw.
std::string answered(const std::function<std::string()>& run);

// Runs the application of this request and turns what it throws into an answer. Collective over `comm`.
std::string run_app(const Request& request, MPI_Comm comm);

// Collective: throws Refusal on every rank where what the ranks of any host need together is more than the
// share of its free memory that buffers may take. To be called before anything is allocated.
void require_memory(double needed_B, MPI_Comm comm);

// Collective: throws Refusal on every rank where `is_fine` is false on any; `message` is that of the lowest
// such rank.
void require_all(bool is_fine, const char* reason, const std::string& message, MPI_Comm comm);

// On rank 0 one value of each rank, empty on the others. Collective.
std::vector<double> gather(double value, MPI_Comm comm);
std::vector<std::string> gather(const std::string& text, MPI_Comm comm);

// How often the timed part is repeated, and for how long at most.
struct Repetitions {
    long least = 1, most = 1;
    double budget_s = 0;
    double tolerance = 0;
    // From the keys `repetitions` (0: as many as the interval asks for), `least_samples`, `budget_s` and
    // `tolerance`.
    explicit Repetitions(const Request& request);
};

// Repetitions that were timed, and the references between which they lie.
struct Repeated {
    std::vector<double> samples_s;  // the same on every rank
    References references;          // on rank 0
};

// Collective: repeats `once`, which returns this rank's seconds from a common start, until there are enough;
// each sample is the slowest rank's. The first, unrecorded, warms up.
Repeated repeat(const Repetitions& repetitions, MPI_Comm comm, const std::function<double()>& once);

// `time_s`, `low_s`, `high_s` (median and its 95 % interval, null with fewer than six samples), `samples_s`
// and the references. Returns the median.
double add_times(JsonObject& record, const Repeated& repeated);

// Work that takes this long: a simulated host computes for that time, a real one has done it already.
void compute_simulated(double seconds);

}  // namespace hockney
