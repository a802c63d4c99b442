// What a collective needs before its first call: memory, and its algorithm on a communicator.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "../../schedule/collective.hpp"
#include "../library/call.hpp"
#include "../library/library.hpp"
#include "../request.hpp"
#include "group.hpp"

namespace hockney {

// Bytes of a rank's input and output; any of `roots` may be the root.
std::pair<Bytes, Bytes> sizes_B(const Collective& collective, Problem problem, const std::vector<int>& roots,
                                int rank);

// Whether buffers of `needed_B` here fit into the memory that is free; it becomes what all ranks need.
// Collective.
bool fits_memory(double& needed_B, const Group& group);

struct Ready {
    std::unique_ptr<Selection> selection;
    std::unique_ptr<Call> call;
};

// Throws std::runtime_error, on all ranks alike, where the library does not do it.
Ready make_ready(const Request& request, const Problem& problem, const std::vector<int>& roots,
                 const Group& group);

}  // namespace hockney
