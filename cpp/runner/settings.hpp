// What the MPI library says about its own protocol limits and about who chooses its algorithms, read through
// MPI_T.
#pragma once

#include <string>

namespace hockney {

// JSON object {variable: value} of the control variables that bear on point-to-point protocols, and of those
// by which algorithms are chosen, where they say something else than that the library chooses.
std::string settings_json();

}  // namespace hockney
