// One hop of the ring: both messages of a process go on and two others arrive.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "../../ranks.hpp"

namespace hockney {

constexpr int tag_factor = 10;

struct Message {
    int value = 0, tag = 0;
};

struct Neighbours {
    MPI_Comm comm;
    int rank, ranks, left, right;

    explicit Neighbours(MPI_Comm comm_)
        : comm(comm_),
          rank(rank_of(comm)),
          ranks(ranks_of(comm)),
          left((rank + ranks - 1) % ranks),
          right((rank + 1) % ranks) {}
};

class RingExchange {
  public:
    virtual ~RingExchange() = default;
    // Sends `rightward` to the right and `leftward` to the left, each under its tag, and puts what arrived in
    // their places. Returns how many arrived.
    virtual int hop(Message& rightward, Message& leftward) = 0;
};

// `way` is sendrecv, nonblocking or persistent. The ring must outlive it.
std::unique_ptr<RingExchange> exchange_of(const std::string& way, const Neighbours& ring);

// What the requests of `persistent` take on a rank, roughly.
double persistent_B(int ranks);

}  // namespace hockney
