// Whether a collective brings about what it says.
#pragma once

#include <string>
#include <vector>

#include "../../schedule/collective.hpp"
#include "../buffers.hpp"
#include "../library/call.hpp"
#include "../library/library.hpp"
#include "group.hpp"

namespace hockney {

// What came of a run on fresh data: wrong results and errors, anywhere.
struct Verdict {
    bool right = true;
    std::string error;  // what MPI said, on the ranks where it said something
};

// Collective: runs the call once for each of `roots`, on data that `salt` makes fresh.
Verdict verify(Call& call, Selection& selection, const Collective& collective, Problem problem,
               const std::vector<int>& roots, Buffer& input, Buffer& output, int salt, const Group& group);

}  // namespace hockney
