// The ranks that take part in a collective, with their clock.
#pragma once

#include <mpi.h>

#include "../sync/global_clock.hpp"

namespace hockney {

// The first `ranks` ranks of a launch. Collective over those ranks only: the others sleep on.
struct Group {
    Group(MPI_Comm world, int ranks);
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    MPI_Comm comm = MPI_COMM_NULL;  // of the measured operation
    MPI_Comm control = MPI_COMM_NULL;
    int rank = 0, ranks = 0;
    GlobalClock* clock = nullptr;
};

// Each rank sends so many short messages to the next before it waits for those of the one before, at most
// `most_burst`. Collective. A library takes the piece of memory that it gave back last (pair.cpp): a burst
// leaves another one on top, so that a visit does not meet one alone.
constexpr unsigned most_burst = 16;
void exchange_burst(const Group& group, unsigned count);

}  // namespace hockney
