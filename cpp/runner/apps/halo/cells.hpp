// How many cells a box has, and how they are shared out. Knows nothing of MPI, and so does what sweeps over
// cells.
#pragma once

#include <algorithm>
#include <array>

namespace hockney {

using Cells = std::array<long, 3>;  // along x, y and z

// The part of `cells` that the one at `index` of `parts` owns: as even as can be, the longer parts first.
struct Share {
    long first, count;
    Share(long cells, long parts, long index)
        : first(cells / parts * index + std::min(index, cells % parts)),
          count(cells / parts + (index < cells % parts ? 1 : 0)) {}
};

}  // namespace hockney
