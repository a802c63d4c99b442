// A call that a schedule runs, and where its data lies meanwhile.
#pragma once

#include <mpi.h>

#include "asked.hpp"
#include "prepared.hpp"

namespace hockney {

// Memory that it takes besides the program's: scratch of the schedule, and what cannot be moved as it lies.
Bytes taken_B(const Prepared& prepared, const Asked& asked, const Data& input, const Data& output);

// The first error that it met. `comm` is the one on which the schedule sends.
int run(Prepared& prepared, const Asked& asked, const Data& input, const Data& output, MPI_Comm comm);

}  // namespace hockney
