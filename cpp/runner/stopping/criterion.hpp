// When to stop repeating: a criterion is fed samples and asked whether it is content. No MPI, no clock of its
// own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../statistics.hpp"

namespace hockney {

class Criterion {
  public:
    virtual ~Criterion() = default;
    virtual const char* name() const = 0;
    // `samples`: all so far; `elapsed_s`: time spent on this point, warm-up excluded.
    virtual bool is_finished(const std::vector<Sample>& samples, double elapsed_s) = 0;
};

// The interval's half-width is under `tolerance` of the median, with at least `least` samples spread over at
// least `least_s` seconds: what all samples of two milliseconds share may still be a disturbance.
std::unique_ptr<Criterion> interval_criterion(double tolerance, long least, double least_s);
// The point's time is used up, with at least `least` samples.
std::unique_ptr<Criterion> budget_criterion(double budget_s, long least);
// A fixed number of samples.
std::unique_ptr<Criterion> count_criterion(long most);

// Name of the first criterion that is content, empty while none is.
std::string finished(const std::vector<std::unique_ptr<Criterion>>& criteria,
                     const std::vector<Sample>& samples, double elapsed_s);

}  // namespace hockney
