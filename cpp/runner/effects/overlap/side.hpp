// One side of a transfer that computes while the message is on its way.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "../../buffers.hpp"
#include "../../request.hpp"

namespace hockney {

// What is done for known times where the library's own work is measured: a measurement of these finds them
// again.
struct Planted {
    double call_s = 0, byte_s = 0;  // work of the call that starts the transfer: per message and per byte
    double transfer_s = 0;          // a transfer of that length after the library's own
    double share = 0;               // of it that proceeds by itself; the rest is work of the waiting call
    explicit Planted(const Request& request);
};

// Seconds of one repetition on the side that computes.
struct Repetition {
    double total_s = 0;  // from the start of the transfer until it is complete and the computation done
    double start_s = 0;  // of these, in the call that starts it
    double wait_s = 0;   // of these, in the call that completes it
    double tests_s = 0;  // of these, in calls of MPI_Test that found it incomplete
    long tests = 0;      // how many did
};

// How the library gets to its work while the host computes.
struct Computation {
    double seconds = 0;
    long tests = 0;  // calls of MPI_Test, evenly spread
};

// Collective over a pair, whose rank 0 computes and sends (`sends`) or receives; rank 1 waits in the library.
// The result is of rank 0.
Repetition overlap_once(bool sends, const Computation& computation, const Planted& planted,
                        const Payload& payload, Buffer& buffer, MPI_Comm pair);

// What two readings of the clock take that have nothing between them.
double clock_cost_s();

}  // namespace hockney
