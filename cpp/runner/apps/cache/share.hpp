// What of the caches a rank has for itself.
#pragma once

#include <mpi.h>

namespace hockney {

struct CacheShare {
    double own_B = 0;     // of the levels before the last, the largest part that a processor has
    double shared_B = 0;  // of the last level, this rank's part among the ranks of `comm` that use it
};

// Collective. Where the system does not tell, or all is simulated, the caches of a common processor.
CacheShare cache_share(MPI_Comm comm);

}  // namespace hockney
