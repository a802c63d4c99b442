// How many cells a box has. Knows nothing of MPI, and so does what sweeps over cells.
#pragma once

#include <array>

namespace hockney {

using Cells = std::array<long, 3>;  // along x, y and z

}  // namespace hockney
