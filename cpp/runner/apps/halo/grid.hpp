// Process grids: ranks along x, y and z, and the box of cells that each of them owns.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "../../request.hpp"
#include "cells.hpp"

namespace hockney {

using Grid = std::array<int, 3>;  // processes along x, y and z

// Cells along x, y, z from the keys `nx`, `ny`, `nz`, processes from `px`, `py`, `pz`. BadRequest where one
// is not positive, where the product of a grid is not `ranks`, where a direction has more ranks than cells,
// and where a face has more cells than MPI counts.
Cells cells_of(const Request& request, long most_along = 1000000);
Grid grid_of(const Request& request, const Cells& cells, int ranks);

// This rank's place. `comm` is Cartesian and not periodic, its ranks are in the order of the one it came
// from: z varies fastest.
struct ProcessGrid {
    MPI_Comm comm = MPI_COMM_NULL;
    Grid along{}, at{};
    std::array<std::array<int, 2>, 3> neighbours{};  // below and above, MPI_PROC_NULL at the edge
    Cells first{}, cells{};                          // this rank's box of the whole

    ProcessGrid(MPI_Comm from, const Grid& along, const Cells& whole);
    ~ProcessGrid() { MPI_Comm_free(&comm); }
    ProcessGrid(const ProcessGrid&) = delete;
    ProcessGrid& operator=(const ProcessGrid&) = delete;

    bool has_neighbour(int direction, int side) const {
        return neighbours[static_cast<std::size_t>(direction)][static_cast<std::size_t>(side)] !=
               MPI_PROC_NULL;
    }
    // The cells that need no neighbour, and in `shell` the layers around them: planes whole, then what is
    // left of rows between them, then columns between those.
    Cuboid inner(std::vector<Cuboid>& shell) const;
};

}  // namespace hockney
