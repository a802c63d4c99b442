// A point-to-point kernel: two ranks, a leader that times and a follower. One file each, registered in
// itself.
#pragma once

#include <mpi.h>

#include <string>

#include "../buffers.hpp"
#include "../statistics.hpp"
#include "../units.hpp"

namespace hockney {

struct Pair {
    MPI_Comm comm;
    int partner;
    bool leader;
    int window;
    const Payload& payload;
    Buffer& send;
    Buffer& receive;
    // Work between messages, for the overhead kernels: loop turns on a real host, seconds on a simulated one.
    long work_iterations = 0;
    double work_s = 0;

    void send_one() const { send_one(send.next()); }
    void send_one(const std::byte* message) const {
        MPI_Send(message, payload.count(), payload.type(), partner, tag, comm);
    }
    void receive_one() const {
        MPI_Recv(receive.next(), payload.count(), payload.type(), partner, tag, comm, MPI_STATUS_IGNORE);
    }
    void send_signal() const { MPI_Send(nullptr, 0, MPI_BYTE, partner, signal_tag, comm); }
    void receive_signal() const {
        MPI_Recv(nullptr, 0, MPI_BYTE, partner, signal_tag, comm, MPI_STATUS_IGNORE);
    }
    // Of the follower, when all has arrived; the leader waits for it.
    void answer() const { leader ? receive_signal() : send_signal(); }

    // Computes for `times` messages; a fixed amount, so that the same work alone can be subtracted.
    void work(long times = 1) const;

    static constexpr int tag = 1, signal_tag = 2;
};

// What a kernel is; the calls after the constructor say it where the kernel registers.
struct Kernel {
    // Runs `repetitions` of the operation; the leader's return value is the seconds per message times
    // `repetitions`, the follower's is ignored.
    double (*run)(Pair& pair, long repetitions);
    // Which side's receive buffer must hold the partner's payload afterwards.
    bool leader_receives = false, follower_receives = false;
    // Whether the leader needs work that outlasts a round trip.
    bool works = false;
    // What a disturbance does to its time; either to one from which another is subtracted.
    Disturbance disturbance = Disturbance::lengthens;
    // The largest message for which the operation makes sense; 0 for any.
    long largest_B = 0;
    // Whether the window changes what is measured.
    bool windowed = false;
    // Repetitions in a batch are a multiple of this: what the kernel times in one piece.
    long piece = 1;

    explicit Kernel(double (*run_)(Pair&, long)) : run(run_) {}
    Kernel& to_leader() { return leader_receives = true, *this; }
    Kernel& to_follower() { return follower_receives = true, *this; }
    Kernel& working() { return works = true, *this; }
    // Work alone is subtracted.
    Kernel& subtracting() { return disturbance = Disturbance::either, working(); }
    Kernel& up_to(long bytes) { return largest_B = bytes, *this; }
    Kernel& in_windows() { return windowed = true, *this; }
    Kernel& in_pieces_of(long repetitions) { return piece = repetitions, *this; }
};

using RegisterKernel = RegisterUnit<Kernel>;

}  // namespace hockney
