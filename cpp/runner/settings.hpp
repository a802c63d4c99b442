// What the MPI library says about its own protocol limits, read through MPI_T.
#pragma once

#include <string>

namespace hockney {

// JSON object {variable: value} of the control variables that bear on point-to-point protocols.
std::string settings_json();

}  // namespace hockney
