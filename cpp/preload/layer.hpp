// The life of the layer in a process: from MPI_Init to MPI_Finalize.
#pragma once

#include <atomic>
#include <string>

namespace hockney {

// Whether calls are to be looked at: MPI is initialised, not finalised, and there is something to do.
inline std::atomic<bool> is_active{false};

void begin_layer();
// Before MPI's own end, which was called there, on all ranks: writes the report.
void end_layer(const void* site);

// The texts of all ranks, one after another, on rank 0; collective over MPI_COMM_WORLD.
std::string gathered(const std::string& mine);

}  // namespace hockney
