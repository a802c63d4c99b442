// pingpong_written: a ping-pong whose ranks write their messages anew before they send them, as programs do.
// A cache then has the only valid copy, and the partner must fetch it there. The writing is timed and taken
// off.
#include "../clock.hpp"
#include "kernel.hpp"

namespace hockney::kernel_pingpong_written {
namespace {

constexpr std::size_t line_B = 64;

// The contents stay; one store makes a cache line the writer's own.
void write(std::byte* message, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += line_B) {
        volatile std::byte& byte = message[i];
        byte = byte;
    }
}

double run(Pair& pair, long repetitions) {
    // A reading of the clock, too, which each writing costs beyond what it times.
    static const double reading_s = clock_granularity_s();
    double written_s = reading_s * static_cast<double>(repetitions);
    const auto send = [&] {
        std::byte* message = pair.send.next();
        const double start = now_s();
        write(message, pair.payload.bytes());
        written_s += now_s() - start;
        pair.send_one(message);
    };
    const double start = now_s();
    for (long i = 0; i < repetitions; ++i) {
        if (!pair.leader) pair.receive_one();
        send();
        if (pair.leader) pair.receive_one();
    }
    const double took_s = now_s() - start;
    double theirs_s = 0;
    if (pair.leader)
        MPI_Recv(&theirs_s, 1, MPI_DOUBLE, pair.partner, Pair::signal_tag, pair.comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(&written_s, 1, MPI_DOUBLE, pair.partner, Pair::signal_tag, pair.comm);
    return (took_s - written_s - theirs_s) / 2;
}

const RegisterKernel registered("pingpong_written", Kernel(run).to_leader().to_follower());

}  // namespace
}  // namespace hockney::kernel_pingpong_written
