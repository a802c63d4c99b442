// pingpong: there and back; the time of a message is half the round trip (IMB-MPI1 PingPong, osu_latency).
#include "../clock.hpp"
#include "kernel.hpp"

namespace hockney::kernel_pingpong {
namespace {

double run(Pair& pair, long repetitions) {
    const double start = now_s();
    for (long i = 0; i < repetitions; ++i) {
        if (pair.leader) {
            pair.send_one();
            pair.receive_one();
        } else {
            pair.receive_one();
            pair.send_one();
        }
    }
    return (now_s() - start) / 2;
}

const RegisterKernel registered("pingpong", Kernel(run).to_leader().to_follower());

}  // namespace
}  // namespace hockney::kernel_pingpong
