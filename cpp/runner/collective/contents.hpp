// Real data for a collective, from the same definition of its results that the verifier uses.
#pragma once

#include <cstddef>

#include "../../schedule/collective.hpp"

namespace hockney {

// Writes rank's input; for bcast the root's output.
void fill_input(const Collective& collective, const Problem& problem, int rank, int salt, std::byte* input,
                std::byte* output);
// Writes what no result may be.
void poison_output(const Collective& collective, const Problem& problem, int rank, int salt,
                   std::byte* output);
// Whether the output holds exactly the result.
bool holds_result(const Collective& collective, const Problem& problem, int rank, int salt,
                  const std::byte* output);

}  // namespace hockney
