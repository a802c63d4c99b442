// Which elements of a matrix each process gets.
#pragma once

#include <array>
#include <string>

#include "../../request.hpp"
#include "../halo/grid.hpp"

namespace hockney::sum3d {

// Part of a matrix, by the directions x, y and z.
struct Box {
    Cells start, cells;
};

// Element (x, y, z) stands at (x·ny + y)·nz + z, the process at those coordinates likewise.
class Layout {
  public:
    // From the keys `nx`, `ny`, `nz`, `px`, `py`, `pz`, `split` and `ranks`. BadRequest where a size is not
    // positive, the matrix has more elements than MPI counts, the grid is not of `ranks` processes, or a
    // process would get nothing.
    explicit Layout(const Request& request);

    // Of all processes, one after another in contiguous pieces, unless they are blocks.
    bool is_blocks() const { return split_ == "blocks"; }
    int ranks() const { return ranks_; }
    const Cells& sizes() const { return sizes_; }
    long elements() const { return sizes_[0] * sizes_[1] * sizes_[2]; }
    long elements(int rank) const;
    // Where the piece of a process starts when the pieces lie one after another.
    long offset(int rank) const;
    // What a process gets of the grid's directions; for `blocks` these are its elements.
    Box box(int rank) const;

  private:
    std::string split_;
    Cells sizes_;
    Grid grid_{};
    int ranks_;
};

}  // namespace hockney::sum3d
