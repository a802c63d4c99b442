// The measurement of one collective operation on the first ranks of a launch.
#pragma once

#include <mpi.h>

#include <string>

#include "../request.hpp"
#include "../sync/global_clock.hpp"

namespace hockney {

// The algorithms this runner can measure, as JSON list: the library's default, our schedules, the library's
// own.
std::string algorithms_json();

// Refuses, on rank 0, what is wrong with a request (BadRequest) or what an algorithm does not do: then the
// answer, else
// "".
std::string refuse_collective(const Request& request, int ranks);

// The ranks that take part in collectives of `ranks` ranks, with their clock. Collective over those ranks
// only.
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

// Called by all ranks of the group with the same request; rank 0 returns the record (JSON), the others "".
std::string measure_collective(const Request& request, const Group& group);

}  // namespace hockney
