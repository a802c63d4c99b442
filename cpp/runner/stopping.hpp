// When to stop repeating. No MPI, no clock of its own.
#pragma once

#include <string>
#include <vector>

#include "statistics.hpp"

namespace hockney {

struct StoppingRule {
    // Of the interval of the median: its half-width, as a share of the median, with at least `least` samples
    // spread over at least `least_s` seconds. What all samples of two milliseconds share may still be a
    // disturbance.
    double tolerance = 0;
    Disturbance disturbance = Disturbance::lengthens;
    long least = 1;
    double least_s = 0;
    // Independent samples that say as much as those behind the interval.
    double least_effective = 40;
    // The time that may be used up, with at least `least_in_budget` samples.
    double budget_s = 0;
    long least_in_budget = 1;
    // The samples that one record may hold.
    long most = 1;

    // "interval", "budget" or "count" by what has been reached first; "" while nothing has. `samples`: all so
    // far, to which each call adds; `elapsed_s`: time spent on this point, warm-up excluded.
    std::string reached(const std::vector<Sample>& samples, double elapsed_s);

  private:
    bool is_interval_narrow(const std::vector<Sample>& samples, double elapsed_s);
    long next_look_ = 0;     // samples
    long narrow_looks_ = 0;  // in a row
};

}  // namespace hockney
