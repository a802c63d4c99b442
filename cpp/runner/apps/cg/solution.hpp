// The solution as one file: doubles in the processor's byte order, x fastest, then y, then z; nothing else.
#pragma once

#include <string>

#include "../halo/grid.hpp"
#include "sweeps.hpp"

namespace hockney::cg {

// Undoes percent-encoding: paths with blanks in them could not be told from the next word of a request.
std::string decoded(const std::string& text);

// What the slowest rank took to write its unknowns and have them safe (MPI_File_write_all, MPI_File_sync),
// and to read them back.
struct FileTimes {
    double write_s = 0, read_s = 0;
};

// Collective: every rank writes its own unknowns and reads them back into `scratch`, another vector. They go
// to `path.part`, which takes the name `path` only after every rank's data are written and safe. Refusal on
// every rank, and no file, where any rank could not.
FileTimes write_solution(const std::string& path, const ProcessGrid& grid, const Space& space,
                         const Cells& whole, const double* x, double* scratch);

}  // namespace hockney::cg
