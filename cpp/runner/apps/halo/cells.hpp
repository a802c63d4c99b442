// How many cells a box has, and how they are shared out. Knows nothing of MPI, and so does what sweeps over
// cells.
#pragma once

#include <algorithm>
#include <array>

namespace hockney {

using Cells = std::array<long, 3>;  // along x, y and z

// From the first cell to behind the last, along x, y and z.
struct Cuboid {
    Cells from{}, to{};

    bool is_empty() const { return from[0] >= to[0] || from[1] >= to[1] || from[2] >= to[2]; }
    double cells() const {
        return is_empty() ? 0
                          : static_cast<double>(to[0] - from[0]) * static_cast<double>(to[1] - from[1]) *
                                static_cast<double>(to[2] - from[2]);
    }
};

// The part of `cells` that the one at `index` of `parts` owns: as even as can be, the longer parts first.
struct Share {
    long first, count;
    Share(long cells, long parts, long index)
        : first(cells / parts * index + std::min(index, cells % parts)),
          count(cells / parts + (index < cells % parts ? 1 : 0)) {}
};

}  // namespace hockney
