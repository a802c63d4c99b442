// Memory that this process shares with others: the trace of an algorithm that does without messages.
#pragma once

#include <mpi.h>

#include <string>

namespace hockney {

// Bytes mapped as shared, from /proc/self/maps; 0 where the system does not tell.
long shared_B();

// Whether the first call of a bcast, reduce, allreduce or barrier on `comm` maps shared memory here.
// Collective.
bool first_call_maps_memory(const std::string& operation, MPI_Comm comm);

}  // namespace hockney
