// What Python's arguments must be. All throw what nanobind makes a ValueError or an IndexError of.
#pragma once

#include <string>

#include "../schedule/collective.hpp"
#include "../schedule/schedule.hpp"

namespace hockney {

const Collective& known(const std::string& collective);
const Algorithm& known(const std::string& collective, const std::string& algorithm);
// The algorithm, which does not refuse the problem.
const Algorithm& accepted(const std::string& collective, const std::string& algorithm,
                          const Problem& problem);
// Some algorithm of the collective does not.
void expect_accepted(const Collective& collective, const Problem& problem);
void expect_rank(int rank, const Problem& problem);
// A number of seconds of which sums can be taken. Some costs are marks below 0.
void expect_time(double value_s);

}  // namespace hockney
