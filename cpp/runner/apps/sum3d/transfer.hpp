// A matrix from rank 0 to all and back, by collectives alone.
#pragma once

#include <mpi.h>

#include <memory>

#include "layout.hpp"

namespace hockney::sum3d {

class Transfer {
  public:
    virtual ~Transfer() = default;

    // Collective: `whole`, which only rank 0 has, in parts to every rank's `part`, and back. Both return the
    // seconds that rank 0 put elements into the order of the processes, 0 on the others.
    virtual double scatter(const double* whole, double* part) = 0;
    virtual double gather(const double* part, double* whole) = 0;
};

// Pieces that lie one after another: MPI_Scatterv and MPI_Gatherv.
std::unique_ptr<Transfer> by_pieces(const Layout& layout, MPI_Comm comm);

// Blocks as subarrays of the matrix: MPI_Alltoallw, since Scatterv has one datatype for all and blocks
// differ.
std::unique_ptr<Transfer> by_datatypes(const Layout& layout, MPI_Comm comm);

// Blocks that rank 0 packs into `buffer`, as long as the matrix, where they lie one after another.
// `copy_s_per_B` is for a simulated host.
std::unique_ptr<Transfer> by_packing(const Layout& layout, double* buffer, double copy_s_per_B,
                                     MPI_Comm comm);

}  // namespace hockney::sum3d
