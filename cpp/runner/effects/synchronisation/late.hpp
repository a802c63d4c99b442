// A send whose receiver comes late: whether it is done before the receiver can have come.
#pragma once

#include <mpi.h>

#include "../../buffers.hpp"

namespace hockney {

// Where the receiver is meanwhile.
enum class Receiver {
    absent,   // outside the library: it computes
    present,  // inside the library, which may take in what comes, but it has not asked for the message
};

struct Late {
    bool is_valid = true;    // no verdict fell after an absent receiver may have come back
    bool is_done = false;    // the sender's request was complete while the receiver was away
    double sending_s = 0;    // until it was, or until the sender's patience was over
    double receiving_s = 0;  // of the receive call of a receiver that comes late
};

// Collective over a pair; rank 0 sends. All of the result is on rank 0, the other's is its own.
//
// The order of events decides, not a share of a time: a present receiver asks for the message only after the
// sender has given up waiting; an absent one stays away for `absence_s` from a moment before the send, and a
// verdict that took longer is not valid.
Late send_to_late(Receiver receiver, double patience_s, double absence_s, const Payload& payload,
                  Buffer& buffer, MPI_Comm pair);

// How many of `tries` sends with their receiver in the library were done before it asked for them, on rank 0.
int done_early(int tries, double patience_s, const Payload& payload, Buffer& buffer, MPI_Comm pair);

}  // namespace hockney
