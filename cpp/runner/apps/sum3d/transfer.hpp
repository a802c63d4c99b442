// A matrix from rank 0 to all and back, by collectives alone.
#pragma once

#include <mpi.h>

#include <memory>

#include "layout.hpp"

namespace hockney::sum3d {

class Transfer {
  public:
    virtual ~Transfer() = default;

    // Collective: `whole`, which only rank 0 has, in parts to every rank's `part`, and back.
    virtual void scatter(const double* whole, double* part) = 0;
    virtual void gather(const double* part, double* whole) = 0;
};

// Pieces that lie one after another: MPI_Scatterv and MPI_Gatherv.
std::unique_ptr<Transfer> by_pieces(const Layout& layout, MPI_Comm comm);

// Blocks as subarrays of the matrix: MPI_Alltoallw, since Scatterv has one datatype for all and blocks
// differ.
std::unique_ptr<Transfer> by_datatypes(const Layout& layout, MPI_Comm comm);

}  // namespace hockney::sum3d
