// Cells in memory: a box with one layer of ghosts on each side, x fastest, y, then z.
#pragma once

#include <cstdlib>
#include <memory>

#include "cells.hpp"

namespace hockney {

// Where the cells lie, in doubles. A row begins at a multiple of 64 B, and its ghosts are in the same cache
// line as those of its neighbours: between two rows lie 2 to 9 doubles.
struct Layout {
    Cells cells{};
    long pitch = 0, plane = 0;  // from a row, a plane to the next
    long size = 0;

    explicit Layout(const Cells& cells);
    // Ghosts are at −1 and at the number of cells.
    long at(long x, long y, long z) const { return line + x + (y + 1) * pitch + (z + 1) * plane; }
    double bytes() const { return 8.0 * static_cast<double>(size); }
    // Of a layout that may be too large to exist.
    static double bytes_for(const Cells& cells);

    static constexpr long line = 8;  // doubles of a cache line
};

// Memory for a layout, not yet touched: the thread that writes a page first has it near. In large pages where
// the system has them, because a sweep reads from many pages at once.
class Field {
  public:
    explicit Field(long size);
    double* data() const { return cells_.get(); }

  private:
    struct Free {
        void operator()(double* cells) const { std::free(cells); }
    };
    std::unique_ptr<double, Free> cells_;
};

}  // namespace hockney
